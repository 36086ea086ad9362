package main

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestReplRunsAScript(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	at := daemon.at()
	at.in = "# two lines, and one with the name of the program\ntabs\n\n  domtap eval --ref 3 \"a b\" # comment\nexit\ntabs never\n"
	got := at.run(t, "repl", "--tab", "t1")
	if got.code != exit.OK || strings.Count(got.out, "t1") != 1 || !strings.HasSuffix(got.out, "1\n") || got.errors != "" {
		t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
	}
	if r, ok := daemon.last(t).(*domtapv1.EvaluateRequest); !ok || r.GetTabId() != "t1" || r.GetExpression() != "a b" || r.GetRef() != 3 {
		t.Errorf("the daemon got %v", daemon.last(t))
	}
}

func TestReplEndsAtTheFirstFailure(t *testing.T) {
	at := newFakeDaemon(t).start(t).at()
	at.in = "tabs\nclick\nbogus\ntabs\n"
	got := at.run(t, "repl")
	if got.code != exit.Usage || strings.Count(got.out, "t2") != 1 || !strings.Contains(got.errors, "line 2 failed") {
		t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
	}
	got = at.run(t, "repl", "--keep-going", "--json")
	if got.code != exit.Usage || strings.Count(got.out, `"id":"t2"`) != 2 || !strings.Contains(got.errors, "bogus") {
		t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
	}
	at.in = "type 3 \"no end\nrepl\n"
	if got = at.run(t, "repl", "--keep-going"); got.code != exit.Usage || !strings.Contains(got.errors, "does not end") || !strings.Contains(got.errors, "prompt already") {
		t.Errorf("got %d, %q", got.code, got.errors)
	}
}

func TestRolesAndDevicesComplete(t *testing.T) {
	at := newFakeDaemon(t).start(t).at()
	for args, want := range map[string]string{"click --role": "treeitem\n", "wait --role": "button\n", "session new x --device": "Pixel 8\t412x915, scale 2.625\n"} {
		got := at.run(t, append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
		if !strings.Contains(got.out, want) {
			t.Errorf("%s completes to %q", args, got.out)
		}
	}
}
