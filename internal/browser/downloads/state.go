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

// Bounds of what pages may download.
const (
	// maxFetching is how many downloads a session may have under way.
	maxFetching = 16
	// maxFiles is how many files a session may keep.
	maxFiles = 1000
	// defaultBytes is what all sessions together may keep, unless the configuration says otherwise.
	defaultBytes = 2 << 30
	// reportEvery is how often progress is reported at most.
	reportEvery = 500 * time.Millisecond
)

// session is what the pages of one browser context downloaded.
type session struct {
	// folder is nil in a browser of somebody else, which keeps files where it likes.
	folder *downloaddir.Folder
	deny   bool
	// files and bytes are kept.
	files int
	bytes int64
	ended bool
}

// transfer is a download that is under way.
type transfer struct {
	driver.Download
	context cdp.BrowserContextID
	session *session
	page    Page // which is told; nil: none
	// reported is when the page was told last.
	reported time.Time
	// canceled is why it was canceled here.
	canceled string
}

// keeps reports whether the file is kept in a folder of ours.
func (t *transfer) keeps() bool { return t.session != nil && t.session.folder != nil }

// state is what the downloads of a browser are known by. It is a plain value; a Tracker guards it.
type state struct {
	sessions map[cdp.BrowserContextID]*session
	// fetching are those under way.
	fetching map[string]*transfer
	// openers are the pages that opened pages: a window that turns out to be a download is never a tab.
	openers map[target.ID]target.ID
	// used is how many bytes are kept, and max how many may be, with those under way.
	used, max int64
}

func newState(max int64) state {
	return state{
		sessions: map[cdp.BrowserContextID]*session{}, fetching: map[string]*transfer{}, openers: map[target.ID]target.ID{},
		max: cmp.Or(max, defaultBytes),
	}
}

// begin adds a download, and returns why it is to be canceled, or nothing.
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
	case folders.IsURL(t.URL): // a page that came from a file could keep any file of the machine
		return "files of the machine are not downloaded"
	case !t.keeps():
	case under >= maxFetching:
		return fmt.Sprintf("the session has %d downloads under way", under)
	case t.session.files >= maxFiles:
		return fmt.Sprintf("the session keeps %d files: close the session, or open another", t.session.files)
	}
	return ""
}

// progress notes how far a download is, and reports whether more is kept then than may be.
func (s *state) progress(t *transfer, received, total int64) (over bool) {
	s.used += received - t.Received
	t.Received, t.Total = received, total
	return t.keeps() && s.used+max(0, t.Total-t.Received) > s.max
}

// forget ends what is counted of a download under way.
func (s *state) forget(t *transfer) {
	if s.fetching[t.GUID] == t {
		delete(s.fetching, t.GUID)
		s.used -= t.Received
	}
}

// kept notes a complete file.
func (s *state) kept(t *transfer, size int64) {
	t.Received = size
	if !t.session.ended {
		t.session.files++
		t.session.bytes += size
		s.used += size
	}
}

// end forgets the session of a context that is closed. It returns the session's folder, unless a session that was created
// meanwhile, under the name of one that took long to end, has the same folder.
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

// reason is why a download has failed.
func (t *transfer) reason(why string) string {
	switch {
	case t.canceled != "" || why != "":
		return cmp.Or(t.canceled, why)
	case t.session != nil && t.session.deny:
		return "the session refuses downloads"
	}
	return "the page, the network or the browser ended it"
}
