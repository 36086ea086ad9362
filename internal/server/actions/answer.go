// Package actions implements ActionService: it converts the steps of a request to a turn, performs it, and answers with what it changed.
//
// Every token of the answer costs an agent money, so the answer contains only changes. It omits unchanged fields of the tab, and the
// elements that a navigation removed.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package actions

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/compact"
	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/truncate"
	"github.com/domtap/domtap/view"
)

// unknownChanges is the diff of a page that has stopped answering.
const unknownChanges = "Changes: not known, the page does not answer\n"

// unlistedChanges is the text of an empty diff if elements changed that the caller's diffs do not list.
const unlistedChanges = "Changes: in headings, texts or images alone\n"

// diffForm controls the form of the diff in an answer.
type diffForm struct {
	// Text selects the diff as text.
	Text bool
	// Structural includes structural elements, as far as the turn knows them. See turn.Outcome.
	Structural bool
	// Contexts returns the contexts of the added elements of a diff, on the page after the change.
	Contexts func(*dom.Snapshot, diff.Diff) compact.Contexts
	// Brief omits outcomes that the text of the answer already contains. See InteractRequest.brief.
	Brief bool
	// Print, if set, returns the text of the diff. It returns "" if there is nothing to list.
	Print func(o *turn.Outcome) string
	// Again, if set, is called after Print. It returns the new texts of a document that is mostly equal to the previous one. See
	// outcome.Again.
	Again func() []*domtapv1.Outcome
}

// answerOf returns the answer of a turn.
func answerOf(o *turn.Outcome, form diffForm) (*domtapv1.InteractResponse, error) {
	answer, err := changed(o, form)
	if err != nil {
		return nil, err
	}
	printed := linesOf(answer)
	days := form.Print != nil && runLine().MatchString(answer.GetDiffText())
	if days {
		leaveOutDays(answer)
	}
	answer.Outcome = outcome.WithoutShown(answer.Outcome, func(text string) bool {
		return strings.Contains(answer.GetDiffText(), text) || listsText(answer.GetDiff(), text) || isIn(printed, text) || days && dense.IsDays(text)
	})
	if form.Brief {
		answer.Outcome = outcome.Unprinted(answer.Outcome, answer.GetDiffText(), o.Replaced)
		leaveOutPlace(answer, o)
	}
	if form.Again != nil {
		answer.Outcome = append(answer.Outcome, form.Again()...)
	}
	told := func(o *domtapv1.Outcome) bool { return outcome.IsLook(o) || form.Print != nil && outcome.IsText(o) }
	if answer.GetDiffText() == unlistedChanges && slices.ContainsFunc(answer.GetOutcome(), told) {
		answer.DiffText = dense.None // no listed element changed; the outcome describes the rest
	}
	return answer, nil
}

// leaveOutPlace removes the destination from the last summary that contains one, because the answer prints the page itself.
func leaveOutPlace(answer *domtapv1.InteractResponse, o *turn.Outcome) {
	if !o.Replaced || !outcome.IsPage(answer.GetDiffText()) {
		return
	}
	for i, r := range slices.Backward(o.Results) {
		if strings.HasPrefix(r.Destination, turn.DestinationMark) {
			answer.Results[i].Summary = strings.TrimSuffix(r.Summary, r.Destination)
			return
		}
	}
}

// runLine matches the beginning of a line of DENSE that stands for several elements, such as the days of a calendar: refs and a count.
var runLine = lazyregexp.New(`\] \d*×\d+ `)

// besideWords matches what a line of DENSE contains besides the texts of the page: refs and descriptions of elements.
var besideWords = lazyregexp.New(`\[\d+\]|\([a-z][^()]*\)`)

// linesOf returns the words of each line that an answer prints. It returns nil if the outcome has no texts to compare them with.
func linesOf(answer *domtapv1.InteractResponse) (lines []string) {
	if !slices.ContainsFunc(answer.GetOutcome(), outcome.IsText) {
		return nil
	}
	for line := range strings.Lines(answer.GetDiffText()) {
		if !strings.HasPrefix(line, "-") { // removed elements
			lines = append(lines, wordsIn(counted(besideWords().ReplaceAllString(line, " "))))
		}
	}
	return lines
}

// numberRange matches a range that stands for several numbers. Ranges of more than maxCounted numbers are not expanded.
var numberRange = lazyregexp.New(`(\d+)…(\d+)`)

const maxCounted = 400

// maxDays limits the text of a dialog that is named by its days, in characters.
const maxDays = 20

// counted returns a line with its ranges expanded to all numbers.
func counted(line string) string {
	return numberRange().ReplaceAllStringFunc(line, func(text string) string {
		first, last, _ := strings.Cut(text, "…")
		a, wrongA := strconv.Atoi(first)
		b, wrongB := strconv.Atoi(last)
		if wrongA != nil || wrongB != nil || b-a > maxCounted {
			return text
		}
		var all []string
		for n := a; n <= b; n++ {
			all = append(all, strconv.Itoa(n))
		}
		return strings.Join(all, " ")
	})
}

// leaveOutDays removes the days of a calendar from the texts of dialogs in the outcome, because the answer lists the days as elements.
func leaveOutDays(answer *domtapv1.InteractResponse) {
	for _, o := range answer.GetOutcome() {
		if o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG {
			o.Text = cmp.Or(dense.WithoutDays(o.GetText()), truncate.Runes(o.GetText(), maxDays))
			o.Detail = dense.WithoutDays(o.GetDetail())
		}
	}
}

// wordsIn returns the words of a text without punctuation. Each word is between spaces.
func wordsIn(text string) string {
	isSign := func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }
	return " " + strings.Join(strings.FieldsFunc(text, isSign), " ") + " "
}

// isIn reports whether a line contains the words of a text in sequence. The line may separate them, such as the cells of a row.
func isIn(lines []string, text string) bool {
	words := wordsIn(text)
	return words != "  " && slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, words) })
}

// listsText reports whether a diff lists an added or changed element that contains a text.
func listsText(d *domtapv1.Diff, text string) bool {
	has := func(e *domtapv1.Element) bool { return strings.Contains(e.GetText(), text) }
	return slices.ContainsFunc(d.GetAdded(), has) ||
		slices.ContainsFunc(d.GetChanged(), func(c *domtapv1.ChangedElement) bool { return has(c.GetElement()) })
}

// changed returns an answer whose outcome may repeat texts of its diff.
func changed(o *turn.Outcome, form diffForm) (*domtapv1.InteractResponse, error) {
	answer := &domtapv1.InteractResponse{
		Results: results(o), Verdict: messages.Verdict(o.Verdict), Tab: tab(o), NewTabId: o.NewTab,
		Outcome: outcome.Of(o.Notices),
	}
	if form.Print != nil {
		if answer.DiffText = form.Print(o); answer.DiffText != "" {
			return answer, nil
		}
		var err error
		answer.DiffText, err = unlisted(o, form)
		return answer, err
	}
	d, err := effect(o, form.Structural)
	if err != nil {
		return nil, err
	}
	listed := d
	if o.Replaced {
		listed.Removed = nil // all elements of the previous document
	}
	if form.Text {
		answer.DiffText, err = text(o, listed, len(d.Removed), form)
		return answer, err
	}
	answer.Diff = messages.Diff(listed, tabview.MaxListed)
	answer.Diff.RemovedCount = int32(len(d.Removed))
	if added := listed.Added[:min(len(listed.Added), tabview.MaxListed)]; len(added) > 0 {
		messages.DiffWithin(answer.Diff, form.Contexts(o.After, diff.Diff{Added: added}))
	}
	for _, c := range answer.Diff.GetChanged() {
		e := c.GetElement()
		c.Element = &domtapv1.Element{Ref: e.GetRef(), Tag: e.GetTag(), Role: e.GetRole(), Type: e.GetType(), Text: e.GetText()}
	}
	return answer, nil
}

// text returns the diff of a turn as text.
func text(o *turn.Outcome, listed diff.Diff, removed int, form diffForm) (string, error) {
	if !listed.Empty() || removed > 0 {
		return compact.DiffWithin(listed, removed, tabview.MaxListed), nil
	}
	return unlisted(o, form)
}

// unlisted returns the text of an empty diff. It explains why nothing is listed if the page changed or the changes are unknown.
func unlisted(o *turn.Outcome, form diffForm) (string, error) {
	if o.Info.Status == actor.StatusUnresponsive {
		return unknownChanges, nil
	}
	if !form.Structural && o.Verdict != turn.NoChange {
		all, err := effect(o, true)
		if err != nil {
			return "", err
		}
		if !all.Empty() {
			return unlistedChanges, nil
		}
	}
	return compact.Diff(diff.Diff{}), nil
}

// effect returns the diff of a turn. Without structural, reads of structural elements by other callers do not affect it.
func effect(o *turn.Outcome, structural bool) (diff.Diff, error) {
	listed := o.Elements
	if !structural {
		listed = func(s *dom.Snapshot) dom.List { return turn.WithoutStructure(s.Elements) }
	}
	before, err := plain(listed(o.Before))
	if err != nil {
		return diff.Diff{}, err
	}
	after, err := plain(listed(o.After))
	if err != nil {
		return diff.Diff{}, err
	}
	d := messages.Visible(diff.Between(before, after))
	d.From, d.To = o.Before.Revision, o.After.Revision
	return d, nil
}

// plain removes the attributes that other callers requested.
func plain(elements dom.List) (dom.List, error) {
	v, err := view.Of(&dom.Snapshot{Elements: elements}, view.Options{})
	return v.Elements, err
}

// tab converts the tab. For an unchanged page, it sets only the fields that identify the state.
func tab(o *turn.Outcome) *domtapv1.Tab {
	full := messages.Tab(o.Info)
	if o.Replaced || o.Verdict == turn.Navigated || o.Before.URL != o.After.URL || o.Before.Title != o.After.Title || o.Info.Dialog != nil {
		return full
	}
	lean := &domtapv1.Tab{Id: full.GetId(), Revision: full.GetRevision()}
	if o.Info.Status != actor.StatusReady {
		lean.Status = full.GetStatus()
	}
	return lean
}

func results(o *turn.Outcome) []*domtapv1.StepResult {
	base := compact.NewBase(o.After.URL)
	out := make([]*domtapv1.StepResult, len(o.Results))
	for i, r := range o.Results {
		out[i] = result(r, base)
	}
	return out
}

func result(r turn.Result, base compact.Base) *domtapv1.StepResult {
	m := &domtapv1.StepResult{Ok: r.Done, Summary: r.Summary, Text: r.Text, Image: r.Image, Delivered: messages.Delivered(r.Delivered)}
	switch {
	case r.Err != nil:
		m.Error, m.Reason, m.Candidates = r.Err.Error(), rpcstatus.StepReason(r.Err), candidates(r.Err, base)
	case !r.Done:
		m.Error = "skipped: an earlier step failed: correct that step, then send this step again"
	case r.Healed:
		ref := uint32(r.Ref)
		m.HealedRef = &ref
	}
	return m
}

// candidates returns the candidate elements of an error.
func candidates(err error, base compact.Base) []*domtapv1.Candidate {
	var known *apierr.Error
	if !errors.As(err, &known) {
		return nil
	}
	out := make([]*domtapv1.Candidate, 0, len(known.Candidates))
	for _, el := range known.Candidates {
		line := compact.AppendContext(compact.AppendLine(nil, el, base), known.Contexts[el.Ref])
		if i := slices.Index(line, ']'); i >= 0 && i+2 <= len(line) {
			line = line[i+2:]
		}
		out = append(out, &domtapv1.Candidate{Ref: uint32(el.Ref), Line: string(line)})
	}
	return out
}
