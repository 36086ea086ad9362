// Package script converts a recording to programs that repeat the actions of its clients: a shell script of domtap commands, and a Go test
// on package client. The timeline provides the actions; the recorded states provide names for elements, in place of refs.
//
// What the package guarantees:
//
//   - A target by role and name matches exactly one element of the recorded state; otherwise a comment states that this is not certain.
//   - Every text from the page or the file is quoted. It always remains one shell word, one Go string, or one comment line, and none of
//     its characters reaches a terminal as a control character.
//   - Typed text that is masked or missing in the recording is read from the environment.
//
// The package is pure: its input is entries and states, its output is text.
package script

import (
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Recording is the input of New.
type Recording struct {
	// ID and Tab identify the recording and its tab.
	ID, Tab string
	// Started is the start time of the recording.
	Started *timestamppb.Timestamp
	// Entries holds the newest version of each timeline entry, ordered by id.
	Entries []*domtapv1.TimelineEntry
	// First is the first state. It may be nil.
	First *dom.Snapshot
	// UpTo returns the newest state of an epoch whose revision is at most the given one, or nil if there is none.
	UpTo func(epoch string, revision uint64) *dom.Snapshot
}

// Script is the sequence of actions of a program. Shell and Go print it.
type Script struct {
	about  string
	url    value
	orders []order
	inputs []input
}

// value is a known text, or the name of an environment variable that contains it.
type value struct {
	text string
	// input is the name of the variable. It is empty if the text is known.
	input string
}

// input is an environment variable that a program needs.
type input struct {
	name string
	// what describes the value with words from the page.
	what string
}

// order is one line of a program.
type order struct {
	// kind is a comment, the kind of a step, or one of these: open, goto, back, forward, reload; accept, answer or dismiss a dialog; wait
	// for the target, a text or a URL.
	kind   string
	target *domtapv1.Target
	value  value
	// options holds the options to select.
	options []string
	// submit presses Enter after typing.
	submit bool
	// click holds the parameters of a click that is not a single left click.
	click *domtapv1.ClickStep
	// press holds the parameters of a key press that is not a single press.
	press *domtapv1.PressStep
	// mouse holds the mouse steps.
	mouse []mousePart
}

const comment = "comment"

// New converts a recording to a Script.
func New(r Recording) *Script {
	b := &builder{from: r, last: r.First, named: map[string]bool{}}
	b.out.about = fmt.Sprintf("recording %s of tab %s", oneLine(r.ID), oneLine(r.Tab))
	b.out.url = b.address(b.start())
	for _, e := range r.Entries {
		b.entry(e)
	}
	return &b.out
}

// builder builds a Script, entry by entry.
type builder struct {
	from Recording
	out  Script
	// last is the state after the previous turn.
	last *dom.Snapshot
	// dialog is the last dialog of the page.
	dialog *domtapv1.Dialog
	// opened reports whether the recording contains the call that opened the tab.
	opened bool
	// holding reports that the last order is a mouse order whose button is still down.
	holding bool
	// named holds the names of inputs in use.
	named map[string]bool
}

// start returns the URL at which the script opens the tab: the URL that the first client opened, or else the URL of the first state.
func (b *builder) start() string {
	first := ""
	for _, e := range b.from.Entries {
		if e.GetMethod() == "OpenTab" {
			b.opened = true
			continue
		}
		if first = e.GetNavigation().GetUrl(); first != "" || isTurn(e) {
			break
		}
	}
	blank := b.from.First == nil || b.from.First.URL == "" || b.from.First.URL == "about:blank"
	switch {
	case first != "" && (b.opened || blank):
		return first
	case blank:
		return "about:blank"
	}
	return b.from.First.URL
}

func isTurn(e *domtapv1.TimelineEntry) bool { return e.GetTurn() != nil && e.GetMethod() != "CloseTab" }

func (b *builder) add(o order) { b.out.orders = append(b.out.orders, o) }

// say adds a comment to the script.
func (b *builder) say(format string, args ...any) {
	b.add(order{kind: comment, value: value{text: oneLine(fmt.Sprintf(format, args...))}})
}

// address returns a URL as a value. It is an input if the URL has credentials that are missing in the recording.
func (b *builder) address(url string) value {
	if strings.Contains(url, "***") {
		return b.input("URL", "the address "+url)
	}
	return value{text: url}
}

// entry adds the action of a timeline entry.
func (b *builder) entry(e *domtapv1.TimelineEntry) {
	switch {
	case e.GetDialog() != nil:
		b.dialog = e.GetDialog()
	case e.GetPopup() != nil:
		b.say("the page opened tab %s at %s: what was done there is in another recording", e.GetPopup().GetTabId(), e.GetPopup().GetUrl())
	case !isTurn(e):
	case !b.opened && b.from.Started != nil && e.GetTime().AsTime().Before(b.from.Started.AsTime()):
		// The call ended before the recording began, so its effect is part of the first state.
	case e.GetState() == domtapv1.TimelineState_TIMELINE_STATE_FAILED:
		b.say("%s failed: %s: %s", what(e), e.GetReason(), e.GetError())
	case e.GetState() != domtapv1.TimelineState_TIMELINE_STATE_DONE:
		b.say("%s had not ended when the recording did", what(e))
	default:
		b.turn(e)
	}
}

// what describes a call and its steps.
func what(e *domtapv1.TimelineEntry) string {
	words := []string{e.GetMethod()}
	for _, s := range e.GetTurn().GetSteps() {
		t := s.GetTarget()
		for _, word := range []string{s.GetKind(), t.GetRole(), t.GetName(), t.GetText(), t.GetLabel(), t.GetPlaceholder(), t.GetTestId(), t.GetSelector()} {
			if word != "" {
				words = append(words, word)
			}
		}
	}
	return strings.Join(words, " ")
}

// turn adds the actions of a successful call.
func (b *builder) turn(e *domtapv1.TimelineEntry) {
	m := &moment{b.seen(e), b.last}
	after := b.from.UpTo(e.GetEpoch(), e.GetRevisionTo())
	if after != nil {
		b.last = after
	}
	switch e.GetMethod() {
	case "GoBack":
		b.add(order{kind: "back"})
	case "GoForward":
		b.add(order{kind: "forward"})
	case "Reload":
		b.add(order{kind: "reload"})
	case "AnswerDialog":
		b.answer()
	case "Navigate", "Interact", "FillForm":
		if url := e.GetTurn().GetUrl(); url != "" {
			b.add(order{kind: "goto", value: b.address(url)})
		}
		for _, s := range e.GetTurn().GetSteps() {
			b.step(s, m)
		}
		b.holding = false
		b.outcome(e.GetTurn(), after)
	case "CallTool": // the script does not wait for the effect of a tool that it cannot call
		for _, s := range e.GetTurn().GetSteps() {
			b.step(s, m)
		}
	default:
		b.say("not done: %s: what it did is not in the recording", e.GetMethod())
	}
}

// answer adds the answer to the open dialog.
func (b *builder) answer() {
	switch d := b.dialog; {
	case d.GetAnswer() == domtapv1.DialogAnswer_DIALOG_ANSWER_DISMISSED:
		b.add(order{kind: "dismiss"})
	case d.GetAnswer() != domtapv1.DialogAnswer_DIALOG_ANSWER_ACCEPTED:
		b.say("not done: AnswerDialog: the recording does not have the answer")
	case d.GetType() == domtapv1.DialogType_DIALOG_TYPE_PROMPT:
		b.add(order{kind: "answer", value: b.input("ANSWER", "the answer to the prompt "+d.GetMessage())})
	default:
		b.add(order{kind: "accept"})
	}
	b.dialog = nil
}

// maxStates limits how many states of a turn are examined.
const maxStates = 64

// seen returns the states from the start of a turn to its end, without repetitions.
func (b *builder) seen(e *domtapv1.TimelineEntry) (out []*dom.Snapshot) {
	from, to := e.GetRevisionFrom(), e.GetRevisionTo()
	for i := uint64(0); from+i <= to && i < maxStates; i++ {
		at := from + i
		if i == maxStates-1 {
			at = to
		}
		s := b.from.UpTo(e.GetEpoch(), at)
		if s != nil && (len(out) == 0 || out[len(out)-1] != s) {
			out = append(out, s)
		}
	}
	return out
}

// outcome adds a wait for the last change that a person would notice after a turn, or else for the URL to which the turn led. It does not
// wait for elements that are gone.
func (b *builder) outcome(t *domtapv1.TimelineTurn, after *dom.Snapshot) {
	if after == nil {
		return
	}
	for _, o := range t.GetOutcome() {
		text, _, _ := strings.Cut(o.GetText(), "…")
		text = strings.TrimSpace(text)
		switch o.GetKind() {
		case domtapv1.OutcomeKind_OUTCOME_KIND_ALERT, domtapv1.OutcomeKind_OUTCOME_KIND_STATUS, domtapv1.OutcomeKind_OUTCOME_KIND_TOAST,
			domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG:
			if !o.GetGone() && !isMasked(text) && shows(after, text) {
				b.add(order{kind: "text", value: value{text: text}})
				return
			}
		}
	}
	if t.GetVerdict() != domtapv1.Verdict_VERDICT_NAVIGATED {
		return
	}
	if at, err := url.Parse(after.URL); err == nil && len(at.EscapedPath()) > 1 && !strings.ContainsAny(at.EscapedPath(), "*") {
		b.add(order{kind: "url", value: value{text: at.EscapedPath()}})
	}
}

// shows reports whether a state contains a text.
func shows(s *dom.Snapshot, text string) bool {
	for el := range s.Elements.All() {
		if text != "" && strings.Contains(strings.ToLower(el.WholeText()), strings.ToLower(text)) {
			return true
		}
	}
	return false
}
