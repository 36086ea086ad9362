// Package capture tests the outputs of PageService: logs, data, batches, pictures, documents, scripts.
package capture

import (
	"os"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

func sentences(n int) string {
	return strings.Repeat("<p>"+strings.Repeat("The harbour lies still in the morning, and nobody is about yet. ", 6)+"</p>", n)
}
