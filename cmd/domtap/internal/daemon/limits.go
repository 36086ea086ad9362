package daemon

import (
	"errors"
	"fmt"

	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/rpc/limit"
	"github.com/domtap/domtap/rpc/listen"
)

// Limits are what clients and pages may take of the daemon.
type Limits struct {
	limit.Config
	// Mailbox is how many calls may wait for one tab.
	Mailbox int
	// PageElements is how many elements are kept of each document.
	PageElements int
}

// Check returns an error for limits that make no sense; it names the flag.
func (l Limits) Check() error {
	if err := l.Config.Check(); err != nil {
		return err
	}
	for _, bound := range []struct {
		flag               string
		value, least, most int
	}{
		{"mailbox", l.Mailbox, 1, 10_000},
		{"max-page-elements", l.PageElements, 100, page.MaxElements},
		{"max-request-bytes", l.RequestBytes, 64 << 10, listen.MaxMessage},
		{"max-response-bytes", l.ResponseBytes, 64 << 10, listen.MaxMessage},
		{"max-connections", l.Connections, 0, 1_000_000},
		{"max-streams", l.Streams, 0, 1_000_000},
	} {
		if bound.value < bound.least || bound.value > bound.most {
			return fmt.Errorf("--%s %d is not %d to %d", bound.flag, bound.value, bound.least, bound.most)
		}
	}
	if l.CallsPerSecond > 0 && l.CallsPerSecond < 0.01 {
		return errors.New("--max-calls-per-second is less than one in 100 s")
	}
	return nil
}
