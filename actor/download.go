package actor

import (
	"fmt"
	"slices"

	"github.com/domtap/domtap/actor/driver"
)

// fetches takes over how a download goes.
func (t *Tab) fetches(d driver.Download) {
	t.outbox = append(t.outbox, TabEvent{Kind: TabDownloaded, Download: d})
	name := brief(d.Filename)
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

// keptDownloads is how many downloads of a session are remembered.
const keptDownloads = 100

// DownloadRecord is a download and the tab that it belongs to, which may be closed.
type DownloadRecord struct {
	Tab string
	driver.Download
}

// Downloads lists the downloads of a session, newest first, at most 100.
func (p *Pool) Downloads(session string) []DownloadRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := slices.Clone(p.records[session])
	slices.Reverse(out)
	return out
}

// ForgetDownloads forgets those of a session that is closed.
func (p *Pool) ForgetDownloads(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.records, session)
}

// record remembers what an event says of downloads; the caller holds the lock.
func (p *Pool) record(e TabEvent) {
	all := p.records[e.Info.Session]
	switch e.Kind {
	case TabClosed:
		for i, r := range all {
			if r.Tab == e.Info.ID && r.State == driver.Fetching {
				all[i].State, all[i].Reason = driver.NotFetched, "its tab was closed"
			}
		}
	case TabDownloaded:
		at := slices.IndexFunc(all, func(r DownloadRecord) bool { return r.GUID == e.Download.GUID })
		if at >= 0 {
			all[at].Download = e.Download
			return
		}
		if len(all) >= keptDownloads {
			all = slices.Delete(all, 0, 1)
		}
		p.records[e.Info.Session] = append(all, DownloadRecord{Tab: e.Info.ID, Download: e.Download})
	}
}
