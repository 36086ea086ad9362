//go:build unix

package peers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domtap/domtap/bench/peers"
	"github.com/domtap/domtap/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestShortRun measures only domtap, with all operations of a long run, to check that they work.
func TestShortRun(t *testing.T) {
	browser := testenv.NeedBrowser(t) // first, because building the program takes a while
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	result, err := peers.Run(t.Context(), peers.Config{
		Domtap: testenv.Program(t), Browser: browser, Root: root, Repetitions: 1, Short: true, Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, tool := range result.Tools {
		if tool.Missing != "" || tool.Version == "" {
			t.Errorf("%s: missing %q, version %q", tool.Name, tool.Missing, tool.Version)
		}
		for _, row := range result.Rows {
			c := row.Cells[i]
			if c.Failed != "" || c.N == 0 && c.Text == "" {
				t.Errorf("%s: %s: no figure: %s", tool.Name, row.ID, c.Failed)
			}
		}
	}
	if len(result.Rows) < 20 {
		t.Errorf("%d rows: some measures were left out", len(result.Rows))
	}
}
