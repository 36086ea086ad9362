package member

import (
	"testing"

	"github.com/domtap/domtap/internal/cluster/registry"
)

// After a change of the token, all tabs are registered again. Tabs that have ended in the meantime stay known, so that they are removed.
func TestANewTokenHasAllToldAgain(t *testing.T) {
	known := registry.Tab{Session: "s", URL: "https://shop.example/"}
	one := &registered{token: 1, tabs: map[string]registry.Tab{"t1": known}}
	if one.under(1); one.tabs["t1"] != known {
		t.Errorf("under the same token, %+v is known", one.tabs)
	}
	one.under(2)
	if tab, ok := one.tabs["t1"]; !ok || tab == known || one.token != 2 {
		t.Errorf("under another token, %+v is known", one.tabs)
	}
}
