// Package text formats the daemon's answers for models, with few tokens and one line for each item, in the notation of the daemon's own
// text formats. The output contains untrusted text of pages. The caller must put it into a fence.
//
// The package has no state and no goroutine.
package text

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Line folds a text to one line.
func Line(text string) string { return strings.Join(strings.Fields(text), " ") }

// IsPage reports whether the text of a DENSE_DIFF is a whole page instead of changes.
func IsPage(changes string) bool { return strings.HasPrefix(changes, "URL: ") }

// Resync formats the reason for a whole page instead of its changes.
func Resync(reason string) string {
	if reason == "first_call" {
		return "first look"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// manyAnswers is the number of answers above which IsSmallPart returns true.
const manyAnswers = 3

// IsSmallPart reports whether an answer contains so little of a page that reading the whole page takes many answers.
func IsSmallPart(m *domtapv1.ViewMetadata) bool {
	return m.GetTotalElements() > manyAnswers*m.GetIncludedElements()
}

// Changes returns the text of a DENSE_DIFF. It returns "" for a text that reports no or unknown changes, because the answer states that in
// other words.
func Changes(changes string) string {
	if strings.HasPrefix(changes, "Changes: none") || strings.HasPrefix(changes, "Changes: not known") {
		return ""
	}
	return changes
}

// Diff formats a diff in the format DIFF, for answers without text. It returns "" if nothing changed. Each section ends with the number of
// entries that are counted but not listed.
func Diff(d *domtapv1.Diff) string { return DiffWith(d, Line) }

// DiffWith formats a diff like Diff, but folds texts of the page with the function line.
func DiffWith(d *domtapv1.Diff, line func(string) string) string {
	if d.GetAddedCount()+d.GetRemovedCount()+d.GetChangedCount() == 0 && len(d.GetMoved()) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Changes: +%d -%d ~%d", d.GetAddedCount(), d.GetRemovedCount(), d.GetChangedCount())
	if n := len(d.GetMoved()); n > 0 {
		fmt.Fprintf(&b, " >%d", n)
	}
	b.WriteByte('\n')
	section(&b, "Added", d.GetAdded(), d.GetAddedCount(), func(e *domtapv1.Element) string {
		return fmt.Sprintf("[%d] %s", e.GetRef(), NodeWith(e, line))
	})
	section(&b, "Removed", d.GetRemoved(), d.GetRemovedCount(), func(r *domtapv1.RemovedElement) string {
		return fmt.Sprintf("[%d] %s", r.GetRef(), NodeWith(&domtapv1.Element{Tag: r.GetTag(), Text: r.GetText()}, line))
	})
	section(&b, "Changed", d.GetChanged(), d.GetChangedCount(), func(c *domtapv1.ChangedElement) string {
		return fmt.Sprintf("[%d] %s: %s", c.GetRef(), NodeWith(c.GetElement(), line), fields(c.GetFields(), line))
	})
	section(&b, "Moved", d.GetMoved(), int32(len(d.GetMoved())), func(m *domtapv1.MovedElement) string {
		return fmt.Sprintf("[%d] %d → %d", m.GetRef(), m.GetFromIndex(), m.GetToIndex())
	})
	return b.String()
}

func section[E any](b *strings.Builder, heading string, entries []E, count int32, line func(E) string) {
	if len(entries) == 0 {
		return
	}
	b.WriteString(heading + ":\n")
	for _, entry := range entries {
		b.WriteString("  " + line(entry) + "\n")
	}
	if more := int(count) - len(entries); more > 0 {
		fmt.Fprintf(b, "  … and %d more\n", more)
	}
}

// NodeWith formats an element as a tag around its text. The function line folds texts of the page to one line. The text of a void element
// follows the tag.
func NodeWith(e *domtapv1.Element, line func(string) string) string {
	tag, text := line(e.GetTag()), line(e.GetText())
	opening := "<" + tag + ">"
	if tag == "input" && e.GetType() != "" {
		opening = fmt.Sprintf("<input type=%q>", line(e.GetType()))
	}
	switch tag {
	case "input", "img", "area":
		return strings.TrimRight(opening+" "+text, " ")
	}
	return opening + text + "</" + tag + ">"
}

func fields(all []*domtapv1.FieldChange, line func(string) string) string {
	words := make([]string, len(all))
	for i, f := range all {
		words[i] = fmt.Sprintf("%s %s → %s", line(f.GetField()), orNone(f.GetOld(), line), orNone(f.GetNew(), line))
	}
	return strings.Join(words, ", ")
}

func orNone(value string, line func(string) string) string {
	if value == "" {
		return "(none)"
	}
	return line(value)
}

// Results formats the results of steps. For each step it prints what was done and read, or the error with the candidates for the target.
func Results(results []*domtapv1.StepResult) string {
	var b strings.Builder
	for _, r := range results {
		if r.GetOk() {
			b.WriteString(Line(r.GetSummary()) + "\n")
		} else {
			b.WriteString("failed: " + Line(r.GetError()) + "\n")
			for _, c := range r.GetCandidates() {
				fmt.Fprintf(&b, "  [%d] %s\n", c.GetRef(), Line(c.GetLine()))
			}
		}
		b.WriteString(block(r.GetText()))
	}
	return b.String()
}

// BriefResults formats results like Results. If several steps all succeeded and read nothing, it prints their number, and then only the
// results that report more than ok.
func BriefResults(results []*domtapv1.StepResult) string {
	if len(results) < 2 || slices.ContainsFunc(results, func(r *domtapv1.StepResult) bool { return !r.GetOk() || r.GetText() != "" }) {
		return Results(results)
	}
	told := slices.DeleteFunc(slices.Clone(results), func(r *domtapv1.StepResult) bool { return strings.HasSuffix(r.GetSummary(), ": ok") })
	return plural.Of(len(results), "step") + ": ok\n" + Results(told)
}

// block terminates a text with a line break, unless it is empty.
func block(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Page formats the first line of GetCompact, for answers that lack it.
func Page(tab *domtapv1.Tab) string {
	return fmt.Sprintf("URL: %s | Title: %s\n", Line(tab.GetUrl()), Line(tab.GetTitle()))
}

// Tab formats the URL and the title of a tab, and its status if that is unusual.
func Tab(tab *domtapv1.Tab) string {
	line := Line(tab.GetUrl()) + " | " + Line(tab.GetTitle())
	if status := tab.GetStatus(); status != domtapv1.TabStatus_TAB_STATUS_READY && status != domtapv1.TabStatus_TAB_STATUS_UNSPECIFIED {
		line += " | " + strings.ToLower(strings.TrimPrefix(status.String(), "TAB_STATUS_"))
	}
	if code := tab.GetHttpStatus(); code >= 400 {
		line += fmt.Sprintf(" | HTTP %d", code)
	}
	if d := tab.GetDialog(); d != nil {
		line += " | " + Dialog(d)
	}
	return line
}

// Dialog formats an open dialog.
func Dialog(d *domtapv1.Dialog) string {
	return fmt.Sprintf("%s dialog %q", strings.ToLower(strings.TrimPrefix(d.GetType().String(), "DIALOG_TYPE_")), Line(d.GetMessage()))
}

// Batch formats the results of a batch, each under a line with its URL.
func Batch(results []*domtapv1.BatchResult) string {
	var b strings.Builder
	for _, one := range results {
		b.WriteString("==> " + Line(one.GetUrl()))
		if final := one.GetFinalUrl(); final != "" && final != one.GetUrl() {
			b.WriteString(" → " + Line(final))
		}
		if code := one.GetHttpStatus(); code >= 400 {
			fmt.Fprintf(&b, " (HTTP %d)", code)
		}
		b.WriteByte('\n')
		switch {
		case one.GetError() != "":
			b.WriteString("error: " + Line(one.GetError()) + "\n")
		case one.GetResultJson() != "":
			b.WriteString(block(one.GetResultJson()))
		default:
			b.WriteString(block(one.GetText()))
		}
		if one.GetTruncated() {
			b.WriteString("… more: navigate to it and continue reading\n")
		}
	}
	return b.String()
}

// Marks formats the list of elements whose refs are drawn onto a screenshot.
func Marks(marks []*domtapv1.Mark) string {
	var b strings.Builder
	for _, m := range marks {
		fmt.Fprintf(&b, "[%d] %s\n", m.GetRef(), Line(m.GetName()))
	}
	return b.String()
}

// Outline formats the headings of a document with the cursors to continue from.
func Outline(headings []*domtapv1.ReadHeading) string {
	var b strings.Builder
	for _, h := range headings {
		fmt.Fprintf(&b, "%s %s (cursor %s)\n", strings.Repeat("#", int(h.GetLevel())), Line(h.GetText()), h.GetCursor())
	}
	return b.String()
}

// Document formats the description of a document that is not a page.
func Document(d *domtapv1.ReadDocument) string {
	facts := strings.ToLower(strings.TrimPrefix(d.GetKind().String(), "DOCUMENT_KIND_")) + " " + d.GetMediaType()
	if d.GetName() != "" {
		facts += " " + strconv.Quote(d.GetName())
	}
	if d.GetPages() > 0 {
		facts += ", " + plural.Of(d.GetPages(), "page")
	}
	if d.GetSize() > 0 {
		facts += ", " + plural.Of(d.GetSize(), "byte")
	}
	if d.GetNote() != "" {
		facts += "; " + d.GetNote()
	}
	return "document: " + Line(facts) + "\n"
}

// element is the JSON form of an element. Fields that do not apply or have their default value are omitted.
type element struct {
	Ref      uint32  `json:"ref"`
	Tag      string  `json:"tag"`
	Role     string  `json:"role,omitempty"`
	Text     string  `json:"text,omitempty"`
	Href     string  `json:"href,omitempty"`
	Name     string  `json:"name,omitempty"`
	Type     string  `json:"type,omitempty"`
	Value    string  `json:"value,omitempty"`
	Hint     string  `json:"placeholder,omitempty"`
	Box      [4]int  `json:"box"`
	Hidden   bool    `json:"offscreen,omitempty"`
	Covered  bool    `json:"covered,omitempty"`
	Parent   *uint32 `json:"parent,omitempty"`
	Level    int32   `json:"level,omitempty"`
	Frame    string  `json:"frame,omitempty"`
	Checked  string  `json:"checked,omitempty"`
	Pressed  string  `json:"pressed,omitempty"`
	Disabled *bool   `json:"disabled,omitempty"`
	Expanded *bool   `json:"expanded,omitempty"`
	Selected *bool   `json:"selected,omitempty"`
	Required *bool   `json:"required,omitempty"`
	Readonly *bool   `json:"readonly,omitempty"`
	Focused  *bool   `json:"focused,omitempty"`
	Invalid  *bool   `json:"invalid,omitempty"`

	Attributes map[string]string `json:"attributes,omitempty"`
}

// Elements formats elements as JSON, one per line. box is x, y, width and height in CSS pixels of the viewport. frame is omitted for the
// main frame.
func Elements(all []*domtapv1.Element) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, e := range all {
		_ = encoder.Encode(toElement(e)) // cannot fail: a strings.Builder accepts all writes, and these types can be encoded
	}
	return b.String()
}

func toElement(e *domtapv1.Element) *element {
	r := e.GetRect()
	return &element{
		Ref: e.GetRef(), Tag: e.GetTag(), Role: e.GetRole(), Text: e.GetText(), Href: e.GetHref(), Name: e.GetName(), Type: e.GetType(),
		Value: e.GetValue(), Hint: e.GetPlaceholder(), Box: [4]int{whole(r.GetX()), whole(r.GetY()), whole(r.GetWidth()), whole(r.GetHeight())},
		Hidden: !e.GetInViewport(), Covered: e.GetCovered(), Parent: e.ParentRef, Level: e.GetLevel(), Frame: e.GetFrameId(),
		Checked: tri(e.GetChecked()), Pressed: tri(e.GetPressed()), Disabled: on(e.Disabled), Expanded: e.Expanded, Selected: on(e.Selected),
		Required: on(e.Required), Readonly: on(e.Readonly), Focused: on(e.Focused), Invalid: on(e.Invalid), Attributes: e.GetAttributes(),
	}
}

func whole(f float64) int { return int(math.Round(f)) }

// on returns nil for false, so that the field is omitted.
func on(b *bool) *bool {
	if b == nil || !*b {
		return nil
	}
	return b
}

func tri(s domtapv1.CheckedState) string {
	if s == domtapv1.CheckedState_CHECKED_STATE_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(s.String(), "CHECKED_STATE_"))
}
