package browser

import (
	"context"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/navigation"
)

// downloader adapts a Page to downloads.Page.
type downloader struct{ p *Page }

// Target implements downloads.Page.
func (d downloader) Target() target.ID { return d.p.id }

// Context implements downloads.Page.
func (d downloader) Context() cdp.BrowserContextID { return d.p.context.id }

// Holds implements downloads.Page.
func (d downloader) Holds(frame cdp.FrameID) bool {
	d.p.frames.Lock()
	defer d.p.frames.Unlock()
	return d.p.frames.Tree.Get(frame) != nil
}

// IsBlank implements downloads.Page. The document at about:blank may have content that its opener has written.
func (d downloader) IsBlank() bool {
	d.p.frames.Lock()
	url := d.p.frames.Tree.Main().URL
	d.p.frames.Unlock()
	return (url == "" || url == "about:blank") && !d.hasContent()
}

// contentPatience limits how long a page may take to say whether it has content. The browser's loop waits for it.
const contentPatience = 300 * time.Millisecond

// hasContent reports whether the body of the page's document has any content.
func (d downloader) hasContent() bool {
	ctx, cancel := context.WithTimeout(d.p.ctx, contentPatience)
	defer cancel()
	answer, err := cdp.Call(ctx, d.p.main, runtime.Evaluate, runtime.EvaluateParams{Expression: "document.body?.hasChildNodes() === true"})
	return err == nil && answer.Result != nil && string(answer.Result.Value) == "true"
}

// Discard implements downloads.Page.
func (d downloader) Discard() { d.p.end(nil) }

// DownloadBegan implements downloads.Page. The download may be the outcome of a navigation.
func (d downloader) DownloadBegan(download driver.Download) {
	d.p.navigator.Change(func(s *navigation.State) { s.Downloading(download) })
}

// DownloadMoved implements downloads.Page.
func (d downloader) DownloadMoved(download driver.Download) {
	d.p.inbox.Push(inbound{event: driver.DownloadProgressed{Download: download}})
}
