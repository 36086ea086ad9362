package input

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/chromedp/cdproto/input"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/input/outcome"
	keys "github.com/domtap/domtap/internal/browser/keyboard"
	"github.com/domtap/domtap/internal/retry"
)

// entryMethod is how text is entered.
type entryMethod uint8

const (
	// framed enters text in one insertion while its last key is down, but line by line into an editor.
	framed entryMethod = iota
	// whole enters text in one piece, even into an editor.
	whole
	// keyed enters text key by key.
	keyed
	// unsigned is keyed without currency signs, which fields for amounts of money add themselves.
	unsigned
)

// enterText types text, or replaces existing text. An editor that indents each entered line gets a second try with the whole text. A field
// whose page handles each key itself gets a second try key by key. The result is the result of the second try.
func (t *typing) enterText(ctx context.Context) (driver.DoResult, error) {
	if t.action.Focused && t.action.Ref == dom.NoRef {
		return t.typeToFocus(ctx)
	}
	result, again, err := t.enter(ctx, framed)
	if err == nil && again == framed {
		return t.makeTag(ctx, result)
	}
	if e, ok := errors.AsType[*apierr.Error](err); ok && t.action.Focused && e.Kind == apierr.NotActionable && e.Detail["cause"] == "uneditable" {
		return t.typeToFocus(ctx)
	}
	if again == framed || t.action.Kind != driver.Fill || err != nil && again != keyed {
		return result, err
	}
	t.action.Expected = nil // the first try may have changed the element
	result, _, err = t.enter(ctx, again)
	if err == nil {
		return t.makeTag(ctx, result)
	}
	return result, err
}

// makeTag presses Enter if a text was filled into a field that takes tags, because the text alone would be lost when the focus leaves the
// field. result is the result of the fill.
func (t *typing) makeTag(ctx context.Context, result driver.DoResult) (driver.DoResult, error) {
	if t.action.Kind != driver.Fill || t.action.Search || t.action.Text == "" || result.Detail != "" {
		return result, nil
	}
	agent, err := t.agentOf(ctx, t.action.Location)
	if err != nil {
		return result, nil // the text navigated
	}
	var tag outcome.Tag
	if err := call(ctx, agent, "armTag", nil, &tag); err != nil || !tag.Armed {
		if err != nil {
			disarm(ctx, []Agent{agent}) // it prevents that forms are submitted
		}
		return result, ctx.Err()
	}
	defer t.blockOtherKeys(ctx, agent)()
	enter, _ := keys.Chord("Enter", false)
	_, err = t.send(ctx, agent, enter)
	if asked := call(ctx, agent, "tagOutcome", nil, &tag); err == nil {
		err = asked
	}
	if err != nil {
		disarm(ctx, []Agent{agent})
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return result, err
	case err != nil:
		result.Detail = "ok, then Enter was pressed to add it as a tag, and the page was replaced: read the page"
	default:
		result.Detail, result.TagAdded = tag.Note(), tag.Made
	}
	return result, nil
}

// enter enters the text with a method. If the method is unsuitable for the element, it returns the method to try next, and framed
// otherwise.
func (t *typing) enter(ctx context.Context, method entryMethod) (result driver.DoResult, again entryMethod, err error) {
	a := t.action
	edit := "append"
	switch {
	case a.Kind == driver.Fill:
		edit = "replace"
	case a.Focused:
		edit = "keep"
	}
	agent, found, err := t.ready(ctx, a.Location, resolveRequest{Need: "focus", Edit: edit, Text: a.Text, Tag: a.Tag})
	if err != nil {
		return driver.DoResult{}, framed, err
	}
	if found.Done {
		if found.Held != strings.TrimSpace(a.Text) {
			return driver.DoResult{Detail: driver.Holds + strconv.Quote(found.Held)}, framed, nil
		}
		return driver.DoResult{}, framed, nil
	}
	stop := t.blockOtherKeys(ctx, agent)
	defer stop()
	if found.Rich {
		if err := call(ctx, agent, "selectionHeard", nil, nil); err != nil {
			return driver.DoResult{}, framed, err
		}
	}
	if method == framed && t.mayNeedKeys(found) {
		if enters, err := t.page.EntersCharacters(ctx, agent); err == nil && enters {
			method = keyed
		}
	}
	keyEvents := t.keyEvents(a, found, method)
	if len(keyEvents) == 0 {
		disarm(ctx, []Agent{agent})
		return driver.DoResult{}, framed, nil
	}
	if left, err := t.send(ctx, agent, keyEvents); err != nil {
		disarm(ctx, []Agent{agent})
		return driver.DoResult{}, framed, err
	} else if left {
		result, err = outcome.NavigatedTooSoon(a)
		return result, framed, err
	}
	return t.verifyTyped(ctx, agent, a, method)
}

// maxKeyed is the maximum length of a text that is entered key by key without need, in bytes.
const maxKeyed = 64

// mayNeedKeys reports whether a text is of a kind whose fields may enter each character themselves, such as an amount of money. The keys of
// line ends and tabs would do something else.
func (t *typing) mayNeedKeys(found outcome.Element) bool {
	a := t.action
	return a.Kind == driver.Fill && !found.Rich && !found.Proxy && len(a.Text) <= maxKeyed && strings.ContainsAny(a.Text, "0123456789") && !strings.ContainsAny(a.Text, "\r\n\t")
}

// isSign reports whether a character is a currency sign, or a space beside it.
func isSign(r rune) bool { return r == ' ' || unicode.Is(unicode.Sc, r) }

// isOtherAmount reports whether a field holds other digits than a text with a currency sign, because the page took the sign for a digit.
func isOtherAmount(held, text string) bool {
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}
	return held != "" && strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Sc, r) }) &&
		strings.Map(digits, held) != strings.Map(digits, text)
}

// keyEvents returns the events that enter a text. Fill sends one insertion between the keydown and keyup of the last character. Pages with
// key listeners see a single key press with the whole text, and long text costs as much as short text.
func (t *typing) keyEvents(a driver.Action, found outcome.Element, how entryMethod) []keys.Event {
	switch {
	case how == whole && found.Rich:
		return []keys.Event{{Text: a.Text}}
	case how == keyed:
		return keys.Text(a.Text)
	case how == unsigned:
		return keys.Text(strings.TrimFunc(a.Text, isSign))
	case a.Kind == driver.Type && found.End:
		end, _ := keys.Chord("End", false)
		return append(end, keys.Text(a.Text)...)
	case a.Kind == driver.Type:
		return keys.Text(a.Text)
	case found.Proxy:
		return append(selectAll(t.page.Mac()), replacement(a.Text)...)
	case a.Text == "" && !found.Full:
		return nil
	case a.Text == "":
		erase, _ := keys.Chord("Backspace", t.page.Mac())
		return erase
	case found.Rich:
		return lines(a.Text)
	}
	return keys.Framed(a.Text)
}

// selectAll selects everything that an editor shows. Its field may hold only a part of that.
func selectAll(mac bool) []keys.Event {
	all, _ := keys.Chord("ControlOrMeta+a", mac)
	return all
}

// replacement replaces the selection with a text.
func replacement(text string) []keys.Event {
	if text == "" {
		erase, _ := keys.Chord("Backspace", false)
		return erase
	}
	return []keys.Event{{Text: text}}
}

// lines enters a text into an editor line by line. It breaks lines with Shift+Enter, because Enter alone sends a message in many editors.
func lines(text string) []keys.Event {
	var events []keys.Event
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i > 0 {
			softBreak, _ := keys.Chord("Shift+Enter", false)
			events = append(events, softBreak...)
		}
		if line != "" {
			events = append(events, keys.Event{Text: line})
		}
	}
	return events
}

// blockOtherKeys keeps typed keys from all other documents until stop is called.
func (t *typing) blockOtherKeys(ctx context.Context, agent Agent) (stop func()) {
	p := &path{location: t.action.Location, steps: []step{{frame: t.action.Frame, agent: agent}}}
	t.blockOthers(ctx, p)
	return func() { disarm(ctx, t.page.Others(p.frames())) }
}

// inFlight limits how many keyboard events are in flight together.
const inFlight = 64

// send sends events in order. Enter may navigate, so send waits before the events that follow it. left reports that the document was gone,
// and that the remaining events were not sent.
func (t *typing) send(ctx context.Context, agent Agent, events []keys.Event) (left bool, err error) {
	main := t.page.Main()
	var batch []devtools.Step
	flush := func() error {
		err := main.Run(ctx, batch...)
		batch = batch[:0]
		return err
	}
	down := 0 // a batch must not end while a key is down, because it may be the last
	for i, e := range events {
		switch {
		case e.Key != nil:
			if down++; e.Key.Type == input.DispatchKeyEventTypeKeyUp {
				down -= 2
			}
			batch = append(batch, devtools.Step{Method: input.CommandDispatchKeyEvent, Params: e.Key})
		case e.Composed:
			end := int64(len(utf16.Encode([]rune(e.Text))))
			batch = append(batch, devtools.Step{Method: input.CommandImeSetComposition, Params: input.ImeSetCompositionParams{Text: e.Text, SelectionStart: end, SelectionEnd: end}})
			fallthrough
		default:
			batch = append(batch, devtools.Step{Method: input.CommandInsertText, Params: input.InsertTextParams{Text: e.Text}})
		}
		entered := e.Key != nil && e.Key.Key == "Enter" && e.Key.Type == input.DispatchKeyEventTypeKeyUp
		if len(batch) >= inFlight && down <= 0 || entered {
			if err := flush(); err != nil {
				return false, err
			}
		}
		if entered && i < len(events)-1 && !documentExists(ctx, agent) {
			return true, nil
		}
	}
	return false, flush()
}

// documentExists reports whether the document still exists to guard the next keys.
func documentExists(ctx context.Context, agent Agent) bool {
	return agent == nil || call(ctx, agent, "guarding", nil, nil) == nil || ctx.Err() != nil
}

// press presses a chord.
func (t *typing) press(ctx context.Context) (driver.DoResult, error) {
	a := t.action
	if t.held != nil && t.held.dragged != nil && a.Text == "Escape" {
		return t.cancelDrag(ctx, t.held)
	}
	events, err := keys.Chord(a.Text, t.page.Mac())
	if err != nil {
		return driver.DoResult{}, apierr.Errorf(apierr.Invalid, "%s", err)
	}
	if a.Ref == dom.NoRef {
		return t.pressAtFocus(ctx, events)
	}
	agent, _, err := t.ready(ctx, a.Location, resolveRequest{Need: "focus", Text: pressedText(a)})
	if err != nil {
		return driver.DoResult{}, err
	}
	defer t.blockOtherKeys(ctx, agent)()
	if left, err := t.sendChord(ctx, agent, events); err != nil {
		disarm(ctx, []Agent{agent})
		return driver.DoResult{}, err
	} else if left {
		return outcome.NavigatedTooSoon(a)
	}
	result, _, err := t.verifyTyped(ctx, agent, a, keyed)
	return result, err
}

// sendChord presses a chord repeatedly, or for the action's duration. left is as in send.
func (t *typing) sendChord(ctx context.Context, agent Agent, events []keys.Event) (left bool, err error) {
	if t.action.Hold > 0 {
		return false, t.holdChord(ctx, events)
	}
	for n := range max(1, t.action.Repeat) {
		if n > 0 && !documentExists(ctx, agent) {
			return true, nil
		}
		if _, err := t.send(ctx, agent, events); err != nil {
			return false, err
		}
	}
	return false, nil
}

// A held key repeats after repeatDelay, every repeatEvery, as on most keyboards.
const (
	repeatDelay = 500 * time.Millisecond
	repeatEvery = time.Second / 30
)

// holdChord presses the keys of a chord, holds them, and releases them, even if ctx ends.
func (t *typing) holdChord(ctx context.Context, events []keys.Event) error {
	press, again, rest, ok := keys.Held(events)
	if !ok {
		return apierr.Errorf(apierr.Invalid, "%q cannot be held: no key of the keyboard types it", t.action.Text)
	}
	_, err := t.send(ctx, nil, press)
	if err == nil {
		err = t.repeatKey(ctx, again)
	}
	for _, e := range rest {
		up := t.release(ctx, devtools.Step{Method: input.CommandDispatchKeyEvent, Params: e.Key})
		if err == nil {
			err = up
		}
	}
	return err
}

// repeatKey repeats a key while it is held.
func (t *typing) repeatKey(ctx context.Context, again keys.Event) error {
	end, pause := time.Now().Add(t.action.Hold), repeatDelay
	for {
		left := time.Until(end)
		if err := retry.Pause(ctx, min(left, pause)); err != nil || left <= pause {
			return err
		}
		pause = repeatEvery
		if _, err := t.send(ctx, nil, []keys.Event{again}); err != nil {
			return err
		}
	}
}

// leave takes the focus from the focused element of the frame.
func (t *typing) leave(ctx context.Context) (driver.DoResult, error) {
	agent, err := t.page.Agent(ctx, t.action.Frame)
	if err == nil {
		err = call(ctx, agent, "leaveField", nil, nil)
	}
	return driver.DoResult{}, err
}

// choose selects options.
func (t *typing) choose(ctx context.Context) (driver.DoResult, error) {
	values := t.action.Values
	if values == nil {
		values = []string{}
	}
	_, found, err := t.ready(ctx, t.action.Location, resolveRequest{Need: "focus", Values: values})
	switch {
	case err != nil:
		return driver.DoResult{}, err
	case found.Same:
		return driver.DoResult{Detail: "already selected"}, nil
	}
	return driver.DoResult{}, nil
}

// checkedLimit bounds how long a page may take to update a checkbox after a click.
const checkedLimit = time.Second

// check checks or unchecks an element.
func (t *pointer) check(ctx context.Context) (driver.DoResult, error) {
	want := t.action.Kind == driver.Check
	s := t.action.Location
	for range 2 {
		agent, found, err := t.ready(ctx, s, resolveRequest{Need: "point", Want: &want})
		if err != nil {
			return driver.DoResult{}, err
		}
		if isChecked(found.Checked, want) {
			return driver.DoResult{Detail: "already " + word(want)}, nil
		}
		result, err := t.click(ctx)
		if err != nil && result.Delivered != driver.DeliveredPart {
			return result, err
		}
		t.action.Expected, s.Expected = nil, nil // the click may have changed the element
		var got outcome.Element
		took := map[string]any{"ref": uint32(s.Ref), "want": want, "patience": checkedLimit.Milliseconds()}
		if gone := call(ctx, agent, "waitChecked", took, &got); gone != nil {
			if ctx.Err() != nil {
				return driver.DoResult{}, gone
			}
			return result, err // the click led to another document
		}
		switch {
		case err != nil && got.Error != "":
			return result, err // the press may have changed the state, so only the state counts
		case got.Error == "":
			return driver.DoResult{}, nil
		case got.Error == "stale" && result.Detail != "":
			return driver.DoResult{Delivered: driver.DeliveredPart}, &apierr.Error{Kind: apierr.NotDelivered, Detail: map[string]string{"ref": fmt.Sprint(s.Ref), "cause": "removed"},
				Message: fmt.Sprintf("ref %d was pressed, but the page removed it before the click: read the page to see whether it is %s", s.Ref, word(want))}
		case got.Error == "stale":
			return driver.DoResult{Detail: "ok, clicked: the page then replaced it, so its state is unknown"}, nil
		case found.Checked != "mixed":
			return driver.DoResult{Delivered: driver.DeliveredPart}, t.refusal(s, got)
		}
		// The state was mixed. The first click made it checked or unchecked, and the second click inverts it.
	}
	return driver.DoResult{Delivered: driver.DeliveredPart}, t.refusal(s, outcome.Element{Error: "unchanged"})
}

func isChecked(state string, want bool) bool { return state == fmt.Sprint(want) }

func word(checked bool) string {
	if checked {
		return "checked"
	}
	return "unchecked"
}
