package outcome

import (
	"fmt"
	"strings"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// leastTexts is the minimum number of texts for a document to be compared. mostNew is the maximum number of new texts.
	leastTexts, mostNew = 5, 12
	// sameShare is the minimum percentage of texts that the previous document must have had too.
	sameShare = 70
	// toldAgain limits how many of the new texts are returned.
	toldAgain = 3
)

// Again returns the new texts of a document that is mostly equal to the previous one, such as a form that a server returns with error
// messages, or a list with a confirmation. If the pages differ too much, it returns nothing. It omits texts that page, the printed page,
// contains. Both documents must have been read with structural elements. before is nil if the previous document is unknown.
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
