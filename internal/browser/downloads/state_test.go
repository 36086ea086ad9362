package downloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/downloaddir"
)

// page is a page that only has a context and an ID.
type page struct{}

func (page) Target() target.ID             { return "T1" }
func (page) Context() cdp.BrowserContextID { return "C1" }
func (page) Holds(cdp.FrameID) bool        { return true }
func (page) IsBlank() bool                 { return false }
func (page) Discard()                      {}
func (page) DownloadBegan(driver.Download) {}
func (page) DownloadMoved(driver.Download) {}

// with returns a state with one session, which keeps its files in a folder.
func with(t *testing.T, max int64) (state, *session) {
	t.Helper()
	folder, err := downloaddir.Open(t.TempDir(), "a")
	if err != nil {
		t.Fatal(err)
	}
	s := newState(max)
	s.sessions["C1"] = &session{folder: folder}
	return s, s.sessions["C1"]
}

func one(n int) *transfer {
	return &transfer{Download: driver.Download{GUID: fmt.Sprint(n)}, context: "C1", page: page{}}
}

func TestASessionHasSoManyDownloadsUnderWay(t *testing.T) {
	s, session := with(t, 0)
	for n := range maxFetching {
		if why := s.begin(one(n)); why != "" {
			t.Fatalf("download %d is refused: %s", n, why)
		}
	}
	if why := s.begin(one(maxFetching)); !strings.Contains(why, "16 running downloads") {
		t.Errorf("one more is not refused: %q", why)
	}
	for _, f := range s.fetching {
		s.forget(f)
	}
	session.files = maxFiles
	if why := s.begin(one(1)); !strings.Contains(why, "keeps 1000 files") {
		t.Errorf("a file too many is not refused: %q", why)
	}
}

func TestADownloadWithoutAPageIsRefused(t *testing.T) {
	s, _ := with(t, 0)
	d := one(1)
	d.page = nil
	if why := s.begin(d); why != "its page is gone" {
		t.Errorf("it is not refused: %q", why)
	}
}

// TestBytesAreCountedWhileTheyArriveAndWhileTheyAreKept counts a download that fails, a download that is kept, and the end of their
// session.
func TestBytesAreCountedWhileTheyArriveAndWhileTheyAreKept(t *testing.T) {
	s, _ := with(t, 100)
	failed, kept := one(1), one(2)
	s.begin(failed)
	s.begin(kept)
	if s.progress(failed, 30, 60) || !s.progress(kept, 20, 80) {
		t.Error("not the total of what is under way is held against the bound")
	}
	s.forget(failed)
	s.forget(kept)
	s.kept(kept, 25)
	if s.used != 25 {
		t.Errorf("%d bytes are counted, want 25", s.used)
	}
	late := one(3)
	s.begin(late)
	s.progress(late, 10, 10)
	if folder := s.end("C1", false); folder == nil || s.used != 0 {
		t.Errorf("after the session: folder %v, %d bytes", folder, s.used)
	}
	s.kept(late, 10)
	if s.used != 0 {
		t.Error("a file of a session that has ended is counted")
	}
}

func TestAFolderThatIsSharedIsNotRemoved(t *testing.T) {
	s, first := with(t, 0)
	s.sessions["C2"] = &session{folder: first.folder}
	if s.end("C1", false) != nil {
		t.Error("the folder of a session that lives on is to be removed")
	}
	if s.end("C2", false) == nil {
		t.Error("nobody removes the folder")
	}
}

func TestWhyADownloadFailed(t *testing.T) {
	refuses := &session{deny: true}
	for want, d := range map[string]*transfer{
		"here":                          {canceled: "here", session: refuses},
		"the session refuses downloads": {session: refuses},
		"the page, the network or the browser ended it": {},
	} {
		if got := d.reason(""); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}
