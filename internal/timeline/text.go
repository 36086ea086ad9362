package timeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Text returns an entry as one line without its time, for people and models. The line contains the subject, the client, the outcome and the
// cost. Text does not remove control characters of the page; the caller that prints the line must do so.
func Text(e *Entry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d ", e.GetId())
	if e.GetClient() != "" {
		b.WriteString(short(e.GetClient()) + " ")
	}
	if e.GetMethod() != "" {
		b.WriteString(e.GetMethod())
		if e.GetCount() > 1 {
			fmt.Fprintf(&b, " ×%d", e.GetCount())
		}
		b.WriteString(cost(e))
		if what := about(e); what != "" {
			b.WriteString(": " + what)
		}
	} else {
		b.WriteString(about(e))
		if e.GetCount() > 1 {
			fmt.Fprintf(&b, " (×%d)", e.GetCount())
		}
	}
	switch e.GetState() {
	case domtapv1.TimelineState_TIMELINE_STATE_WAITING:
		b.WriteString(" … waits, the client is paused")
	case domtapv1.TimelineState_TIMELINE_STATE_RUNNING:
		b.WriteString(" … under way")
	case domtapv1.TimelineState_TIMELINE_STATE_FAILED:
		b.WriteString(" — " + e.GetReason() + ": " + e.GetError())
	}
	return b.String()
}

// maxClient limits the characters of a client's name in a line.
const maxClient = 20

// short truncates the name of a client. TimelineClient contains the full name.
func short(name string) string {
	if r := []rune(name); len(r) > maxClient {
		return string(r[:maxClient-1]) + "…"
	}
	return name
}

// cost returns the duration of a call and the cost of its answer: (310 ms, 84 tokens).
func cost(e *Entry) string {
	if !isEnded(e.GetState()) {
		return ""
	}
	took := e.GetDuration().AsDuration().Round(time.Millisecond).Milliseconds()
	switch {
	case e.GetTokens() == 0:
		return fmt.Sprintf(" (%d ms)", took)
	case e.GetTokensEstimated():
		return fmt.Sprintf(" (%d ms, about %s)", took, plural.Of(e.GetTokens(), "token"))
	}
	return fmt.Sprintf(" (%d ms, %s)", took, plural.Of(e.GetTokens(), "token"))
}

// about returns the content of an entry without its client.
func about(e *Entry) string {
	switch {
	case e.GetTurn() != nil:
		return turn(e.GetTurn(), e.GetState() == domtapv1.TimelineState_TIMELINE_STATE_DONE)
	case e.GetRead() != nil:
		if n := e.GetRead().GetElements(); n > 0 {
			return plural.Of(n, "element")
		}
		return ""
	case e.GetNavigation() != nil:
		n, how := e.GetNavigation(), "navigated to "
		if n.GetSameDocument() {
			how = "navigated within the document to "
		}
		text := how + n.GetUrl()
		if n.GetTitle() != "" {
			text += fmt.Sprintf(" %q", n.GetTitle())
		}
		if n.GetHttpStatus() >= 400 {
			text += fmt.Sprintf(" (HTTP %d)", n.GetHttpStatus())
		}
		return text
	case e.GetDialog() != nil:
		return dialog(e.GetDialog())
	case e.GetDownload() != nil:
		d := e.GetDownload()
		return fmt.Sprintf("download %q %s, %s", d.GetSuggestedFilename(), word(d.GetState().String(), "DOWNLOAD_STATE_"), plural.Of(d.GetReceivedBytes(), "byte"))
	case e.GetPopup() != nil:
		return "opened tab " + e.GetPopup().GetTabId() + " " + e.GetPopup().GetUrl()
	case e.GetProblem() != nil:
		p := e.GetProblem()
		if p.GetKind() == domtapv1.LogKind_LOG_KIND_ERROR {
			return "uncaught error: " + p.GetText()
		}
		return "console " + p.GetLevel() + ": " + p.GetText()
	case e.GetRequest() != nil:
		r := e.GetRequest()
		if r.GetFailure() != "" {
			return "request failed: " + r.GetLevel() + " " + r.GetUrl() + " " + r.GetFailure()
		}
		return fmt.Sprintf("request failed: %s %s HTTP %d", r.GetLevel(), r.GetUrl(), r.GetHttpStatus())
	case e.GetStatus() != nil:
		return "tab " + e.GetStatus().GetReason()
	case e.GetControl() != nil:
		return control(e.GetControl())
	}
	return ""
}

// turn describes a turn: its steps, the verdict, the changes, and what a person would have noticed.
func turn(t *domtapv1.TimelineTurn, done bool) string {
	var parts []string
	if t.GetUrl() != "" {
		parts = append(parts, t.GetUrl())
	}
	for _, s := range t.GetSteps() {
		parts = append(parts, step(s, done))
	}
	text := strings.Join(parts, "; ")
	if len(t.GetSteps()) > 0 && done {
		text += " → " + word(t.GetVerdict().String(), "VERDICT_")
		if n := t.GetAdded() + t.GetRemoved() + t.GetChanged(); n > 0 {
			text += fmt.Sprintf(" (+%d -%d ~%d)", t.GetAdded(), t.GetRemoved(), t.GetChanged())
		}
	}
	for _, o := range t.GetOutcome() {
		gone := ""
		if o.GetGone() {
			gone = " (gone)"
		}
		text += " ! " + word(o.GetKind().String(), "OUTCOME_KIND_") + ": " + o.GetText() + gone
	}
	if t.GetNewTabId() != "" {
		text += " new tab " + t.GetNewTabId()
	}
	return text
}

// step describes a step that was done, or that is planned.
func step(s *domtapv1.TimelineStep, done bool) string {
	text := s.GetSummary()
	if text == "" {
		text = strings.TrimSpace(s.GetKind() + " " + Target(s.GetTarget()) + s.GetKey())
	}
	if p := s.GetPoint(); p != nil {
		text += fmt.Sprintf(" at %.0f,%.0f", p.GetX(), p.GetY())
	}
	if s.GetReason() != "" && done { // for a failed call, this is the reason of the call
		text += " [" + s.GetReason() + "]"
	}
	return text
}

// Target describes a target as its caller named it. It returns an empty string if there is none.
func Target(t *domtapv1.Target) string {
	var text string
	switch {
	case t == nil:
		return ""
	case t.Ref != nil:
		text = fmt.Sprintf("[%d]", t.GetRef())
	case t.X != nil || t.Y != nil:
		text = fmt.Sprintf("%g,%g", t.GetX(), t.GetY())
	case t.GetRole() != "" || t.GetName() != "":
		text = strings.TrimSpace(fmt.Sprintf("%s %q", t.GetRole(), cmp.Or(t.GetName(), t.GetText())))
	default:
		for _, words := range []string{t.GetText(), t.GetLabel(), t.GetPlaceholder(), t.GetTestId(), t.GetSelector()} {
			if words != "" {
				text = fmt.Sprintf("%q", words)
				break
			}
		}
	}
	if t.GetWithin() != "" {
		text += fmt.Sprintf(" within %q", t.GetWithin())
	}
	return text
}

func dialog(d *domtapv1.Dialog) string {
	text := fmt.Sprintf("%s dialog %q", word(d.GetType().String(), "DIALOG_TYPE_"), d.GetMessage())
	if d.GetAnswer() == domtapv1.DialogAnswer_DIALOG_ANSWER_UNSPECIFIED {
		return text + " opened"
	}
	return text + " " + word(d.GetAnswer().String(), "DIALOG_ANSWER_")
}

func control(c *domtapv1.TimelineControl) string {
	text := map[domtapv1.TimelineAction]string{
		domtapv1.TimelineAction_TIMELINE_ACTION_PAUSED: "paused " + c.GetClient(), domtapv1.TimelineAction_TIMELINE_ACTION_RESUMED: "resumed " + c.GetClient(),
		domtapv1.TimelineAction_TIMELINE_ACTION_TAKEN_OVER: "took over the tab", domtapv1.TimelineAction_TIMELINE_ACTION_HANDED_BACK: "handed the tab back",
	}[c.GetAction()]
	if c.GetSession() {
		text += " in the session"
	}
	if c.GetReason() != "" {
		text += ": " + c.GetReason()
	}
	return text
}

// word returns the name of an enum value in lower case without its prefix.
func word(name, prefix string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, prefix)), "_", " ")
}
