package browser

import (
	"context"
	"os"
	"slices"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/hands"
	"github.com/domtap/domtap/browser/link"
	"github.com/domtap/domtap/dom"
)

// Do implements actor.Hands. Input is the browser's own (trusted events), never a script's.
func (p *Page) Do(ctx context.Context, a actor.Action) (actor.Deed, error) {
	p.comeForward(ctx)
	done, err := p.context.acts(ctx)
	if err != nil {
		return actor.Deed{}, err
	}
	defer done()
	do := func() (actor.Deed, error) { return hands.New(handled{p}).Do(ctx, a) }
	if use := hands.UsesClipboard(a, p.browser.mac); use != (hands.ClipboardUse{}) {
		return p.context.withClipboard(ctx, use, do)
	}
	return do()
}

// handled is a page as package hands sees it.
type handled struct{ p *Page }

func (h handled) Main() link.Session     { return h.p.main }
func (h handled) Failed(err error) error { return h.p.failed(err) }
func (h handled) Mac() bool              { return h.p.browser.mac }

func (h handled) Agent(ctx context.Context, frame dom.FrameID) (hands.Agent, error) {
	a, err := h.p.waitAgent(ctx, frame)
	if err != nil {
		return nil, err
	}
	return handledAgent{a}, nil
}

func (h handled) Parent(frame dom.FrameID) (dom.FrameID, bool) {
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	f := h.p.frames[h.p.cdpFrame(frame)]
	if f == nil || h.p.frames[f.parent] == nil {
		return "", false
	}
	return h.p.frameKey(f.parent), true
}

func (h handled) Others(frames []dom.FrameID) []hands.Agent {
	var others []hands.Agent
	for _, o := range h.p.agents() {
		if !slices.Contains(frames, h.p.frameKey(o.id)) && !h.p.isLate(o.agent) {
			others = append(others, handledAgent{o.agent})
		}
	}
	return others
}

func (h handled) Expect(method string) (event <-chan *cdproto.Message, stop func()) {
	ch := make(chan *cdproto.Message, 1)
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.p.expected[method] = ch
	return ch, func() {
		h.p.mu.Lock()
		defer h.p.mu.Unlock()
		delete(h.p.expected, method)
	}
}

// met hands an event to the action that expects it; false when none does.
func (p *Page) met(msg *cdproto.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ch := p.expected[string(msg.Method)]; ch != nil {
		select {
		case ch <- msg:
		default: // the first one counts
		}
		return true
	}
	return false
}

// Folder makes a folder that is removed when the page has ended.
func (h handled) Folder() (string, error) {
	dir, err := os.MkdirTemp(h.p.browser.process.Dir(), "domtap-upload-")
	if err != nil {
		return "", err
	}
	h.p.mu.Lock()
	defer h.p.mu.Unlock()
	h.p.folders = append(h.p.folders, dir)
	return dir, nil
}

// removeFolders removes what Folder made.
func (p *Page) removeFolders() {
	p.mu.Lock()
	folders := p.folders
	p.folders = nil
	p.mu.Unlock()
	for _, dir := range folders {
		if err := os.RemoveAll(dir); err != nil {
			p.logger.Warn("uploaded files are left behind", "error", err)
		}
	}
}

// handledAgent is an agent as package hands sees it.
type handledAgent struct{ a *agent }

func (h handledAgent) Document() string      { return h.a.document }
func (h handledAgent) Session() link.Session { return h.a.session }

func (h handledAgent) Send(ctx context.Context, command string, argument any) (*link.Call, error) {
	params := h.a.params(command, argument)
	params.AwaitPromise, params.UserGesture = true, true
	return h.a.session.Conn.Send(ctx, h.a.session.ID, runtime.CommandCallFunctionOn, params)
}

func (h handledAgent) Handle(ctx context.Context, command string, argument any) (runtime.RemoteObjectID, error) {
	params := h.a.params(command, argument)
	params.ReturnByValue = false
	var answer runtime.CallFunctionOnResult
	if err := h.a.session.Call(ctx, runtime.CommandCallFunctionOn, params, &answer); err != nil || answer.Result == nil {
		return "", err
	}
	return answer.Result.ObjectID, nil
}

// maxPicture bounds a picture's width and height in CSS pixels: beyond it the browser's own limits begin.
const maxPicture = 16384

// Screenshot implements actor.Hands.
func (p *Page) Screenshot(ctx context.Context, s actor.Shot) ([]byte, error) {
	if !p.context.masks().IsZero() {
		return p.veiledShot(ctx, s)
	}
	params := cdppage.CaptureScreenshotParams{Format: cdppage.CaptureScreenshotFormat(s.Format)}
	if s.Quality > 0 && s.Format != "png" {
		q := int64(s.Quality)
		params.Quality = &q
	}
	yes := true
	params.OptimizeForSpeed = &yes
	clip := s.Clip
	if s.FullPage || clip.Width > 0 {
		m, err := cdp.Call(ctx, p.main, cdppage.GetLayoutMetrics, cdp.Empty{})
		if err != nil {
			return nil, p.failed(err)
		}
		params.CaptureBeyondViewport = &yes
		if s.FullPage {
			clip = dom.Box{Width: min(m.CSSContentSize.Width, maxPicture), Height: min(m.CSSContentSize.Height, maxPicture)}
		} else {
			clip.Width, clip.Height = min(clip.Width, maxPicture), min(clip.Height, maxPicture)
			clip.X += float64(m.CSSLayoutViewport.PageX)
			clip.Y += float64(m.CSSLayoutViewport.PageY)
		}
	}
	if clip.Width > 0 {
		params.Clip = &cdppage.Viewport{X: clip.X, Y: clip.Y, Width: clip.Width, Height: clip.Height, Scale: 1}
	}
	return p.capture(ctx, params)
}

// capture takes one picture.
func (p *Page) capture(ctx context.Context, params cdppage.CaptureScreenshotParams) ([]byte, error) {
	defer p.stayInFront(ctx)()
	res, err := cdp.Call(ctx, p.main, cdppage.CaptureScreenshot, params)
	if err != nil {
		return nil, p.failed(err)
	}
	return res.Data, nil
}
