package launch

import (
	"os"
	"os/exec"
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// tap inserts our connection between chromedp and the browser that it starts. The browser gets ends of our pipes. chromedp keeps its own
// pipes, through which we forward its messages.
type tap struct {
	// windowless starts the browser without a page.
	windowless bool
	// ready is called when both sides are connected, before the browser starts.
	ready func(browser, toChromedp chromedp.Transport)
	conn  *devtools.Conn
	child []*os.File
}

// pipes creates one pipe to the browser and one from it.
func pipes() (childR, childW, ourR, ourW *os.File, err error) {
	if childR, ourW, err = os.Pipe(); err != nil {
		return nil, nil, nil, nil, err
	}
	if ourR, childW, err = os.Pipe(); err != nil {
		childR.Close()
		ourW.Close()
		return nil, nil, nil, nil, err
	}
	return childR, childW, ourR, ourW, nil
}

// started closes the browser's ends in this process, so that the browser's death is detected. It is called when the process has started,
// and again after version, in case the start failed.
func (t *tap) started() {
	for _, f := range t.child {
		f.Close()
	}
}

// abandon releases everything after a failed start.
func (t *tap) abandon() {
	if t.conn != nil {
		t.conn.Close()
	}
}

// dropFirstPage removes the page that chromedp appends from the command line if the browser should start without one. The headless shell
// has no flag for that and opens every page on its command line.
func (t *tap) dropFirstPage(cmd *exec.Cmd) {
	if t.windowless {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "about:blank" })
	}
}
