package browser

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp/kb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/browser/page"
	"github.com/domtap/domtap/dom"
)

// Do implements actor.Hands. Input is the browser's own (trusted events), never a script's.
func (p *Page) Do(ctx context.Context, a actor.Action) error {
	switch a.Kind {
	case actor.Click:
		return p.click(ctx, a)
	case actor.Hover:
		at, err := p.locate(ctx, a, page.LocateRequest{Scroll: true})
		if err != nil {
			return err
		}
		return p.mouse(ctx, at, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved})
	case actor.Scroll:
		_, err := p.locate(ctx, a, page.LocateRequest{Scroll: true})
		return err
	case actor.Type, actor.Fill:
		return p.enter(ctx, a)
	case actor.Press:
		if a.Ref != dom.NoRef {
			if _, err := p.locate(ctx, a, page.LocateRequest{Scroll: true, Focus: true}); err != nil {
				return err
			}
		}
		return p.press(ctx, a.Text)
	}
	return actor.Errorf(actor.Invalid, "unknown action %d", a.Kind)
}

// located is a point in the top-level viewport with what stands there.
type located struct {
	page.Location
	agent *agent
}

// locate brings the element into view and finds the point to act on, in coordinates of the top-level
// viewport.
func (p *Page) locate(ctx context.Context, a actor.Action, req page.LocateRequest) (located, error) {
	agent, err := p.waitAgent(ctx, a.Frame)
	if err != nil {
		return located{}, err
	}
	req.Ref = uint32(a.Ref)
	var at located
	at.agent = agent
	if a.Document != "" && agent.document != a.Document {
		at.Error = "stale"
	} else if err := agent.call(ctx, "locate", req, &at.Location); err != nil {
		return located{}, p.failed(err)
	}
	if at.Error != "" {
		return located{}, refusal(a, at.Location)
	}
	if err := p.toTop(ctx, a.Frame, &at); err != nil {
		return located{}, err
	}
	return at, nil
}

// refusals say why an element cannot be acted on, and what to do.
var refusals = map[string]string{
	"hidden":     "it is not visible: read the page again, or scroll or open what hides it",
	"disabled":   "it is disabled: fill in what it waits for, then read the page again",
	"readonly":   "it is read-only",
	"uneditable": "it takes no text: click it, or use select or check",
}

func refusal(a actor.Action, at page.Location) error {
	ref := fmt.Sprint(a.Ref)
	if at.Error == "stale" {
		return &actor.Error{Kind: actor.Stale, Message: "ref " + ref + " is gone from the page: read the page again and use a new ref", Detail: map[string]string{"ref": ref}}
	}
	message, known := refusals[at.Error]
	detail := map[string]string{"ref": ref, "cause": at.Error}
	if !known {
		message = "it is covered by " + at.Detail + ": close or move that first"
		detail["covered_by"] = at.Detail
	}
	return &actor.Error{Kind: actor.NotActionable, Message: "ref " + ref + " cannot be used: " + message, Detail: detail}
}

// mouse sends one mouse event at a point.
func (p *Page) mouse(ctx context.Context, at located, e input.DispatchMouseEventParams) error {
	e.X, e.Y = at.X, at.Y
	if _, err := cdp.Call(ctx, p.main, input.DispatchMouseEvent, e); err != nil {
		return p.failed(err)
	}
	return nil
}

func (p *Page) click(ctx context.Context, a actor.Action) error {
	at, err := p.locate(ctx, a, page.LocateRequest{Scroll: true})
	if err != nil {
		return err
	}
	button := input.MouseButton(a.Button)
	if button == "" {
		button = input.MouseButtonLeft
	}
	modifiers, err := modifierBits(a.Modifiers)
	if err != nil {
		return err
	}
	if err := p.mouse(ctx, at, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, Modifiers: modifiers}); err != nil {
		return err
	}
	for n := int64(1); n <= max(1, int64(a.Clicks)); n++ {
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
			e := input.DispatchMouseEventParams{Type: kind, Button: button, ClickCount: n, Modifiers: modifiers}
			if err := p.mouse(ctx, at, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter focuses a field and types, behind what is there or in its place.
func (p *Page) enter(ctx context.Context, a actor.Action) error {
	at, err := p.locate(ctx, a, page.LocateRequest{Scroll: true, Focus: true, Editable: true})
	if err != nil {
		return err
	}
	command := "caretToEnd"
	if a.Kind == actor.Fill {
		command = "selectAll"
	}
	var selected page.Location
	if err := at.agent.call(ctx, command, page.LocateRequest{Ref: uint32(a.Ref)}, &selected); err != nil {
		return p.failed(err)
	}
	if selected.Error != "" {
		return refusal(a, selected)
	}
	if a.Kind == actor.Fill && selected.Selected && a.Text == "" {
		return p.press(ctx, "Backspace")
	}
	if isTemporal(at.Type) {
		return p.failed(at.agent.call(ctx, "setValue", setValue{Ref: uint32(a.Ref), Value: a.Text}, nil))
	}
	return p.insert(ctx, a.Text)
}

// setValue is the argument of the command "setValue".
type setValue struct {
	Ref   uint32 `json:"ref"`
	Value string `json:"value"`
}

// isTemporal tells the inputs whose pickers take no text.
func isTemporal(kind string) bool {
	switch kind {
	case "date", "time", "datetime-local", "month", "week":
		return true
	}
	return false
}

// insert types text. Keys carry printable text up to a length; beyond it goes in as one, as a paste
// or an input method would do.
func (p *Page) insert(ctx context.Context, text string) error {
	const byKeys = 200
	if len(text) > byKeys || strings.ContainsFunc(text, func(r rune) bool { return r > 0x7e }) {
		if _, err := cdp.Call(ctx, p.main, input.InsertText, input.InsertTextParams{Text: text}); err != nil {
			return p.failed(err)
		}
		return nil
	}
	for _, r := range text {
		if err := p.keys(ctx, kb.Encode(r), 0); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) keys(ctx context.Context, events []*input.DispatchKeyEventParams, modifiers int64) error {
	for _, e := range events {
		e.Modifiers |= modifiers
		if modifiers&^shiftBit != 0 && e.Type == input.DispatchKeyEventTypeChar {
			continue // with Control or Meta a key is a command, not text
		}
		if _, err := cdp.Call(ctx, p.main, input.DispatchKeyEvent, *e); err != nil {
			return p.failed(err)
		}
	}
	return nil
}

// namedKeys are the keys that have no character.
var namedKeys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Escape": kb.Escape, "Backspace": kb.Backspace, "Delete": kb.Delete,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
	"Home": kb.Home, "End": kb.End, "PageUp": kb.PageUp, "PageDown": kb.PageDown, "Insert": kb.Insert, "Space": " ",
	"F1": kb.F1, "F2": kb.F2, "F3": kb.F3, "F4": kb.F4, "F5": kb.F5, "F6": kb.F6,
	"F7": kb.F7, "F8": kb.F8, "F9": kb.F9, "F10": kb.F10, "F11": kb.F11, "F12": kb.F12,
}

const shiftBit = 8

var modifierNames = map[string]int64{"Alt": 1, "Control": 2, "Meta": 4, "Shift": shiftBit}

func modifierBits(names []string) (int64, error) {
	var bits int64
	for _, name := range names {
		bit, known := modifierNames[name]
		if !known {
			return 0, actor.Errorf(actor.Invalid, "unknown modifier %.20q: use Alt, Control, Meta or Shift", name)
		}
		bits |= bit
	}
	return bits, nil
}

// press presses one key with modifiers, written "Control+a".
func (p *Page) press(ctx context.Context, chord string) error {
	parts := strings.Split(chord, "+")
	name := parts[len(parts)-1]
	if name == "" { // "+" itself, alone or behind modifiers
		name, parts = "+", parts[:max(1, len(parts)-1)]
	}
	modifiers, err := modifierBits(parts[:len(parts)-1])
	if err != nil {
		return err
	}
	key := name
	if named, ok := namedKeys[name]; ok {
		key = named
	}
	runes := []rune(key)
	if len(runes) != 1 {
		return actor.Errorf(actor.Invalid, "unknown key %.30q: use one character or a name such as Enter, Tab, Escape, ArrowDown", name)
	}
	return p.keys(ctx, kb.Encode(runes[0]), modifiers)
}

// arrivalLimit bounds how long Settle waits for a navigation or a window that an action set off.
const arrivalLimit = 10 * time.Second

// Settle implements actor.Hands.
func (p *Page) Settle(ctx context.Context, limit time.Duration) error {
	agent, err := p.waitAgent(ctx, "")
	if err != nil {
		return err
	}
	err = agent.call(ctx, "settle", page.SettleRequest{Limit: limit.Milliseconds()}, nil)
	if err != nil && !isGoneContext(err) {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, arrivalLimit)
	defer cancel()
	if err := p.await(bounded, func() bool { return !p.navigating && p.opening == 0 }); err != nil && ctx.Err() != nil {
		return err
	}
	return p.barrier(ctx)
}

// AnswerDialog implements actor.Hands.
func (p *Page) AnswerDialog(ctx context.Context, accept bool, text string) error {
	_, err := cdp.Call(ctx, p.main, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{Accept: accept, PromptText: text})
	return err
}

// maxPicture bounds a full page's height in CSS pixels: beyond it the browser's own limits begin.
const maxPicture = 16384

// Screenshot implements actor.Hands.
func (p *Page) Screenshot(ctx context.Context, s actor.Shot) ([]byte, error) {
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
			clip = dom.Box{Width: m.CSSContentSize.Width, Height: min(m.CSSContentSize.Height, maxPicture)}
		} else {
			clip.X += float64(m.CSSLayoutViewport.PageX)
			clip.Y += float64(m.CSSLayoutViewport.PageY)
		}
	}
	if clip.Width > 0 {
		params.Clip = &cdppage.Viewport{X: clip.X, Y: clip.Y, Width: clip.Width, Height: clip.Height, Scale: 1}
	}
	res, err := cdp.Call(ctx, p.main, cdppage.CaptureScreenshot, params)
	if err != nil {
		return nil, p.failed(err)
	}
	return res.Data, nil
}

// toTop moves a point from a frame's viewport to the top-level one, frame by frame.
func (p *Page) toTop(ctx context.Context, frame dom.FrameID, at *located) error {
	for frame != "" {
		p.mu.Lock()
		var parent *agent
		var up cdp.FrameID
		if f := p.frames[p.cdpFrame(frame)]; f != nil {
			up = f.parent
			if pf := p.frames[up]; pf != nil {
				parent = pf.agent
			}
		}
		p.mu.Unlock()
		if parent == nil {
			return actor.Errorf(actor.Stale, "the frame of the element is gone: read the page again")
		}
		var host page.Location
		if err := parent.call(ctx, "hostOf", hostOf{Frame: string(frame)}, &host); err != nil {
			return p.failed(err)
		}
		if host.Error != "" {
			return actor.Errorf(actor.NotActionable, "the frame of the element is not visible: scroll or open what hides it")
		}
		at.X += host.X
		at.Y += host.Y
		frame = p.frameKey(up)
	}
	return nil
}

// hostOf is the argument of the command "hostOf".
type hostOf struct {
	Frame string `json:"frame"`
}
