package actor

import (
	"fmt"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
)

// fetches takes over how a download goes.
func (t *Tab) fetches(d driver.Download) {
	t.outbox = append(t.outbox, TabEvent{Kind: TabDownloaded, Download: d})
	name := text.Clip(d.Filename, text.Short)
	switch d.State {
	case driver.Fetching:
		if d.GUID != t.fetching {
			t.note(fmt.Sprintf("the download of %q began", name))
		}
		t.fetching = d.GUID
	case driver.Fetched:
		t.note(fmt.Sprintf("the download of %q is complete", name))
	case driver.NotFetched:
		t.note(fmt.Sprintf("the download of %q was canceled: %s", name, d.Reason))
	}
}
