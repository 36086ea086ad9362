package tabpool

import (
	"slices"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/driver"
)

// maxDownloads limits how many downloads of a session are remembered.
const maxDownloads = 100

// DownloadRecord is a download with its tab, which may be closed.
type DownloadRecord struct {
	Tab string
	driver.Download
}

// downloadLog remembers the downloads of each session, oldest first, at most maxDownloads per session. The pool's lock guards it.
type downloadLog map[string][]DownloadRecord

// record updates the log from an event of a tab.
func (l downloadLog) record(e actor.TabEvent) {
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

// list returns a copy of the downloads of a session, newest first.
func (l downloadLog) list(session string) []DownloadRecord {
	out := slices.Clone(l[session])
	slices.Reverse(out)
	return out
}

// Downloads returns the downloads of a session, newest first, at most 100.
func (p *Pool) Downloads(session string) []DownloadRecord {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.downloads.list(session)
}

// ForgetDownloads removes the downloads of a closed session.
func (p *Pool) ForgetDownloads(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.downloads, session)
}
