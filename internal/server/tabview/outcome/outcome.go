// Package outcome converts the notices of a page to the outcome of an answer: a bounded list, in order.
//
// An outcome has at most MaxEntries entries and MaxTokens tokens as text, regardless of the page. To stay within that, the package first
// omits the least important entries and then shortens texts. It has no state.
package outcome

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/truncate"
)

// The limits of an outcome.
const (
	MaxEntries = 8
	MaxTokens  = 200
	// perEntry is the cost of an entry besides its texts: its mark, kind and ref.
	perEntry = 8
)

// kinds maps the kinds of notices to the kinds of entries.
var kinds = map[dom.NoticeKind]domtapv1.OutcomeKind{
	dom.NoticeAlert:      domtapv1.OutcomeKind_OUTCOME_KIND_ALERT,
	dom.NoticeStatus:     domtapv1.OutcomeKind_OUTCOME_KIND_STATUS,
	dom.NoticeLog:        domtapv1.OutcomeKind_OUTCOME_KIND_LOG,
	dom.NoticeDialog:     domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG,
	dom.NoticeInvalid:    domtapv1.OutcomeKind_OUTCOME_KIND_INVALID,
	dom.NoticeHeading:    domtapv1.OutcomeKind_OUTCOME_KIND_HEADING,
	dom.NoticeToast:      domtapv1.OutcomeKind_OUTCOME_KIND_TOAST,
	dom.NoticeBusy:       domtapv1.OutcomeKind_OUTCOME_KIND_BUSY,
	dom.NoticeText:       domtapv1.OutcomeKind_OUTCOME_KIND_TEXT,
	dom.NoticeAppearance: domtapv1.OutcomeKind_OUTCOME_KIND_LOOK,
}

// importance orders the kinds, most important first. The last ones are omitted first.
var importance = []dom.NoticeKind{
	dom.NoticeDialog, dom.NoticeAlert, dom.NoticeInvalid, dom.NoticeToast, dom.NoticeStatus, dom.NoticeBusy, dom.NoticeHeading, dom.NoticeText, dom.NoticeAppearance, dom.NoticeLog,
}

// lengths lists the maximum lengths of texts in characters, longest first. The next one applies if all entries together cost too much.
var lengths = []int{160, 80, 40, 20}

// Of returns the outcome of notices, in their order.
func Of(notices []dom.Notice) []*domtapv1.Outcome {
	kept := mostImportant(distinct(notices), MaxEntries)
	for _, length := range lengths {
		if out, cost := entries(kept, length); cost <= MaxTokens {
			return out
		}
	}
	for len(kept) > 0 { // characters that cost several tokens each
		kept = mostImportant(kept, len(kept)-1)
		if out, cost := entries(kept, lengths[len(lengths)-1]); cost <= MaxTokens {
			return out
		}
	}
	return nil
}

// distinct removes notices that repeat an earlier one, toasts that repeat an alert, a status or a log entry, and texts that other notices
// contain. If a dialog opened or closed several times, it keeps the last notice.
func distinct(notices []dom.Notice) []dom.Notice {
	var out []dom.Notice
	for _, n := range notices {
		if n.Kind == dom.NoticeDialog {
			out = withoutFlicker(out, n)
		}
		same := func(o dom.Notice) bool {
			toast := n.Kind == dom.NoticeToast && (o.Kind == dom.NoticeAlert || o.Kind == dom.NoticeStatus || o.Kind == dom.NoticeLog)
			return o.Text == n.Text && (toast || o.Kind == n.Kind && o.Detail == n.Detail && o.Gone == n.Gone && o.Ref == n.Ref)
		}
		over := n.Kind == dom.NoticeAppearance && n.Gone // the element looks as before again
		if kinds[n.Kind] != 0 && !over && !slices.ContainsFunc(out, same) {
			out = append(out, n)
		}
	}
	said := slices.Clone(out)
	return slices.DeleteFunc(out, func(n dom.Notice) bool {
		return n.Kind == dom.NoticeText && n.Detail == "" && slices.ContainsFunc(said, func(o dom.Notice) bool { return covers(o, n) })
	})
}

// withoutFlicker removes the notices of a dialog that is back in an earlier state after it opened or closed in between.
func withoutFlicker(out []dom.Notice, again dom.Notice) []dom.Notice {
	same := func(o dom.Notice) bool { return o.Kind == dom.NoticeDialog && o.Text == again.Text }
	as := slices.IndexFunc(out, func(o dom.Notice) bool { return same(o) && o.Gone == again.Gone && o.Detail == again.Detail })
	if as < 0 || !slices.ContainsFunc(out[as:], func(o dom.Notice) bool { return same(o) && o.Gone != again.Gone }) {
		return out
	}
	return slices.DeleteFunc(out, same)
}

// covers reports whether a notice makes a text redundant: it contains the text, or it is a text that replaces one that is gone.
func covers(o, text dom.Notice) bool {
	if o.Kind == dom.NoticeText {
		return text.Gone && !o.Gone
	}
	return o.Kind != dom.NoticeAppearance && (strings.Contains(o.Text, text.Text) || strings.Contains(o.Detail, text.Text))
}

// WithoutShown removes the texts that the changes of an answer already show. The entry with the number of further changes stays, unless all
// texts are shown.
func WithoutShown(all []*domtapv1.Outcome, shows func(text string) bool) []*domtapv1.Outcome {
	hidden := slices.ContainsFunc(all, func(o *domtapv1.Outcome) bool { return IsText(o) && !shows(o.GetText()) })
	return slices.DeleteFunc(all, func(o *domtapv1.Outcome) bool {
		return IsText(o) && (!hidden || o.GetDetail() == "" && shows(o.GetText()))
	})
}

// Unprinted removes entries that the text of the answer already contains. If the text is a new page, these are headings, texts, changed
// looks, and the status and log entries in it. If the text lists changes, these are the headings at the start of new elements.
func Unprinted(all []*domtapv1.Outcome, text string, replaced bool) []*domtapv1.Outcome {
	page := replaced && IsPage(text)
	return slices.DeleteFunc(all, func(o *domtapv1.Outcome) bool {
		switch o.GetKind() {
		case domtapv1.OutcomeKind_OUTCOME_KIND_HEADING:
			return page || !IsPage(text) && begins(text, o.GetText())
		case domtapv1.OutcomeKind_OUTCOME_KIND_TEXT, domtapv1.OutcomeKind_OUTCOME_KIND_LOOK:
			return page
		case domtapv1.OutcomeKind_OUTCOME_KIND_STATUS:
			return page && strings.Contains(text, "\n<status "+o.GetText()+">\n")
		case domtapv1.OutcomeKind_OUTCOME_KIND_LOG:
			return page && strings.Contains(text, "\n<log "+o.GetText()+">\n")
		}
		return false
	})
}

// IsPage reports whether the text of a DENSE_DIFF is a whole page instead of changes.
func IsPage(changes string) bool { return strings.HasPrefix(changes, "URL: ") }

// begins reports whether the name of a new element equals words, or whether the element is a card whose name starts with words.
func begins(changes, words string) bool {
	for line := range strings.Lines(changes) {
		if line[0] != '+' {
			continue
		}
		for _, name := range strings.Split(line, "] ")[1:] {
			behind, found := strings.CutPrefix(name, words)
			if found && (behind == "\n" || strings.HasPrefix(behind, " (") || strings.HasPrefix(behind, " [") || strings.HasPrefix(behind, truncate.Ellipsis)) {
				return true
			}
		}
	}
	return false
}

// IsText reports whether an entry is a changed text of the page.
func IsText(o *domtapv1.Outcome) bool {
	return o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_TEXT
}

// IsLook reports whether an entry is an element whose look changed.
func IsLook(o *domtapv1.Outcome) bool {
	return o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_LOOK
}

// mostImportant returns at most n of the notices, in their order.
func mostImportant(all []dom.Notice, n int) []dom.Notice {
	if len(all) <= n {
		return all
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return slices.Index(importance, all[a].Kind) - slices.Index(importance, all[b].Kind)
	})
	order = order[:n]
	slices.Sort(order)
	out := make([]dom.Notice, n)
	for i, at := range order {
		out[i] = all[at]
	}
	return out
}

// entries converts notices to entries with texts of at most length characters. It also returns their cost in tokens.
func entries(all []dom.Notice, length int) (out []*domtapv1.Outcome, cost int) {
	for _, n := range all {
		entry := &domtapv1.Outcome{Kind: kinds[n.Kind], Text: truncate.Runes(n.Text, length), Detail: truncate.Runes(n.Detail, length), Gone: n.Gone}
		if n.Ref != dom.NoRef {
			ref := uint32(n.Ref)
			entry.Ref = &ref
		}
		out = append(out, entry)
		cost += perEntry + tokens.Count(entry.GetText()) + tokens.Count(entry.GetDetail())
	}
	return out, cost
}
