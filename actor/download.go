package actor

import (
	"fmt"
	"slices"
)

// DownloadState is how far a download is.
type DownloadState uint8

// The states of a download.
const (
	// Fetching: it is under way.
	Fetching DownloadState = iota
	// Fetched: the file is complete.
	Fetched
	// NotFetched: it was canceled, and nothing of it is kept.
	NotFetched
)

// String returns "in_progress", "completed" or "canceled".
func (s DownloadState) String() string {
	names := [...]string{"in_progress", "completed", "canceled"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Download is a file that a page gives.
type Download struct {
	// GUID is the browser's name for it, URL at most 2,000 bytes, Filename what the page suggests, at most 1,000
	// characters; all are untrusted.
	GUID, URL, Filename string
	State               DownloadState
	// Received and Total are bytes; Total is 0 when it is not known.
	Received, Total int64
	// Path is where the complete file is.
	Path string
	// Reason says why it was canceled.
	Reason string
}

// Downloaded says how a download goes: when it begins and ends, and in between at most twice a second.
type Downloaded struct{ Download Download }

func (Downloaded) event() {}

// fetches takes over how a download goes.
func (t *Tab) fetches(d Download) {
	t.outbox = append(t.outbox, TabEvent{Kind: TabDownloaded, Download: d})
	name := brief(d.Filename)
	switch d.State {
	case Fetching:
		if d.GUID != t.fetching {
			t.note(fmt.Sprintf("the download of %q began", name))
		}
		t.fetching = d.GUID
	case Fetched:
		t.note(fmt.Sprintf("the download of %q is complete", name))
	case NotFetched:
		t.note(fmt.Sprintf("the download of %q was canceled: %s", name, d.Reason))
	}
}

// keptDownloads is how many downloads of a session are remembered.
const keptDownloads = 100

// DownloadRecord is a download and the tab that it belongs to, which may be closed.
type DownloadRecord struct {
	Tab string
	Download
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
			if r.Tab == e.Info.ID && r.State == Fetching {
				all[i].State, all[i].Reason = NotFetched, "its tab was closed"
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
