package transcript

import (
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// lookedAt limits how much of a text is scanned to detect its kind, in bytes.
const lookedAt = 64 << 10

// treeLine matches a line of an accessibility tree or an element list in the formats of browser tools: the trees of Playwright and domtap
// (- button "Pay" [ref=e1]), domtap's lines ([12] Pay (button)), and the lines of chrome-devtools-mcp (uid=1_2 button "Pay") and
// agent-browser (- button "Pay" [@e1]).
var treeLine = lazyregexp.New(`^\s*(?:- (?:'|")?[a-z]+\b.*(?:\[ref=|\[@?e\d|:$)|\[\d+\]<|\[\d+\] .*\([a-z][a-z0-9-]*\b.*\)$|uid=\S+ [a-zA-Z]+|@e\d+ |\[?e\d+\]? [a-z]+ ")`)

// denseRef matches the ref of an element in domtap's DENSE format. A line may contain many refs.
var denseRef = lazyregexp.New(`\[\d+\][ =]`)

// minRefs is the minimum number of refs in a page in DENSE format. It distinguishes such a page from a text with footnotes.
const minRefs = 5

// looksLikePage reports whether a result contains the HTML of a whole page or an accessibility tree.
func (r *result) looksLikePage() bool {
	for _, p := range r.payloads {
		if looksLikePage(p.text) {
			return true
		}
	}
	return false
}

// hasPicture reports whether a result contains an image.
func (r *result) hasPicture() bool {
	for _, p := range r.payloads {
		if p.picture {
			return true
		}
	}
	return false
}

// changes matches the first line of domtap's diffs. A few lines about the action may precede it.
var changes = lazyregexp.New(`(?m)^Changes: \+\d+ -\d+`)

// denseChanges matches lines of the DENSE_DIFF format: an added element, a changed element, and elements that were replaced by equal ones.
var denseChanges = lazyregexp.New(`(?m)^(?:\+ (?:\(covered\) )?\[\d+\][ =]|~ (?:\(covered\) )?\[\d+\].* ←|= \d+ redrawn unchanged: refs \d)`)

// changed starts the answer to an action. pageLine starts a page in such an answer.
const changed, pageLine = "# changed\n", "\nURL: "

// navigated starts a result that lists the elements of a new page. Such a result is a snapshot.
const navigated = "# navigated\n"

// looksLikeReport reports whether a result is a diff.
func (r *result) looksLikeReport() bool {
	for _, p := range r.payloads {
		head := p.text[:min(len(p.text), 4096)]
		action := strings.HasPrefix(head, changed) && !strings.Contains(head, pageLine)
		if action || changes().MatchString(head) || denseChanges().MatchString(head) {
			return !strings.HasPrefix(p.text, navigated)
		}
	}
	return false
}

func looksLikePage(text string) bool {
	if len(text) > lookedAt {
		text = text[:lookedAt]
	}
	head := strings.ToLower(text[:min(len(text), 2048)])
	for _, mark := range [...]string{"<!doctype html", "<html", "<body", "rootwebarea", "<page nonce="} {
		if strings.Contains(head, mark) {
			return true
		}
	}
	if strings.HasPrefix(head, "url: ") && len(denseRef().FindAllStringIndex(text, minRefs)) == minRefs {
		return true
	}
	lines, hits := 0, 0
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		if treeLine().MatchString(line) {
			hits++
		}
	}
	return hits >= 5 && hits*2 >= lines
}
