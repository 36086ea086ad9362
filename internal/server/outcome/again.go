package outcome

import (
	"fmt"
	"strings"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// leastTexts is how many texts a document must have to be known again, and mostNew how many of them may be new.
	leastTexts, mostNew = 5, 12
	// sameShare is the part of its texts, in percent, that the document before had, too.
	sameShare = 70
	// toldAgain is how many of the new texts are told.
	toldAgain = 3
)

// Again returns the texts that a document has and the one before it had not, when both are much the same page: a form that a server sends
// back with what is wrong, or a list that says what was done. Of another page, all is new, and nothing is told. It leaves out what the
// page as text has. Both documents must have been read with their structural elements; before may be nil: it is not known.
func Again(before, after *dom.Snapshot, page string) []*domtapv1.Outcome {
	if before == nil {
		return nil
	}
	known := map[string]bool{}
	for e := range before.Elements.All() {
		known[e.WholeText()] = true
	}
	var fresh []string
	all, same := 0, 0
	for e := range after.Elements.All() {
		words := e.WholeText()
		switch {
		case words == "":
			continue
		case known[words]:
			same++
		case e.Kind == dom.Structural && e.Role != "heading" && !strings.Contains(page, words):
			fresh = append(fresh, words)
		}
		all++
	}
	if all < leastTexts || len(fresh) > mostNew || 100*same < sameShare*all {
		return nil
	}
	var told []*domtapv1.Outcome
	for _, words := range fresh[:min(toldAgain, len(fresh))] {
		told = append(told, &domtapv1.Outcome{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_TEXT, Text: truncate.Runes(words, lengths[0])})
	}
	if left := len(fresh) - len(told); left > 0 {
		told[len(told)-1].Detail = fmt.Sprintf("%d more", left)
	}
	return told
}
