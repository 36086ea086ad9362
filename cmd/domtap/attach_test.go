package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/browser/discovery"
)

// asking returns the profile folder of a browser that answers as one whose user must allow each connection.
func asking(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	profile := t.TempDir()
	_, port, _ := strings.Cut(s.Listener.Addr().String(), ":")
	if err := os.WriteFile(filepath.Join(profile, "DevToolsActivePort"), fmt.Appendf(nil, "%s\n/devtools/browser/x", port), 0o600); err != nil {
		t.Fatal(err)
	}
	return profile
}

// TestAttachSaysWhichBrowser attaches where no browser allows debugging, where several do, and where one does.
func TestAttachSaysWhichBrowser(t *testing.T) {
	cmd, _ := isolated(t)
	if got := cmd.run(t, "attach"); got.code == exit.OK || !strings.Contains(got.errors, "no running browser allows debugging") || !strings.Contains(got.errors, "chrome://inspect/#remote-debugging") {
		t.Errorf("none: %+v", got)
	}
	cmd.browsers = []discovery.Folder{{Name: "chrome", Product: "Google Chrome", Scheme: "chrome", Path: asking(t)}, {Name: "edge", Product: "Microsoft Edge", Scheme: "edge", Path: asking(t)}}
	got := cmd.run(t, "attach")
	for _, want := range []string{"2 running browsers allow debugging", "--browser chrome: Google Chrome at 127.0.0.1:", "--browser edge: Microsoft Edge at 127.0.0.1:"} {
		if got.code == exit.OK || !strings.Contains(got.errors, want) {
			t.Errorf("several: no %q in %+v", want, got)
		}
	}
	got = cmd.run(t, "attach", "--browser", "edge") // this test has no daemon
	if !strings.Contains(got.errors, "attaching to Microsoft Edge") || !strings.Contains(got.errors, "choose Allow in the window of the browser") {
		t.Errorf("one: %+v", got)
	}
}

// TestARunningDaemonKeepsItsBrowser names a browser although a daemon runs.
func TestARunningDaemonKeepsItsBrowser(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	if got := daemon.at().run(t, "attach", "--browser", "chrome"); got.code != exit.Usage || !strings.Contains(got.errors, "a daemon runs already") {
		t.Errorf("got %+v", got)
	}
}
