// Package outcome makes the outcome of an answer of what was noticed on a page: a bounded list, in order.
//
// It guarantees at most MaxEntries entries and MaxTokens tokens as text, whatever the page does. When there is more, what
// matters less is left out first, and then texts are cut. It is pure: it has no state.
package outcome

import (
	"slices"
	"strings"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/truncate"
)

// The bounds of an outcome.
const (
	MaxEntries = 8
	MaxTokens  = 200
	// perEntry is what an entry costs besides its texts: its mark, kind and ref.
	perEntry = 8
)

// kinds are the kinds of entries, by the kinds of notices.
var kinds = map[dom.NoticeKind]domtapv1.OutcomeKind{
	dom.NoticeAlert:   domtapv1.OutcomeKind_OUTCOME_KIND_ALERT,
	dom.NoticeStatus:  domtapv1.OutcomeKind_OUTCOME_KIND_STATUS,
	dom.NoticeLog:     domtapv1.OutcomeKind_OUTCOME_KIND_LOG,
	dom.NoticeDialog:  domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG,
	dom.NoticeInvalid: domtapv1.OutcomeKind_OUTCOME_KIND_INVALID,
	dom.NoticeHeading: domtapv1.OutcomeKind_OUTCOME_KIND_HEADING,
	dom.NoticeToast:   domtapv1.OutcomeKind_OUTCOME_KIND_TOAST,
	dom.NoticeBusy:    domtapv1.OutcomeKind_OUTCOME_KIND_BUSY,
	dom.NoticeText:    domtapv1.OutcomeKind_OUTCOME_KIND_TEXT,
	dom.NoticeLook:    domtapv1.OutcomeKind_OUTCOME_KIND_LOOK,
}

// importance orders the kinds: what comes later is left out first.
var importance = []dom.NoticeKind{
	dom.NoticeDialog, dom.NoticeAlert, dom.NoticeInvalid, dom.NoticeToast, dom.NoticeStatus, dom.NoticeBusy, dom.NoticeHeading, dom.NoticeText, dom.NoticeLook, dom.NoticeLog,
}

// lengths are how many characters texts may have, longest first. The next is taken when all entries cost too much.
var lengths = []int{160, 80, 40, 20}

// Of returns the outcome of what was noticed, in its order.
func Of(noticed []dom.Notice) []*domtapv1.Outcome {
	kept := mostImportant(distinct(noticed), MaxEntries)
	for _, length := range lengths {
		if out, cost := entries(kept, length); cost <= MaxTokens {
			return out
		}
	}
	for len(kept) > 0 { // letters that cost several tokens each
		kept = mostImportant(kept, len(kept)-1)
		if out, cost := entries(kept, lengths[len(lengths)-1]); cost <= MaxTokens {
			return out
		}
	}
	return nil
}

// distinct leaves out what says the same as an entry before it, toasts that have a role, too, and texts that others say. Of a dialog
// that opened or closed several times the last one counts.
func distinct(noticed []dom.Notice) []dom.Notice {
	var out []dom.Notice
	for _, n := range noticed {
		if n.Kind == dom.NoticeDialog {
			out = withoutFlicker(out, n)
		}
		same := func(o dom.Notice) bool {
			toast := n.Kind == dom.NoticeToast && (o.Kind == dom.NoticeAlert || o.Kind == dom.NoticeStatus || o.Kind == dom.NoticeLog)
			return o.Text == n.Text && (toast || o.Kind == n.Kind && o.Detail == n.Detail && o.Gone == n.Gone && o.Ref == n.Ref)
		}
		over := n.Kind == dom.NoticeLook && n.Gone // it looks as before
		if kinds[n.Kind] != 0 && !over && !slices.ContainsFunc(out, same) {
			out = append(out, n)
		}
	}
	said := slices.Clone(out)
	return slices.DeleteFunc(out, func(n dom.Notice) bool {
		return n.Kind == dom.NoticeText && n.Detail == "" && slices.ContainsFunc(said, func(o dom.Notice) bool { return covers(o, n) })
	})
}

// withoutFlicker returns the entries without those of a dialog that says what it did before it opened or closed again.
func withoutFlicker(out []dom.Notice, again dom.Notice) []dom.Notice {
	same := func(o dom.Notice) bool { return o.Kind == dom.NoticeDialog && o.Text == again.Text }
	as := slices.IndexFunc(out, func(o dom.Notice) bool { return same(o) && o.Gone == again.Gone && o.Detail == again.Detail })
	if as < 0 || !slices.ContainsFunc(out[as:], func(o dom.Notice) bool { return same(o) && o.Gone != again.Gone }) {
		return out
	}
	return slices.DeleteFunc(out, same)
}

// covers reports whether a notice says more than a text: it has the text in it, or is what stands in the place of one that is gone.
func covers(o, text dom.Notice) bool {
	if o.Kind == dom.NoticeText {
		return text.Gone && !o.Gone
	}
	return o.Kind != dom.NoticeLook && (strings.Contains(o.Text, text.Text) || strings.Contains(o.Detail, text.Text))
}

// Beside leaves the texts out that the changes of an answer show, whatever their form. The one that says how many more
// changed stays, unless all are shown.
func Beside(all []*domtapv1.Outcome, shows func(text string) bool) []*domtapv1.Outcome {
	hidden := slices.ContainsFunc(all, func(o *domtapv1.Outcome) bool { return IsText(o) && !shows(o.GetText()) })
	return slices.DeleteFunc(all, func(o *domtapv1.Outcome) bool {
		return IsText(o) && (!hidden || o.GetDetail() == "" && shows(o.GetText()))
	})
}

// Unsaid leaves out what the text of an answer says: of a new page, which the text is then, its headings, texts, and the status and the
// logs in it; of changes the headings that new elements begin with.
func Unsaid(all []*domtapv1.Outcome, text string, replaced bool) []*domtapv1.Outcome {
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

// IsPage reports whether the changes of DENSE_DIFF are the page instead.
func IsPage(changes string) bool { return strings.HasPrefix(changes, "URL: ") }

// begins reports whether the name of an element that is new is words, or a card's that begins with them.
func begins(changes, words string) bool {
	for line := range strings.Lines(changes) {
		if line[0] != '+' {
			continue
		}
		_, name, _ := strings.Cut(line, "] ")
		behind, found := strings.CutPrefix(name, words)
		if found && (behind == "\n" || strings.HasPrefix(behind, " (") || strings.HasPrefix(behind, truncate.Ellipsis)) {
			return true
		}
	}
	return false
}

// IsText reports whether an entry is a text of the page that changed.
func IsText(o *domtapv1.Outcome) bool {
	return o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_TEXT
}

// IsLook reports whether an entry is an element that looks different.
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

// entries makes the entries, with texts of at most so many characters, and returns what they cost in tokens.
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
