// Package script makes programs of a recording that do again what clients did: a shell script of domtap commands, and a Go test on
// package client. The timeline says what was done; the recorded states say how its elements are named without refs.
//
// What the package guarantees:
//
//   - A target by role and name means one element of the recorded state alone, or a comment says that this is not known.
//   - Every text of the page and of the file is quoted: whatever it is, it stays one word of the shell, one string of Go, or one line
//     of a comment, and none of its characters is sent to a terminal as a control character.
//   - What was typed and is masked, or is not in the recording, is read from the environment.
//
// The package is pure: entries and states in, text out.
package script

import (
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Recording is what a program is made of.
type Recording struct {
	// ID and Tab name the recording and its tab.
	ID, Tab string
	// Started is when the recording began.
	Started *timestamppb.Timestamp
	// Entries is the newest version of each entry of the timeline, in the order of their ids.
	Entries []*domtapv1.TimelineEntry
	// First is the first state; nil: there is none.
	First *dom.Snapshot
	// UpTo returns the newest state of an epoch whose revision is at most the given one; nil: there is none.
	UpTo func(epoch string, revision uint64) *dom.Snapshot
}

// Script is what is to be done, in order. Shell and Go print it.
type Script struct {
	about  string
	url    value
	orders []order
	inputs []input
}

// value is a text that is known, or that the environment has.
type value struct {
	text string
	// input is the name of a variable; empty: the text is known.
	input string
}

// input is a variable of the environment that a program needs.
type input struct {
	name string
	// what says of what it is the value, in words of the page.
	what string
}

// order is one line of a program.
type order struct {
	// kind is a comment, or what is done: open, goto, back, forward, reload, accept, answer or dismiss a dialog, wait for the
	// target, a text or a url, or the kind of a step.
	kind   string
	target *domtapv1.Target
	value  value
	// options are those that a select gets.
	options []string
	// submit says that Enter is pressed after typing.
	submit bool
	// click says how a click is done that is not a single one of the left button.
	click *domtapv1.ClickStep
	// press says how a key is pressed that is not pressed once.
	press *domtapv1.PressStep
	// mouse has the steps of the mouse.
	mouse []mousePart
}

const comment = "comment"

// New makes the program of a recording.
func New(r Recording) *Script {
	b := &builder{from: r, last: r.First, named: map[string]bool{}}
	b.out.about = fmt.Sprintf("recording %s of tab %s", oneLine(r.ID), oneLine(r.Tab))
	b.out.url = b.address(b.start())
	for _, e := range r.Entries {
		b.entry(e)
	}
	return &b.out
}

// builder makes a program, entry by entry.
type builder struct {
	from Recording
	out  Script
	// last is the state after the turn before.
	last *dom.Snapshot
	// dialog is the last dialog of the page.
	dialog *domtapv1.Dialog
	// opened says that the recording has the call that opened the tab.
	opened bool
	// holding says that the last order is one of the mouse, whose button is still down.
	holding bool
	// named has the names of inputs.
	named map[string]bool
}

// start is the URL that the tab is opened at: the one that its first client opened, else that of the first state.
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

// say adds a comment.
func (b *builder) say(format string, args ...any) {
	b.add(order{kind: comment, value: value{text: oneLine(fmt.Sprintf(format, args...))}})
}

// address is a URL, or an input for one whose credentials are not in the recording.
func (b *builder) address(url string) value {
	if strings.Contains(url, "***") {
		return b.input("URL", "the address "+url)
	}
	return value{text: url}
}

// entry adds what an entry of the timeline did.
func (b *builder) entry(e *domtapv1.TimelineEntry) {
	switch {
	case e.GetDialog() != nil:
		b.dialog = e.GetDialog()
	case e.GetPopup() != nil:
		b.say("the page opened tab %s at %s: what was done there is in another recording", e.GetPopup().GetTabId(), e.GetPopup().GetUrl())
	case !isTurn(e):
	case !b.opened && b.from.Started != nil && e.GetTime().AsTime().Before(b.from.Started.AsTime()):
		// It is part of how the page was before the recording began.
	case e.GetState() == domtapv1.TimelineState_TIMELINE_STATE_FAILED:
		b.say("%s failed: %s: %s", what(e), e.GetReason(), e.GetError())
	case e.GetState() != domtapv1.TimelineState_TIMELINE_STATE_DONE:
		b.say("%s had not ended when the recording did", what(e))
	default:
		b.turn(e)
	}
}

// what names a call and its steps.
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

// turn adds what a call did that succeeded.
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
	default:
		b.say("not done: %s: what it did is not in the recording", e.GetMethod())
	}
}

// answer answers the dialog that is open.
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

// maxStates is how many states of a turn are looked at.
const maxStates = 64

// seen are the states from before a turn to its end, each once.
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

// outcome waits for what a person would have noticed last after a turn, or else for where it led. What is gone is not waited for.
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

// shows reports whether a state has a text.
func shows(s *dom.Snapshot, text string) bool {
	for el := range s.Elements.All() {
		if text != "" && strings.Contains(strings.ToLower(el.WholeText()), strings.ToLower(text)) {
			return true
		}
	}
	return false
}
