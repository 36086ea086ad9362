package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/plural"
	"github.com/domtap/domtap/internal/sessions"
)

// Tabs returns a table of tabs with a heading.
//
// The column of sessions appears if a tab is in a session other than the default. The name of a client's session starts with the client's
// name and a dot.
func Tabs(tabs []*domtapv1.Tab) string {
	heading := "TAB\tSTATUS\tHTTP\tURL\tTITLE"
	sessions := slices.ContainsFunc(tabs, func(tab *domtapv1.Tab) bool { return tab.GetSessionId() != "" && tab.GetSessionId() != "default" })
	if sessions {
		heading = "TAB\tSESSION\tSTATUS\tHTTP\tURL\tTITLE"
	}
	return table(heading, tabs, func(tab *domtapv1.Tab) []string {
		status := word(tab.GetStatus().String(), "TAB_STATUS_")
		switch {
		case tab.GetDialog() != nil:
			status = "dialog"
		case tab.GetFrozen():
			status = "frozen"
		}
		answer := "-"
		if tab.GetHttpStatus() != 0 {
			answer = strconv.Itoa(int(tab.GetHttpStatus()))
		}
		row := []string{tab.GetId(), status, answer, Cell(tab.GetUrl(), 80), Cell(tab.GetTitle(), 60)}
		if sessions {
			row = slices.Insert(row, 1, Cell(tab.GetSessionId(), 97))
		}
		return row
	})
}

// shownID is the length of the IDs in OtherTabs.
const shownID = 8

// OtherTabs returns a table of tabs that can be taken over, with a heading.
func OtherTabs(others []*domtapv1.OtherTab) string {
	return table("ID\tURL\tTITLE", others, func(o *domtapv1.OtherTab) []string {
		id := o.GetId()
		return []string{Cell(id[:min(shownID, len(id))], shownID), Cell(o.GetUrl(), 80), Cell(o.GetTitle(), 60)}
	})
}

// Restore returns one line that reports whether a tab is restored.
func Restore(tab *domtapv1.Tab) string {
	state := "off: the tab is not restored after a crash; --on turns restore on"
	if tab.GetRestore() {
		state = "on: the tab is restored after a crash"
	}
	return fmt.Sprintf("%s: restore is %s\n", Line(tab.GetId()), state)
}

// Sessions returns a table of sessions with a heading.
func Sessions(sessions []*domtapv1.Session) string {
	return table("SESSION\tTABS\tDEVICE", sessions, func(one *domtapv1.Session) []string {
		device := "-"
		if name := one.GetSettings().GetEmulation().GetDevice(); name != "" {
			device = Cell(name, 40)
		}
		return []string{one.GetId(), strconv.Itoa(int(one.GetTabs())), device}
	})
}

// Devices returns a table of the devices that sessions can emulate.
func Devices(all []sessions.Device) string {
	has := map[bool]string{true: "yes", false: "no"}
	return table("DEVICE\tVIEWPORT\tSCALE\tTOUCH\tMOBILE", all, func(d sessions.Device) []string {
		return []string{d.Name, fmt.Sprintf("%dx%d", d.Width, d.Height), fmt.Sprintf("%g", d.Scale), has[d.Touch], has[d.Mobile]}
	})
}

// table lays out one row for each entry.
func table[E any](heading string, entries []E, row func(E) []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, heading)
	for _, entry := range entries {
		_, _ = fmt.Fprintln(w, strings.Join(row(entry), "\t"))
	}
	_ = w.Flush() // a strings.Builder returns no errors
	return b.String()
}

// Dom returns a heading about the page and a table of its elements.
func Dom(answer *domtapv1.GetDomResponse) string {
	var b strings.Builder
	meta := answer.GetMetadata()
	fmt.Fprintf(&b, "%s · %s\n", Cell(answer.GetTitle(), 80), Cell(answer.GetUrl(), 120))
	fmt.Fprintf(&b, "revision %d of %s · %d of %s · %s as compact text\n",
		answer.GetRevision(), answer.GetEpoch(), meta.GetIncludedElements(), plural.Of(meta.GetTotalElements(), "element"), plural.Of(meta.GetTokens(), "token"))
	if next := meta.GetNextCursor(); next != "" {
		fmt.Fprintf(&b, "truncated; continue with --cursor %s\n", next)
	}
	b.WriteString(LateFrames(meta))
	b.WriteString(table("REF\tROLE\tTEXT\tDETAIL\tSTATES", answer.GetElements(), func(e *domtapv1.Element) []string {
		return []string{strconv.FormatUint(uint64(e.GetRef()), 10), Kind(e), Cell(e.GetText(), 50), Cell(detail(e), 50), states(e)}
	}))
	return b.String()
}

// LateFrames returns a line with the number of frames that did not answer in time and are missing from the answer. It returns an empty
// string if there are none.
func LateFrames(meta *domtapv1.ViewMetadata) string {
	if late := len(meta.GetLateFrames()); late > 0 {
		return fmt.Sprintf("-- frames that did not answer in time: %d; read again\n", late)
	}
	return ""
}

// Kind returns the role of an element, or its tag if it has no role.
func Kind(e *domtapv1.Element) string {
	if e.GetRole() != "" {
		return Line(e.GetRole())
	}
	return Line(e.GetTag())
}

// detail returns the most useful property of an element besides its name.
func detail(e *domtapv1.Element) string {
	switch {
	case e.GetHref() != "":
		return "→" + e.GetHref()
	case e.GetValue() != "":
		return "=" + e.GetValue()
	case e.GetType() != "":
		return "type=" + e.GetType()
	case e.GetLevel() != 0:
		return fmt.Sprintf("level=%d", e.GetLevel())
	}
	return ""
}

// states lists the states of an element.
func states(e *domtapv1.Element) string {
	const yes, mixed = domtapv1.CheckedState_CHECKED_STATE_TRUE, domtapv1.CheckedState_CHECKED_STATE_MIXED
	var words []string
	for _, state := range []struct {
		word string
		in   bool
	}{
		{"checked", e.GetChecked() == yes},
		{"mixed", e.GetChecked() == mixed},
		{"pressed", e.GetPressed() == yes},
		{"disabled", e.GetDisabled()},
		{"expanded", e.GetExpanded()},
		{"selected", e.GetSelected()},
		{"required", e.GetRequired()},
		{"readonly", e.GetReadonly()},
		{"focused", e.GetFocused()},
		{"invalid", e.GetInvalid()},
	} {
		if state.in {
			words = append(words, state.word)
		}
	}
	return strings.Join(words, " ")
}

// Outcome returns one line for each visible effect, the completed steps, a line for the verdict, and the diff. It returns an empty string
// if no step was completed and there is no visible effect.
func Outcome(answer *domtapv1.InteractResponse) string {
	var b strings.Builder
	b.WriteString(completed(answer.GetResults()))
	switch tab := answer.GetTab(); answer.GetVerdict() {
	case domtapv1.Verdict_VERDICT_NO_CHANGE:
		if tab.GetStatus() == domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE {
			b.WriteString("The page does not answer; the changes are unknown\n")
		} else if b.Len() > 0 && !strings.Contains(b.String(), driver.InView) { // the user sees that the page scrolled
			b.WriteString("No change\n")
		}
	case domtapv1.Verdict_VERDICT_NAVIGATED:
		if !text.IsPage(answer.GetDiffText()) { // a page begins with the same text
			fmt.Fprintf(&b, "Navigated: %s | %s\n", Line(tab.GetUrl()), Line(tab.GetTitle()))
		}
	case domtapv1.Verdict_VERDICT_DIALOG:
		fmt.Fprintf(&b, "Dialog: %s\n", Line(tab.GetDialog().GetMessage()))
	case domtapv1.Verdict_VERDICT_NEW_TAB:
		fresh := Line(answer.GetNewTabId())
		fmt.Fprintf(&b, "New tab: %s\nCommands stay on %s; pass --tab %s for the new tab\n", fresh, Line(tab.GetId()), fresh)
	}
	var printed *domtapv1.Tab // the tab whose title the answer prints
	if answer.GetVerdict() == domtapv1.Verdict_VERDICT_NAVIGATED {
		printed = answer.GetTab()
	}
	return Effects(answer.GetOutcome(), printed) + b.String() + changes(answer)
}

// completed returns the summaries of the completed steps. If there are several, steps that only report ok are counted instead.
func completed(results []*domtapv1.StepResult) string {
	var all, told []string
	for _, result := range results {
		if !result.GetOk() {
			continue
		}
		summary := Line(result.GetSummary())
		all = append(all, summary)
		if !strings.HasSuffix(summary, ": ok") {
			told = append(told, summary)
		}
	}
	if len(all) > 1 {
		all = append([]string{plural.Of(len(all), "step") + ": ok"}, told...)
	}
	var b strings.Builder
	for _, line := range all {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// changes returns the diff of an action: its text, or the DIFF format if there is no text. If nothing changed, the verdict reports that.
func changes(answer *domtapv1.InteractResponse) string {
	if answer.GetDiffText() == "" {
		return Diff(answer.GetDiff())
	}
	return Paragraph(text.Changes(answer.GetDiffText()))
}

// Effects returns one line for each visible effect. It omits a heading that equals the title of the printed tab, if any.
func Effects(all []*domtapv1.Outcome, printed *domtapv1.Tab) string {
	return text.OutcomeWith(all, printed.GetTitle(), Line)
}

// Waited returns the result of a wait: the element that met the condition, the page, and the changes during the wait.
func Waited(answer *domtapv1.WaitForResponse) string {
	var b strings.Builder
	if answer.GetLine() != "" {
		b.WriteString(Paragraph(answer.GetLine()))
	}
	fmt.Fprintf(&b, "Waited %s: %s | %s\n", answer.GetElapsed().AsDuration().Round(time.Millisecond), Line(answer.GetUrl()), Line(answer.GetTitle()))
	return Effects(answer.GetOutcome(), &domtapv1.Tab{Title: answer.GetTitle()}) + b.String() + Paragraph(text.Changes(answer.GetDiffText()))
}

// Watch returns the text of one message of a stream. It may be empty.
func Watch(m *domtapv1.WatchDomResponse) string {
	switch event := m.GetEvent().(type) {
	case *domtapv1.WatchDomResponse_Snapshot:
		return fmt.Sprintf("Watching: %s, from revision %d\n", snapshot(event.Snapshot), m.GetRevision())
	case *domtapv1.WatchDomResponse_Diff:
		if m.GetText() != "" {
			return Paragraph(m.GetText())
		}
		return Diff(event.Diff)
	case *domtapv1.WatchDomResponse_Navigated:
		return fmt.Sprintf("Navigated: %s | %s\n", Line(event.Navigated.GetUrl()), Line(event.Navigated.GetTitle()))
	case *domtapv1.WatchDomResponse_Resync:
		return fmt.Sprintf("Resync (%s): %s, from revision %d\n", Line(event.Resync.GetReason()), snapshot(event.Resync.GetSnapshot()), m.GetRevision())
	case *domtapv1.WatchDomResponse_TabStatus:
		return status(event.TabStatus)
	case *domtapv1.WatchDomResponse_Outcome:
		return Effects([]*domtapv1.Outcome{event.Outcome}, nil)
	}
	return ""
}

func snapshot(s *domtapv1.Snapshot) string {
	return fmt.Sprintf("%s | %s | %s", Line(s.GetUrl()), Line(s.GetTitle()), plural.Of(len(s.GetElements()), "element"))
}

func status(s *domtapv1.TabStatusChange) string {
	text := "Status: " + word(s.GetStatus().String(), "TAB_STATUS_")
	if s.GetDetail() != "" {
		text += ": " + Line(s.GetDetail())
	}
	if d := s.GetDialog(); d != nil {
		text += fmt.Sprintf(" | %s dialog: %s", word(d.GetType().String(), "DIALOG_TYPE_"), Line(d.GetMessage()))
	}
	return text + "\n"
}
