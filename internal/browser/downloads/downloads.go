// Package downloads tracks the downloads of a browser's pages.
//
// A Tracker gives each session its own folder and reports the downloads of a page to that page. It cancels downloads that exceed the limits
// on concurrent downloads, files, or total bytes. A single goroutine must call Begins and Moves with the browser's events. All other
// methods are safe for concurrent use.
package downloads

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/downloaddir"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// maxURL limits the reported URL, in bytes, because data: URLs contain the whole file.
	maxURL = 2000
	// maxFilename limits the name that a page suggests, in characters.
	maxFilename = 1000
)

// Page is the part of a page that a Tracker needs.
type Page interface {
	// Target returns the page's target ID.
	Target() target.ID
	// Context returns the page's browser context. It is empty for the default context.
	Context() cdp.BrowserContextID
	// Holds reports whether a frame belongs to the page.
	Holds(frame cdp.FrameID) bool
	// IsBlank reports whether the page shows nothing: no document yet, or an empty one.
	IsBlank() bool
	// Discard closes the page, which was opened for a download and shows nothing.
	Discard()
	// DownloadBegan reports the start of a download of the page.
	DownloadBegan(d driver.Download)
	// DownloadMoved reports the progress of a download of the page.
	DownloadMoved(d driver.Download)
}

// Config selects where and how files are kept.
type Config struct {
	// Root is the directory for the sessions' folders. If empty, the browser chooses where files go.
	Root string
	// Keep reports whether files are kept after the browser has ended.
	Keep bool
	// MaxBytes limits the bytes that all sessions together may keep. Zero means 2 GiB.
	MaxBytes int64
	// Pages returns the pages of the browser.
	Pages  func() []Page
	Logger *slog.Logger
}

// Tracker tracks the downloads of one browser.
type Tracker struct {
	cfg     Config
	browser devtools.Session
	life    context.Context

	mu    sync.Mutex
	state state
}

// New returns the tracker of a browser. life ends with the browser.
func New(life context.Context, browser devtools.Session, cfg Config) *Tracker {
	return &Tracker{cfg: cfg, browser: browser, life: life, state: newState(cfg.MaxBytes)}
}

// Allow lets the pages of a context download into a folder of the given name, or denies their downloads. It may be called again to change
// that. It returns the folder's path, which is empty if the browser chooses where files go.
func (k *Tracker) Allow(ctx context.Context, id cdp.BrowserContextID, name string, deny bool) (dir string, err error) {
	s, err := k.open(id, name)
	if err != nil {
		return "", err
	}
	report := true
	params := cdpbrowser.SetDownloadBehaviorParams{BrowserContextID: id, EventsEnabled: &report, Behavior: cdpbrowser.SetDownloadBehaviorBehaviorDefault}
	if s.folder != nil {
		dir = s.folder.Dir()
		params.Behavior, params.DownloadPath = cdpbrowser.SetDownloadBehaviorBehaviorAllowAndName, s.folder.Incoming()
	}
	if deny {
		params.Behavior, params.DownloadPath = cdpbrowser.SetDownloadBehaviorBehaviorDeny, ""
	}
	if _, err := cdp.Call(ctx, k.browser, cdpbrowser.SetDownloadBehavior, params); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s.deny = deny
	return dir, nil
}

// open returns the session of a context, with its folder. It registers the session, so that the folder is removed with the context even if
// a later step fails.
func (k *Tracker) open(id cdp.BrowserContextID, name string) (*session, error) {
	k.mu.Lock()
	s := k.state.sessions[id]
	k.mu.Unlock()
	if s != nil {
		return s, nil
	}
	s = new(session)
	if k.cfg.Root != "" {
		var err error
		if s.folder, err = downloaddir.Open(k.cfg.Root, name); err != nil {
			return nil, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.sessions[id] = s
	return s, nil
}

// End cancels the downloads of a context that was closed and removes their files. If keep is set, it removes only incomplete files.
func (k *Tracker) End(id cdp.BrowserContextID, keep bool) error {
	k.cancelAll("the session was closed", func(t *transfer) bool { return t.context == id })
	k.mu.Lock()
	folder := k.state.end(id, keep)
	k.mu.Unlock()
	if folder == nil {
		return nil
	}
	return folder.Close(keep)
}

// Close removes the files of a browser that has ended, unless they are kept.
func (k *Tracker) Close() error {
	k.mu.Lock()
	ids := slices.Collect(maps.Keys(k.state.sessions))
	k.mu.Unlock()
	var err error
	for _, id := range ids {
		err = errors.Join(err, k.End(id, k.cfg.Keep))
	}
	return err
}

// PageGone cancels the downloads of a page that was closed.
func (k *Tracker) PageGone(id target.ID) {
	k.cancelAll("its tab was closed", func(t *transfer) bool { return t.page != nil && t.page.Target() == id })
}

// cancelAll cancels the downloads for which match returns true. It calls match with the lock held. The browser reports when the downloads
// are canceled.
func (k *Tracker) cancelAll(why string, match func(*transfer) bool) {
	k.mu.Lock()
	var due []*transfer
	for _, t := range k.state.fetching {
		if match(t) {
			due = append(due, t)
		}
	}
	k.mu.Unlock()
	for _, t := range due {
		k.cancel(t, why)
	}
}

func (k *Tracker) cancel(t *transfer, why string) {
	k.mu.Lock()
	t.canceled = cmp.Or(t.canceled, why)
	contexts := []cdp.BrowserContextID{t.context}
	if t.page == nil { // the context is unknown; the browser rejects the command in all other contexts
		contexts = slices.AppendSeq(contexts[:0], maps.Keys(k.state.sessions))
	}
	k.mu.Unlock()
	for _, id := range contexts {
		k.browser.Post(k.life, cdpbrowser.CommandCancelDownload, cdpbrowser.CancelDownloadParams{GUID: t.GUID, BrowserContextID: id})
	}
}

// TargetOpened records which page opened a target.
func (k *Tracker) TargetOpened(info *target.Info) {
	if info == nil || info.OpenerID == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.openers[info.TargetID] = info.OpenerID
}

// TargetGone forgets which page opened a target.
func (k *Tracker) TargetGone(id target.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.state.openers, id)
}

// owner returns the page that a frame's download belongs to: the frame's own page, or the opener of a window that has shown nothing yet. In
// the second case it also returns the window, which was opened only for the download.
func (k *Tracker) owner(frame cdp.FrameID) (owner, window Page) {
	pages := k.cfg.Pages()
	byID := make(map[target.ID]Page, len(pages))
	var found Page
	id := target.ID(frame)
	for _, p := range pages {
		byID[p.Target()] = p
		if p.Holds(frame) {
			found, id = p, p.Target()
		}
	}
	for range len(pages) {
		if found != nil && !found.IsBlank() {
			break
		}
		k.mu.Lock()
		opener := k.state.openers[id]
		k.mu.Unlock()
		up := byID[opener]
		if up == nil {
			break
		}
		if found != nil && found.Target() == target.ID(frame) {
			window = found
		}
		found, id = up, opener
	}
	return found, window
}

// Begins handles the start of a download.
func (k *Tracker) Begins(e cdpbrowser.EventDownloadWillBegin) {
	url := dom.WithoutUser(e.URL)
	name, _ := truncate.Head(e.SuggestedFilename, maxFilename)
	t := &transfer{Download: driver.Download{GUID: e.GUID, URL: url[:min(len(url), maxURL)], Filename: name, State: driver.Fetching}}
	var window Page
	if t.page, window = k.owner(e.FrameID); t.page != nil {
		t.context = t.page.Context()
	}
	if window != nil {
		window.Discard()
	}
	k.mu.Lock()
	refusal := k.state.begin(t)
	k.mu.Unlock()
	if refusal != "" {
		k.cancel(t, refusal)
	}
	if t.page != nil {
		t.page.DownloadBegan(t.Download)
	}
	k.report(t)
}

// Moves handles the progress of a download.
func (k *Tracker) Moves(e cdpbrowser.EventDownloadProgress) {
	k.mu.Lock()
	t := k.state.fetching[e.GUID]
	if t == nil {
		k.mu.Unlock()
		return
	}
	received := int64(max(0, e.ReceivedBytes))
	if e.State == cdpbrowser.DownloadProgressStateCanceled {
		received = t.Received
	}
	over := k.state.progress(t, received, int64(max(0, e.TotalBytes)))
	k.mu.Unlock()
	switch e.State {
	case cdpbrowser.DownloadProgressStateCompleted:
		k.complete(t, e.FilePath)
	case cdpbrowser.DownloadProgressStateCanceled:
		k.fail(t, "")
	default:
		if over && t.canceled == "" {
			k.cancel(t, fmt.Sprintf("downloads may keep %d bytes in all (--max-downloads-bytes of domtap serve)", k.state.max))
		}
		if time.Since(t.reported) >= reportEvery {
			k.report(t)
		}
	}
}

// complete gives a complete file its final name.
func (k *Tracker) complete(t *transfer, path string) {
	if t.canceled != "" { // the download completed before the cancellation
		k.fail(t, t.canceled)
		return
	}
	if !t.keeps() {
		t.Path = path
		k.forget(t)
	} else {
		kept, size, err := t.session.folder.Keep(t.GUID, t.Filename)
		if err != nil {
			k.cfg.Logger.Warn("a download was lost", "error", err)
			k.fail(t, "its file could not be saved: check the free space of the daemon's disk")
			return
		}
		t.Path, t.Total, t.Type = kept, size, mediaType(kept)
		k.mu.Lock()
		k.state.forget(t)
		k.state.kept(t, size)
		k.mu.Unlock()
	}
	t.State = driver.Fetched
	k.report(t)
}

// mediaType returns the media type that the content of a file has, or "" if the file cannot be read.
func mediaType(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	start, err := io.ReadAll(io.LimitReader(file, 512))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(http.DetectContentType(start), ";")
	return name
}

// fail removes the partial file of a download and reports the failure.
func (k *Tracker) fail(t *transfer, why string) {
	for _, s := range k.mayHold(t) {
		if s != nil && s.folder != nil {
			s.folder.Drop(t.GUID)
		}
	}
	k.forget(t)
	t.State, t.Reason = driver.NotFetched, t.reason(why)
	k.report(t)
}

// mayHold returns the sessions whose folder may hold the file. If the page is unknown, these are all sessions.
func (k *Tracker) mayHold(t *transfer) []*session {
	if t.page != nil {
		return []*session{t.session}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.state.sessions))
}

func (k *Tracker) forget(t *transfer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.forget(t)
}

// report sends the state of a download to its page.
func (k *Tracker) report(t *transfer) {
	t.reported = time.Now()
	if t.page != nil {
		t.page.DownloadMoved(t.Download)
	}
}
