// Package doings tests what pages do by themselves: dialogs, windows, downloads, and hanging.
package doings

import (
	"os"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func clickOn(tab string, ref uint32) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{
		{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Ref: &ref}}}}}}
}

const someButtons = `<title>Three</title><button id=a>Same</button><button id=b>Same</button><button id=c>Same</button>`
