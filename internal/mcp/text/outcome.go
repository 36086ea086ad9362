package text

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Outcome formats the changes that a person would have noticed, one line each:
//
//	! alert: Wrong e-mail or password
//	! invalid [7] E-mail: Please include an "@"
//	! dialog "Delete 3 files?": This cannot be undone.
//	! dialog closed "Delete 3 files?"
//	! text: Total: 12.50 (3 more)
//	! toast: Saved (gone)
//	! looks different [12]: background silver → green (also 13, 14)
//
// Every line starts with "! ", and no text of a page starts a line. A heading that equals the title of the page is omitted, because the
// answer prints that title.
func Outcome(all []*domtapv1.Outcome, title string) string { return OutcomeWith(all, title, Line) }

// OutcomeWith formats an outcome like Outcome, but folds texts of the page with the function line.
func OutcomeWith(all []*domtapv1.Outcome, title string, line func(string) string) string {
	var b strings.Builder
	for _, o := range all {
		if o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_HEADING && o.GetText() == title {
			continue
		}
		b.WriteString("! " + notice(o, line) + "\n")
	}
	return b.String()
}

// WithoutPrinted removes the entries of a navigation's outcome that the answer already prints as part of the page: headings, texts, changed
// looks, and the status and log regions of the page.
func WithoutPrinted(all []*domtapv1.Outcome, page string) []*domtapv1.Outcome {
	return slices.DeleteFunc(slices.Clone(all), func(o *domtapv1.Outcome) bool {
		switch o.GetKind() {
		case domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, domtapv1.OutcomeKind_OUTCOME_KIND_TEXT, domtapv1.OutcomeKind_OUTCOME_KIND_LOOK:
			return true
		case domtapv1.OutcomeKind_OUTCOME_KIND_STATUS:
			return strings.Contains(page, "\n<status "+o.GetText()+">\n")
		case domtapv1.OutcomeKind_OUTCOME_KIND_LOG:
			return strings.Contains(page, "\n<log "+o.GetText()+">\n")
		}
		return false
	})
}

// notice formats one entry of an outcome.
func notice(o *domtapv1.Outcome, line func(string) string) string {
	said := line(o.GetText())
	switch o.GetKind() {
	case domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG:
		if o.GetGone() {
			return "dialog closed " + strconv.Quote(said)
		}
		if detail := line(o.GetDetail()); detail != "" {
			return "dialog " + strconv.Quote(said) + ": " + detail
		}
		return "dialog " + strconv.Quote(said)
	case domtapv1.OutcomeKind_OUTCOME_KIND_INVALID:
		if o.Ref != nil {
			return fmt.Sprintf("invalid [%d] %s", o.GetRef(), said)
		}
		if strings.HasPrefix(said, "[") { // must not be mistaken for a ref
			said = `\` + said
		}
		return "invalid " + said
	case domtapv1.OutcomeKind_OUTCOME_KIND_LOOK:
		if detail := line(o.GetDetail()); detail != "" {
			said += " (also " + detail + ")"
		}
		if o.Ref == nil {
			return "looks different: " + said
		}
		return fmt.Sprintf("looks different [%d]: %s", o.GetRef(), said)
	case domtapv1.OutcomeKind_OUTCOME_KIND_TEXT, domtapv1.OutcomeKind_OUTCOME_KIND_BUSY:
		if detail := line(o.GetDetail()); detail != "" {
			said += " (" + detail + ")"
		}
	}
	if o.GetGone() && o.GetKind() != domtapv1.OutcomeKind_OUTCOME_KIND_BUSY {
		said += " (gone)"
	}
	return strings.ToLower(strings.TrimPrefix(o.GetKind().String(), "OUTCOME_KIND_")) + ": " + said
}
