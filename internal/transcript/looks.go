package transcript

import (
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// lookedAt is how much of a text is scanned to find its kind, in bytes.
const lookedAt = 64 << 10

// treeLine is a line of an accessibility tree or an element list, as browser tools print them: Playwright's and domtap's trees
// (- button "Pay" [ref=e1]), domtap's lines ([12] Pay (button)), those of chrome-devtools-mcp (uid=1_2 button "Pay") and of
// agent-browser (- button "Pay" [@e1]).
var treeLine = lazyregexp.New(`^\s*(?:- (?:'|")?[a-z]+\b.*(?:\[ref=|\[@?e\d|:$)|\[\d+\]<|\[\d+\] .*\([a-z][a-z0-9-]*\b.*\)$|uid=\S+ [a-zA-Z]+|@e\d+ |\[?e\d+\]? [a-z]+ ")`)

// denseRef is the ref of an element in domtap's format DENSE, of which a line may have many.
var denseRef = lazyregexp.New(`\[\d+\][ =]`)

// minRefs is how many refs a page in format DENSE must have to be told from a text with footnotes.
const minRefs = 5

// looksLikePage reports whether a result has the HTML of a whole page or an accessibility tree.
func (r *result) looksLikePage() bool {
	for _, p := range r.payloads {
		if looksLikePage(p.text) {
			return true
		}
	}
	return false
}

// hasPicture reports whether a result has an image.
func (r *result) hasPicture() bool {
	for _, p := range r.payloads {
		if p.picture {
			return true
		}
	}
	return false
}

// changes matches the first line of domtap's diffs, with at most a few lines about the action above it.
var changes = lazyregexp.New(`(?m)^Changes: \+\d+ -\d+`)

// denseChanges matches lines of format DENSE_DIFF: an element that was added, one that changed, and those that were
// replaced by equal ones.
var denseChanges = lazyregexp.New(`(?m)^(?:\+ (?:\(covered\) )?\[\d+\][ =]|~ (?:\(covered\) )?\[\d+\].* ←|= \d+ redrawn unchanged: refs \d)`)

// changed begins the answer to an action, and pageLine a page in it.
const changed, pageLine = "# changed\n", "\nURL: "

// navigated begins a result that lists the elements of a new page, which is a snapshot.
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
