package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/downloaddir"
	"github.com/domtap/domtap/internal/browser/navigation"
	"github.com/domtap/domtap/internal/truncate"
)

// Bounds of what pages may download.
const (
	// maxFetching is how many downloads a session may have under way.
	maxFetching = 16
	// maxFiles is how many files a session may keep.
	maxFiles = 1000
	// defaultBytes is what all sessions together may keep, unless the configuration says otherwise.
	defaultBytes = 2 << 30
	// maxURL bounds the URL that is told, in bytes: data: URLs hold the whole file.
	maxURL = 2000
	// maxFilename bounds the name that a page suggests, in characters.
	maxFilename = 1000
	// toldEvery is how often progress is told of at most.
	toldEvery = 500 * time.Millisecond
)

// downloads is what the browser's downloads are known by. What the browser says of them is worked on by one
// goroutine, the browser's loop.
type downloads struct {
	mu sync.Mutex
	// depots hold the downloads of the contexts.
	depots map[cdp.BrowserContextID]*depot
	// fetching are those under way.
	fetching map[string]*transfer
	// openers are the pages that opened pages: a window that turns out to be a download is never a tab.
	openers map[target.ID]target.ID
	// used is how many bytes are kept, and max how many may be, with those under way.
	used, max int64
}

// depot takes the downloads of one context.
type depot struct {
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
	depot   *depot
	page    *Page // who is told; nil: nobody
	told    time.Time
	// over is why it was canceled here.
	over string
}

func newDownloads(max int64) downloads {
	return downloads{
		depots: map[cdp.BrowserContextID]*depot{}, fetching: map[string]*transfer{}, openers: map[target.ID]target.ID{},
		max: cmp.Or(max, defaultBytes),
	}
}

// downloadRoot is the folder that holds a folder of downloads for each session.
func (b *Browser) downloadRoot() string {
	return cmp.Or(b.downloadDir, filepath.Join(b.process.Dir(), "downloads"))
}

// downloads lets the pages of a context download into a folder of that name, or refuses what they download. It may be
// called again, to refuse or to allow. It returns the folder, which is empty in a browser of somebody else: there files go where
// that says.
func (b *Browser) downloads(ctx context.Context, id cdp.BrowserContextID, name string, deny bool) (dir string, err error) {
	b.fetches.mu.Lock()
	d := b.fetches.depots[id]
	b.fetches.mu.Unlock()
	if d == nil {
		d = new(depot)
		if b.process.Owned() {
			if d.folder, err = downloaddir.Open(b.downloadRoot(), name); err != nil {
				return "", err
			}
		}
		b.fetches.mu.Lock()
		b.fetches.depots[id] = d // now, so that the folder is removed with the context also when the call below fails
		b.fetches.mu.Unlock()
	}
	tell := true
	params := cdpbrowser.SetDownloadBehaviorParams{BrowserContextID: id, EventsEnabled: &tell, Behavior: cdpbrowser.SetDownloadBehaviorBehaviorDefault}
	if d.folder != nil {
		dir = d.folder.Dir()
		params.Behavior, params.DownloadPath = cdpbrowser.SetDownloadBehaviorBehaviorAllowAndName, d.folder.Incoming()
	}
	if deny {
		params.Behavior, params.DownloadPath = cdpbrowser.SetDownloadBehaviorBehaviorDeny, ""
	}
	if _, err := cdp.Call(ctx, b.root, cdpbrowser.SetDownloadBehavior, params); err != nil {
		return "", b.failed("setting where downloads go", err)
	}
	b.fetches.mu.Lock()
	defer b.fetches.mu.Unlock()
	d.deny = deny
	return dir, nil
}

// endDownloads ends the downloads of a context that is closed, and removes what they left, with keep only what is
// not complete. The context is gone then.
func (b *Browser) endDownloads(id cdp.BrowserContextID, keep bool) error {
	b.cancelDownloads("the session was closed", func(f *transfer) bool { return f.context == id })
	b.fetches.mu.Lock()
	d := b.fetches.depots[id]
	delete(b.fetches.depots, id)
	if d != nil {
		d.ended = true
		if !keep {
			b.fetches.used -= d.bytes
		}
	}
	for guid, f := range b.fetches.fetching {
		if f.context == id {
			delete(b.fetches.fetching, guid)
			b.fetches.used -= f.Received
		}
	}
	shared := d != nil && d.folder != nil && b.sharesFolder(d)
	b.fetches.mu.Unlock()
	if d == nil || d.folder == nil || shared {
		return nil
	}
	return d.folder.Close(keep)
}

// sharesFolder reports whether a session that was created meanwhile, under the name of one that took long to end, has the same
// folder; the caller holds the lock of fetches.
func (b *Browser) sharesFolder(d *depot) bool {
	for _, other := range b.fetches.depots {
		if other.folder != nil && other.folder.Dir() == d.folder.Dir() {
			return true
		}
	}
	return false
}

// closeDownloads removes what a browser that has ended left, unless its files are kept.
func (b *Browser) closeDownloads() error {
	b.fetches.mu.Lock()
	ids := make([]cdp.BrowserContextID, 0, len(b.fetches.depots))
	for id := range b.fetches.depots {
		ids = append(ids, id)
	}
	b.fetches.mu.Unlock()
	var err error
	for _, id := range ids {
		err = errors.Join(err, b.endDownloads(id, b.downloadDir != ""))
	}
	return err
}

// cancelDownloads cancels those that a condition holds for, which is called with the lock held. The browser says when they are.
func (b *Browser) cancelDownloads(why string, which func(*transfer) bool) {
	b.fetches.mu.Lock()
	var due []*transfer
	for _, f := range b.fetches.fetching {
		if which(f) {
			due = append(due, f)
		}
	}
	b.fetches.mu.Unlock()
	for _, f := range due {
		b.cancelDownload(f, why)
	}
}

func (b *Browser) cancelDownload(f *transfer, why string) {
	b.fetches.mu.Lock()
	f.over = cmp.Or(f.over, why)
	contexts := []cdp.BrowserContextID{f.context}
	if f.page == nil { // the browser does not say whose it is, and refuses where it is not
		contexts = slices.AppendSeq(contexts[:0], maps.Keys(b.fetches.depots))
	}
	b.fetches.mu.Unlock()
	for _, id := range contexts {
		b.root.Post(b.ctx, cdpbrowser.CommandCancelDownload, cdpbrowser.CancelDownloadParams{GUID: f.GUID, BrowserContextID: id})
	}
}

// openedBy notes which page opened a target.
func (b *Browser) openedBy(info *target.Info) {
	if info == nil || info.OpenerID == "" {
		return
	}
	b.fetches.mu.Lock()
	defer b.fetches.mu.Unlock()
	b.fetches.openers[info.TargetID] = info.OpenerID
}

// downloader is the page that a download of a frame belongs to: its own, or the opener of a window that has shown
// nothing yet, which is closed as soon as it turns out to be a download.
func (b *Browser) downloader(frame cdp.FrameID) *Page {
	b.mu.Lock()
	pages := make([]*Page, 0, len(b.pages))
	for _, p := range b.pages {
		pages = append(pages, p)
	}
	b.mu.Unlock()
	var found *Page
	id := target.ID(frame)
	for _, p := range pages {
		if p.holds(frame) {
			found, id = p, p.id
		}
	}
	for range len(pages) {
		if found != nil && !found.blank() {
			break
		}
		b.fetches.mu.Lock()
		opener := b.fetches.openers[id]
		b.fetches.mu.Unlock()
		b.mu.Lock()
		up := b.pages[opener]
		b.mu.Unlock()
		if up == nil {
			break
		}
		found, id = up, opener
	}
	return found
}

// holds reports whether a frame is one of the page's.
func (p *Page) holds(id cdp.FrameID) bool {
	p.frames.Lock()
	defer p.frames.Unlock()
	return p.frames.Tree.Get(id) != nil
}

// blank reports whether the page has shown no document yet.
func (p *Page) blank() bool {
	p.frames.Lock()
	defer p.frames.Unlock()
	url := p.frames.Tree.Main().URL
	return url == "" || url == "about:blank"
}

// downloadBegins works on a download that the browser begins.
func (b *Browser) downloadBegins(e cdpbrowser.EventDownloadWillBegin) {
	url := dom.WithoutUser(e.URL)
	name, _ := truncate.Head(e.SuggestedFilename, maxFilename)
	f := &transfer{Download: driver.Download{GUID: e.GUID, URL: url[:min(len(url), maxURL)], Filename: name, State: driver.Fetching}}
	f.page = b.downloader(e.FrameID)
	why := ""
	b.fetches.mu.Lock()
	if f.page != nil {
		f.context = f.page.context.id
		f.depot = b.fetches.depots[f.context]
	}
	under := 0
	for _, other := range b.fetches.fetching {
		if other.depot == f.depot {
			under++
		}
	}
	switch d := f.depot; {
	case f.page == nil:
		why = "its page is gone"
	case d == nil || d.folder == nil:
	case under >= maxFetching:
		why = fmt.Sprintf("the session has %d downloads under way", under)
	case d.files >= maxFiles:
		why = fmt.Sprintf("the session keeps %d files: close the session, or open another", d.files)
	}
	b.fetches.fetching[e.GUID] = f
	b.fetches.mu.Unlock()
	if why != "" {
		b.cancelDownload(f, why)
	}
	if f.page != nil {
		f.page.navigator.Change(func(s *navigation.State) { s.Downloading(f.Download) })
	}
	b.tellDownload(f)
}

// downloadMoves works on what the browser says of a download that is under way.
func (b *Browser) downloadMoves(e cdpbrowser.EventDownloadProgress) {
	b.fetches.mu.Lock()
	f := b.fetches.fetching[e.GUID]
	if f == nil {
		b.fetches.mu.Unlock()
		return
	}
	received := int64(max(0, e.ReceivedBytes))
	if e.State == cdpbrowser.DownloadProgressStateCanceled {
		received = f.Received
	}
	b.fetches.used += received - f.Received
	f.Received, f.Total = received, int64(max(0, e.TotalBytes))
	over := f.depot != nil && f.depot.folder != nil && b.fetches.used+max(0, f.Total-f.Received) > b.fetches.max
	b.fetches.mu.Unlock()
	switch e.State {
	case cdpbrowser.DownloadProgressStateCompleted:
		b.downloadEnds(f, e.FilePath)
	case cdpbrowser.DownloadProgressStateCanceled:
		b.downloadFails(f, "")
	default:
		if over && f.over == "" {
			b.cancelDownload(f, fmt.Sprintf("downloads may keep %d bytes in all (--max-downloads-bytes)", b.fetches.max))
		}
		if time.Since(f.told) >= toldEvery {
			b.tellDownload(f)
		}
	}
}

// downloadEnds gives a complete file its name.
func (b *Browser) downloadEnds(f *transfer, path string) {
	if f.over != "" { // it was quicker than its end
		b.downloadFails(f, f.over)
		return
	}
	if f.depot == nil || f.depot.folder == nil {
		f.Path = path
		b.forgetDownload(f, f.Received)
	} else {
		kept, size, err := f.depot.folder.Keep(f.GUID, f.Filename)
		if err != nil {
			b.logger.Warn("a download was lost", "error", err)
			b.downloadFails(f, "its file could not be kept: is the disk full?")
			return
		}
		f.Path, f.Total = kept, size
		b.forgetDownload(f, f.Received)
		b.fetches.mu.Lock()
		f.Received = size
		if !f.depot.ended {
			f.depot.files++
			f.depot.bytes += size
			b.fetches.used += size
		}
		b.fetches.mu.Unlock()
	}
	f.State = driver.Fetched
	b.tellDownload(f)
}

// downloadFails removes what there is of a file.
func (b *Browser) downloadFails(f *transfer, why string) {
	b.dropFile(f)
	b.forgetDownload(f, f.Received)
	f.State = driver.NotFetched
	switch {
	case f.over != "" || why != "":
		f.Reason = cmp.Or(f.over, why)
	case f.depot != nil && f.depot.deny:
		f.Reason = "the session refuses downloads"
	default:
		f.Reason = "the page, the network or the browser ended it"
	}
	b.tellDownload(f)
}

// dropFile removes what there is of the file, which is in any folder when it is not known whose it is.
func (b *Browser) dropFile(f *transfer) {
	depots := []*depot{f.depot}
	if f.page == nil {
		b.fetches.mu.Lock()
		depots = slices.AppendSeq(depots[:0], maps.Values(b.fetches.depots))
		b.fetches.mu.Unlock()
	}
	for _, d := range depots {
		if d != nil && d.folder != nil {
			d.folder.Drop(f.GUID)
		}
	}
}

// forgetDownload ends what is counted of a download under way.
func (b *Browser) forgetDownload(f *transfer, bytes int64) {
	b.fetches.mu.Lock()
	defer b.fetches.mu.Unlock()
	if b.fetches.fetching[f.GUID] == f {
		delete(b.fetches.fetching, f.GUID)
		b.fetches.used -= bytes
	}
}

// tellDownload hands the download's state to its page's loop.
func (b *Browser) tellDownload(f *transfer) {
	f.told = time.Now()
	if f.page != nil {
		f.page.inbox.Push(inbound{event: driver.Downloaded{Download: f.Download}})
	}
}
