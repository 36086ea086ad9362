package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

func TestEveryCommandHasAManualPage(t *testing.T) {
	all := newRoot(newApp(nil, nil, nil, nil)).Commands()
	dir := filepath.Join(t.TempDir(), "man1")
	if got := (command{}).run(t, "man", dir, "--date", "2026-01-02"); got.code != exit.OK {
		t.Fatalf("got %+v", got)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < len(all) {
		t.Fatalf("%d pages for %d commands, %v", len(pages), len(all), err)
	}
	groff, missing := exec.LookPath("groff")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil || !strings.HasPrefix(string(text), ".TH ") || !strings.Contains(string(text), `.SH "NAME"`) {
			t.Errorf("%s: %v, %.60s", page, err, text)
		}
	}
	if missing == nil {
		if out, err := exec.CommandContext(t.Context(), groff, append([]string{"-man", "-ww", "-z"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("groff complains: %v: %s", err, out)
		}
	}
	if got := (command{}).run(t, "man"); got.code != exit.OK || !strings.Contains(got.out, `domtap\-serve(1)`) {
		t.Errorf("the first page: %d, %.200s", got.code, got.out)
	}
}
