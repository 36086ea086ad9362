package e2e

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// TestPagesAreNicer starts a browser whose renderers must have a higher nice value than this process. The browser process must have the
// nice value of this process, because all answers pass through it.
func TestPagesAreNicer(t *testing.T) {
	path := testenv.NeedBrowser(t)
	if !browser.IsShell(path) && os.Geteuid() == 0 {
		t.Skip("the full browser sets these values itself where it may raise them, too")
	}
	b, err := browser.Start(t.Context(), browser.Config{ChromePath: path, Headless: true, StateDir: t.TempDir(), PageNice: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(testenv.Within(t, testenv.Patience)); err != nil {
			t.Error(err)
		}
	}()
	if _, err := b.NewPage(t.Context(), driver.PageOptions{Viewport: dom.Box{Width: 800, Height: 600}}); err != nil {
		t.Fatal(err)
	}
	ours := niceOf(t, os.Getpid())
	renderers := 0
	for _, pid := range testenv.Group(b.PID()) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !bytes.Contains(line, []byte("--type=renderer")) {
			continue
		}
		renderers++
		if got := niceOf(t, pid); got != ours+3 {
			t.Errorf("the nice value of a renderer is %d, want %d", got, ours+3)
		}
	}
	if renderers == 0 {
		t.Error("there are no renderers")
	}
	if got := niceOf(t, b.PID()); got > ours {
		t.Errorf("the nice value of the browser is %d, want at most %d", got, ours)
	}
}

// niceOf returns the nice value of a process.
func niceOf(t *testing.T, pid int) int {
	t.Helper()
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - raw // converts the system call's return value
}
