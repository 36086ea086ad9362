//go:build unix

package peers

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

var (
	compare     = flag.Bool("compare", false, "measure all programs, and write the figures, the tables and the chart into docs/ and README.md")
	redraw      = flag.Bool("redraw", false, "write the tables and the chart from the figures in docs/peers.json")
	browser     = flag.String("chrome", "", "with -compare: the Chromium for all programs (default: the first of chromium, chromium-browser, google-chrome)")
	repetitions = flag.Int("repetitions", 5, "with -compare: the number of measurements of each operation")
	conditions  = flag.String("conditions", "", "with -compare: other activity on the machine, for the tables and the chart")
	limit       = flag.Duration("limit", 40*time.Minute, "with -compare: end after this time, with the figures so far")
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestShortRun performs every operation of the comparison, only with domtap.
func TestShortRun(t *testing.T) {
	if *compare {
		t.Skip("all programs are measured instead")
	}
	browser := testenv.NeedBrowser(t) // first, because building the program takes a while
	result, err := Run(t.Context(), Config{
		Domtap: testenv.Program(t), Browser: browser, Root: inRepository(t, "."), Repetitions: 1, Short: true, Log: t.Output(),
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
		t.Errorf("%d rows, want at least 20", len(result.Rows))
	}
}

// TestComparison measures all programs that scripts/install-peers has installed. The result lists missing and broken programs.
func TestComparison(t *testing.T) {
	if !*compare {
		t.Skip("make bench-peers compares the programs")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *browser == "" {
		*browser = chromium(t)
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown") // a copy of the repository without .git
	}
	limited, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	result, err := Run(limited, Config{
		Domtap: testenv.Program(t), Browser: *browser, Installed: inRepository(t, ".cache/peers"), Root: inRepository(t, "."),
		Repetitions: max(1, *repetitions), Conditions: *conditions, Commit: strings.TrimSpace(string(commit)), Command: "make bench-peers", Log: os.Stderr,
	})
	if result != nil && errors.Is(err, context.DeadlineExceeded) {
		t.Logf("ended after %s: the remaining measurements have no figures", *limit)
		err = nil
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "docs/peers.json", string(text)+"\n")
	draw(t, result)
}

// chromium finds a full browser, because some programs do not support the headless shell.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("found no Chromium or Chrome: install one, or name it with -chrome")
	return ""
}

// draw writes the tables and the chart.
func draw(t *testing.T, result *Result) {
	t.Helper()
	writeFile(t, "docs/peers.svg", result.Chart())
	for name, table := range tables(result) {
		changed, err := Insert(readFile(t, name), "peers", table)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		writeFile(t, name, changed)
	}
}

// tables returns the tables of a result, by their document.
func tables(result *Result) map[string]string {
	return map[string]string{"README.md": result.Short(), "docs/compared.md": result.Full()}
}

// inRepository returns the absolute path of a file of the repository.
func inRepository(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(inRepository(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(inRepository(t, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
