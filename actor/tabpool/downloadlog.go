package tabpool

import (
	"slices"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// maxDownloads is how many downloads of a session are remembered.
const maxDownloads = 100

// DownloadRecord is a download and the tab that it belongs to, which may be closed.
type DownloadRecord struct {
	Tab string
	driver.Download
}

// downloadLog remembers the downloads of the sessions, oldest first, at most maxDownloads of each. The
// pool's lock guards it.
type downloadLog map[string][]DownloadRecord

// note takes over what the event of a tab says about downloads.
func (l downloadLog) note(e actor.TabEvent) {
	all := l[e.Info.Session]
	switch e.Kind {
	case actor.TabClosed:
		for i, r := range all {
			if r.Tab == e.Info.ID && r.State == driver.Fetching {
				all[i].State, all[i].Reason = driver.NotFetched, "its tab was closed"
			}
		}
	case actor.TabDownloaded:
		at := slices.IndexFunc(all, func(r DownloadRecord) bool { return r.GUID == e.Download.GUID })
		if at >= 0 {
			all[at].Download = e.Download
			return
		}
		if len(all) >= maxDownloads {
			all = slices.Delete(all, 0, 1)
		}
		l[e.Info.Session] = append(all, DownloadRecord{Tab: e.Info.ID, Download: e.Download})
	}
}

// list copies the downloads of a session, newest first.
func (l downloadLog) list(session string) []DownloadRecord {
	out := slices.Clone(l[session])
	slices.Reverse(out)
	return out
}

// Downloads lists the downloads of a session, newest first, at most 100.
func (p *Pool) Downloads(session string) []DownloadRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.downloads.list(session)
}

// ForgetDownloads forgets the downloads of a session that is closed.
func (p *Pool) ForgetDownloads(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.downloads, session)
}
