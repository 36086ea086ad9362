package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// words returns the letters and digits of a text, without markup and white space.
func words(text string) string {
	text = strings.NewReplacer(`\&`, "", `\fB`, "", `\fP`, "", `\fI`, "", `\[u2026]`, "", "…", "", "\n.br\n", "\n", "\n.PP\n", "\n", "\n.EX\n", "\n", "\n.EE\n", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("\\ \t\n", r) {
			return -1
		}
		return r
	}, text)
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if got := (command{}).run(t, "man", dir, "--date", "2026-01-02"); got.code != exit.OK {
		t.Fatalf("got %+v", got)
	}
	pages := 0
	forEachCommand(newRoot(newApp(nil, nil, nil, nil)), func(cmd *cobra.Command) {
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		page := string(text)
		if err != nil || !strings.Contains(page, "\n.TH ") || !strings.Contains(page, "\n.SH NAME\n") || !strings.Contains(page, "Jan 2026") {
			t.Errorf("%s: %v, %.60s", cmd.CommandPath(), err, page)
		}
		pages++
		if !strings.Contains(words(page), words(cmd.Long)) || !strings.Contains(words(page), words(cmd.Example)) {
			t.Errorf("%s: the description is not whole:\n%s", cmd.CommandPath(), page)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if f.Hidden == strings.Contains(words(page), words(usage)) {
				t.Errorf("%s: --%s is hidden, or its usage is not whole: %s", cmd.CommandPath(), f.Name, page)
			}
		})
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(files) < pages {
		t.Fatalf("%d pages for %d commands, %v", len(files), pages, err)
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		if out, err := exec.CommandContext(t.Context(), groff, append([]string{"-man", "-ww", "-z"}, files...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff complains: %v: %s", err, out)
		}
	}
	if got := (command{}).run(t, "man"); got.code != exit.OK || !strings.Contains(got.out, "domtap-serve(1)") {
		t.Errorf("the first page: %d, %.200s", got.code, got.out)
	}
	if got := (command{}).run(t, "man", "--date", "today"); got.code != exit.Usage {
		t.Errorf("a bad date: %+v", got)
	}
}
