package launch

import (
	"os"
	"os/exec"
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// relay inserts our connection between chromedp and the browser that it starts. The browser gets ends of our pipes. chromedp keeps its own
// pipes, through which we forward its messages.
type relay struct {
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
func (r *relay) started() {
	for _, f := range r.child {
		f.Close()
	}
}

// abandon releases everything after a failed start.
func (r *relay) abandon() {
	if r.conn != nil {
		r.conn.Close()
	}
}

// dropFirstPage removes the page that chromedp appends from the command line if the browser should start without one. The headless shell
// has no flag for that and opens every page on its command line.
func (r *relay) dropFirstPage(cmd *exec.Cmd) {
	if r.windowless {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "about:blank" })
	}
}
