package browser

import (
	"github.com/chromedp/cdproto/cdp"
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

// IsBlank implements downloads.Page.
func (d downloader) IsBlank() bool {
	d.p.frames.Lock()
	defer d.p.frames.Unlock()
	url := d.p.frames.Tree.Main().URL
	return url == "" || url == "about:blank"
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
