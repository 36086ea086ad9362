package downloads

import (
	"cmp"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/downloaddir"
	"github.com/domtap/domtap/internal/folders"
)

// Limits on downloads.
const (
	// maxFetching limits the concurrent downloads of a session.
	maxFetching = 16
	// maxFiles limits the files that a session may keep.
	maxFiles = 1000
	// defaultBytes is the default limit on the bytes that all sessions together may keep.
	defaultBytes = 2 << 30
	// reportEvery is the minimum interval between progress reports.
	reportEvery = 500 * time.Millisecond
)

// session tracks the downloads of one browser context.
type session struct {
	// folder is nil in a remote browser, which chooses where files go.
	folder *downloaddir.Folder
	deny   bool
	// files and bytes count the kept files and their bytes.
	files int
	bytes int64
	ended bool
}

// transfer is a download in progress.
type transfer struct {
	driver.Download
	context cdp.BrowserContextID
	session *session
	page    Page // receives reports; nil if unknown
	// reported is the time of the last report.
	reported time.Time
	// canceled is why we canceled the download.
	canceled string
}

// keeps reports whether the file is kept in one of our folders.
func (t *transfer) keeps() bool { return t.session != nil && t.session.folder != nil }

// state tracks the downloads of a browser. It is a plain value guarded by a Tracker.
type state struct {
	sessions map[cdp.BrowserContextID]*session
	// fetching maps GUIDs to the downloads in progress.
	fetching map[string]*transfer
	// openers maps targets to the pages that opened them. A window that turns out to be a download never becomes a tab.
	openers map[target.ID]target.ID
	// used is the number of bytes that are kept or being downloaded. max limits it.
	used, max int64
}

func newState(max int64) state {
	return state{
		sessions: map[cdp.BrowserContextID]*session{}, fetching: map[string]*transfer{}, openers: map[target.ID]target.ID{},
		max: cmp.Or(max, defaultBytes),
	}
}

// begin adds a download. It returns why the download must be canceled, or an empty string.
func (s *state) begin(t *transfer) (refusal string) {
	if t.page != nil {
		t.session = s.sessions[t.context]
	}
	under := 0
	for _, other := range s.fetching {
		if other.session == t.session {
			under++
		}
	}
	s.fetching[t.GUID] = t
	switch {
	case t.page == nil:
		return "its page is gone"
	case folders.IsURL(t.URL): // a page from a file could copy any local file
		return "local files are not downloaded"
	case !t.keeps():
	case under >= maxFetching:
		return fmt.Sprintf("the session already has %d running downloads", under)
	case t.session.files >= maxFiles:
		return fmt.Sprintf("the session already keeps %d files: close the session, or open another", t.session.files)
	}
	return ""
}

// progress records the progress of a download and reports whether the total exceeds the limit.
func (s *state) progress(t *transfer, received, total int64) (over bool) {
	s.used += received - t.Received
	t.Received, t.Total = received, total
	return t.keeps() && s.used+max(0, t.Total-t.Received) > s.max
}

// forget removes a transfer from the downloads in progress.
func (s *state) forget(t *transfer) {
	if s.fetching[t.GUID] == t {
		delete(s.fetching, t.GUID)
		s.used -= t.Received
	}
}

// kept records a complete file.
func (s *state) kept(t *transfer, size int64) {
	t.Received = size
	if !t.session.ended {
		t.session.files++
		t.session.bytes += size
		s.used += size
	}
}

// end removes the session of a closed context. It returns the session's folder, unless a newer session has the same folder because it
// reused the name of a session that was slow to end.
func (s *state) end(id cdp.BrowserContextID, keep bool) *downloaddir.Folder {
	d := s.sessions[id]
	delete(s.sessions, id)
	for guid, t := range s.fetching {
		if t.context == id {
			delete(s.fetching, guid)
			s.used -= t.Received
		}
	}
	if d == nil {
		return nil
	}
	d.ended = true
	if !keep {
		s.used -= d.bytes
	}
	if d.folder == nil {
		return nil
	}
	for _, other := range s.sessions {
		if other.folder != nil && other.folder.Dir() == d.folder.Dir() {
			return nil
		}
	}
	return d.folder
}

// reason returns why a download failed.
func (t *transfer) reason(why string) string {
	switch {
	case t.canceled != "" || why != "":
		return cmp.Or(t.canceled, why)
	case t.session != nil && t.session.deny:
		return "the session refuses downloads"
	}
	return "the page, the network or the browser ended it"
}
