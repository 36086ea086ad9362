//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// TestAttachToARunningBrowser reads a page through an independently started browser. At the end it leaves the browser running, without the
// tabs of domtap.
func TestAttachToARunningBrowser(t *testing.T) {
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(testenv.SomeButtons)})
	running := testenv.StartRemote(t, 0)
	address := running.Address
	for _, remote := range []string{address, "http://" + strings.Split(strings.TrimPrefix(address, "ws://"), "/")[0]} {
		b, err := browser.Start(t.Context(), browser.Config{Remote: remote})
		if err != nil {
			t.Fatalf("%s: %v", remote, err)
		}
		pool := tabpool.New(b, tabpool.Config{})
		tab, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		r, err := tab.Read(t.Context(), actor.ReadOptions{Geometry: true})
		if err != nil {
			t.Fatal(err)
		}
		roles := []string{}
		for e := range r.Head.Snapshot.Elements.All() {
			roles = append(roles, e.Role)
		}
		if !slices.Equal(roles, []string{"button", "button", "button"}) {
			t.Errorf("got %q", roles)
		}
		if err := pool.Close(testenv.Within(t, testenv.Patience)); err != nil {
			t.Error(err)
		}
		if err := b.Close(testenv.Within(t, testenv.Patience)); err != nil {
			t.Error(err)
		}
	}
	if err := syscall.Kill(running.PID, 0); err != nil {
		t.Errorf("the browser that was attached to is gone: %v", err)
	}
}

// TestHeadlessShell uses the headless shell if it is installed. It must be found for a browser without windows, as the program itself and
// not as a script that waits for it. It is refused for a browser with windows.
func TestHeadlessShell(t *testing.T) {
	t.Setenv("DOMTAP_CHROME", "")
	path, err := browser.Find("", true)
	if err != nil || !browser.IsShell(path) {
		t.Skip("no headless shell is installed")
	}
	url := serve(t, map[string]http.HandlerFunc{"/": testenv.HTML(testenv.SomeButtons)})
	d := testenv.StartDaemon(t)
	tab := d.Open(url)
	if n := len(d.All(tab).GetElements()); n != 3 {
		t.Errorf("%d elements, want 3", n)
	}
	if !strings.HasPrefix(d.Browser.Version(), "HeadlessChrome/") {
		t.Errorf("the version is %q", d.Browser.Version())
	}
	if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.Browser.PID())); err == nil && !strings.HasPrefix(string(line), path+"\x00") {
		t.Errorf("the process that was started is %q, want %s", line, path)
	}
	state := t.TempDir()
	_, err = browser.Start(t.Context(), browser.Config{ChromePath: path, StateDir: state})
	if err == nil || !strings.Contains(err.Error(), "has no windows: install the full browser") {
		t.Errorf("with windows: %v", err)
	}
	if left := testenv.Processes(state); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestDeadDaemonsBrowsersAreSwept leaves the directory of a dead daemon, with a process that still runs in it, and starts another browser.
func TestDeadDaemonsBrowsersAreSwept(t *testing.T) {
	path := testenv.NeedBrowser(t)
	state := t.TempDir()
	first, err := browser.Start(t.Context(), browser.Config{ChromePath: path, Headless: true, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	homes, err := filepath.Glob(filepath.Join(state, "browsers", "*", "owner.json"))
	if err != nil || len(homes) != 1 {
		t.Fatalf("homes: %v, %v", homes, err)
	}
	disown(t, homes[0])
	second, err := browser.Start(t.Context(), browser.Config{ChromePath: path, Headless: true, StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Done():
	case <-testenv.Within(t, testenv.Patience).Done():
		t.Error("the dead daemon's browser still runs")
	}
	if left := testenv.Processes(filepath.Dir(homes[0])); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, err := second.NewPage(t.Context(), driver.PageOptions{Viewport: dom.Box{Width: 800, Height: 600}}); err != nil {
		t.Errorf("the new browser: %v", err)
	}
	for _, b := range []*browser.Browser{first, second} {
		if err := b.Close(testenv.Within(t, testenv.Patience)); err != nil {
			t.Error(err)
		}
	}
	if left := testenv.Processes(state); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// disown rewrites the record in a directory as if its daemon's process had ended.
func disown(t *testing.T, note string) {
	t.Helper()
	raw, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	o["daemon"] = map[string]any{"pid": 1 << 30, "start": "1"}
	if raw, err = json.Marshal(o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}
