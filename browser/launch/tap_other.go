//go:build !unix

package launch

import (
	"os/exec"

	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/browser/link"
)

// tap cannot stand between chromedp and the browser here, since handles are passed differently: start
// the browser by hand and use --remote.
type tap struct {
	ready func(browser, chromedp chromedp.Transport)
	conn  *link.Conn
}

func (t *tap) modify(*exec.Cmd) {}
func (t *tap) started()         {}
func (t *tap) abandon()         {}
