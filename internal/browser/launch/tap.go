package launch

import (
	"os"
	"os/exec"
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/internal/browser/devtools"
)

// tap puts our connection between chromedp and the browser that it starts: the browser gets ends of our pipes, and
// chromedp keeps its own, to which we pass on what is its.
type tap struct {
	// windowless says that the browser is to start without a page.
	windowless bool
	// ready is called when both sides are there, before the browser starts.
	ready func(browser, toChromedp chromedp.Transport)
	conn  *devtools.Conn
	child []*os.File
}

// pipes makes one pipe to the browser and one from it.
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

// started closes the browser's ends in this process, so that its death is seen. It is called when the process has started,
// and once more when it did not.
func (t *tap) started() {
	for _, f := range t.child {
		f.Close()
	}
}

// abandon frees everything after a failed start.
func (t *tap) abandon() {
	if t.conn != nil {
		t.conn.Close()
	}
}

// dropFirstPage takes the page that chromedp appends off a command line, when the browser is to start without one. The headless
// shell has no flag for that: it opens every page that is named.
func (t *tap) dropFirstPage(cmd *exec.Cmd) {
	if t.windowless {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "about:blank" })
	}
}
