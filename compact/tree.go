package compact

import (
	"strconv"
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// maxLevel limits the level of indentation. Deeper elements get this level, so that a page of twenty thousand nested boxes still has lines
// of bounded length.
const maxLevel = 64

// Tree returns the header and the lines of an outline of the view in format TREE:
//
//   - main [ref=e2]
//   - heading "Your cart" [level=1] [ref=e3]
//   - checkbox "Gift wrap" [checked] [ref=e9]
//   - textbox "Coupon" [required] [ref=e8]: SPRING
//
// A line is `- role[ "name"][ ‹context›][ [state]]…[ [level=N]][ [href=PATH]] [ref=eN][: value]`, indented by two spaces for each level, up
// to 64 levels. It has the href only for a link without a name, and the context only if no other line shows it. A double quote in a name is
// printed as a single one, so that a name cannot end early and be followed by a false ref. A context does not contain ‹, ›, [ or ].
func Tree(h Header, v view.View, o Outline) string {
	dst := make([]byte, 0, 256+72*len(o.entries))
	dst = h.append(dst, factsOf(h, v))
	for _, entry := range o.entries {
		dst = appendMargin(dst, entry.level)
		dst = append(o.appendEntry(dst, entry.element), '\n')
	}
	return string(dst)
}

// Folded maps the landmarks that are printed without their descendants to the number of descendants.
type Folded map[dom.Ref]int

// Outline is a view as a tree: the elements that have a line, and their levels. It is immutable.
type Outline struct {
	base     Base
	folded   Folded
	contexts Contexts
	entries  []entry
}

type entry struct {
	element *dom.Element
	level   int
}

// NewOutline returns the outline of the shown elements of a snapshot, on a page with the given base. all holds the elements of the
// snapshot. An element is one level below its nearest shown ancestor. An element that only wraps another has no line: a structural element
// of role generic, or a details element, without name, value and states, with exactly one child in the view. The child takes its place.
//
// Both lists must be in document order, parents before children, and the list all must contain the shown elements.
func NewOutline(base Base, shown, all []*dom.Element, folded Folded) Outline {
	parents := parentsOf(shown, all)
	children := make([]int, len(shown))
	for _, p := range parents {
		if p >= 0 {
			children[p]++
		}
	}
	o := Outline{base: base, folded: folded, entries: make([]entry, 0, len(shown))}
	below := make([]int, len(shown)) // the level of each element's children
	for i, e := range shown {
		level := 0
		if p := parents[i]; p >= 0 {
			level = below[p]
		}
		below[i] = level
		if children[i] == 1 && isWrapper(e) {
			continue
		}
		below[i] = min(level+1, maxLevel)
		o.entries = append(o.entries, entry{e, level})
	}
	return o
}

// With returns the outline with the contexts that no line of the outline shows.
func (o Outline) With(contexts Contexts) Outline {
	if len(contexts) == 0 {
		return o
	}
	lines := make(map[dom.Ref]bool, len(o.entries))
	for _, entry := range o.entries {
		_, folded := o.folded[entry.element.Ref]
		lines[entry.element.Ref] = !folded
	}
	o.contexts = Contexts{}
	for _, entry := range o.entries {
		if c, known := contexts[entry.element.Ref]; known && !lines[c.Of.Ref] {
			o.contexts[entry.element.Ref] = c
		}
	}
	return o
}

// parentsOf returns, for each shown element, the index of its nearest shown ancestor, or -1 if there is none.
func parentsOf(shown, all []*dom.Element) []int {
	parents := make([]int, len(shown))
	nearest := make(map[dom.Ref]int, len(all)) // for each element: itself if it is shown
	at := 0
	for _, e := range all {
		if at == len(shown) {
			break
		}
		n, ok := nearest[e.Parent]
		if !ok {
			n = -1
		}
		if e.Ref == shown[at].Ref {
			parents[at] = n
			n = at
			at++
		}
		nearest[e.Ref] = n
	}
	for ; at < len(shown); at++ {
		parents[at] = -1
	}
	return parents
}

// isWrapper reports whether an element has no content of its own.
func isWrapper(e *dom.Element) bool {
	return e.Kind == dom.Structural && (e.Role == "generic" || e.Role == "" || e.Tag == "details") && e.Level == 0 &&
		e.Text == "" && e.Value == "" && e.Hints == "" && e.States == (dom.States{})
}

// Len returns how many lines the outline has.
func (o Outline) Len() int { return len(o.entries) }

// Cost returns the exact cost of the lines of the outline, including their line ends, as computed by count.
func (o Outline) Cost(count func(string) int) int {
	var buffer []byte
	sum := 0
	for _, entry := range o.entries {
		buffer = appendMargin(buffer[:0], entry.level)
		buffer = append(o.appendEntry(buffer, entry.element), '\n')
		sum += count(string(buffer))
	}
	return sum
}

// TreeCost returns a function for view.Options.Cost. The function returns the maximum cost of an element's line in a Tree, including its
// line end, as computed by count. The level of an element, and whether it gets a line at all, depends on the other elements in the view, so
// the function returns the maximum for all levels up to its depth in the document. The exact cost is known when the view exists:
// Outline.Cost is never larger.
//
// The function keeps a buffer and is not safe for concurrent use.
func TreeCost(base Base, folded Folded, contexts Contexts, count func(string) int) func(*dom.Element) int {
	o := Outline{base: base, folded: folded, contexts: contexts}
	margins := marginCosts(count)
	var buffer []byte
	return func(e *dom.Element) int {
		buffer = append(o.appendEntry(buffer[:0], e), '\n')
		return count(string(buffer)) + margins[min(max(e.Depth, 0), maxLevel)]
	}
}

// marginCosts returns the maximum cost that the margin adds to a line, for all levels up to each level. A tokenizer has tokens for some
// lengths of white space only, so a deeper line may cost less.
func marginCosts(count func(string) int) (most [maxLevel + 1]int) {
	const line = "- x\n"
	plain := count(line)
	var buffer []byte
	for level := 1; level <= maxLevel; level++ {
		buffer = append(appendMargin(buffer[:0], level), line...)
		most[level] = max(most[level-1], count(string(buffer))-plain)
	}
	return most
}

func appendMargin(dst []byte, level int) []byte {
	for range level {
		dst = append(dst, "  "...)
	}
	return dst
}

// appendEntry appends the line of an element without its margin and its line end.
func (o Outline) appendEntry(dst []byte, e *dom.Element) []byte {
	dst = append(dst, "- "...)
	dst = appendRole(dst, e.Role)
	named := len(dst)
	dst = appendQuoted(dst, e.Text, e.Left)
	if n, ok := o.folded[e.Ref]; ok {
		dst = appendEntryRef(dst, e.Ref)
		dst = append(dst, ": unchanged since the previous page ("...)
		dst = strconv.AppendInt(dst, int64(n), 10)
		return append(dst, " elements)"...)
	}
	named = len(dst) - named
	dst = AppendContext(dst, o.contexts[e.Ref])
	dst = appendMarks(dst, e)
	if e.Covered {
		dst = append(dst, " [covered]"...)
	}
	if e.Level > 0 {
		dst = append(dst, " [level="...)
		dst = append(strconv.AppendInt(dst, int64(e.Level), 10), ']')
	}
	if named == 0 && e.Href != "" {
		dst = o.appendTarget(dst, e.Href)
	}
	dst = appendEntryRef(dst, e.Ref)
	if part.HasReadableValue(e) {
		dst = part.AppendLeft(part.AppendAfter(dst, ": ", e.Value, part.MaxValue), e.ValueLeft)
	}
	return dst
}

func appendEntryRef(dst []byte, ref dom.Ref) []byte {
	dst = append(dst, " [ref=e"...)
	return append(strconv.AppendUint(dst, uint64(ref), 10), ']')
}

// appendRole appends a role: letters, digits and hyphens. All other characters are dropped, because a role is not quoted.
func appendRole(dst []byte, role string) []byte {
	start := len(dst)
	for i := 0; i < len(role) && len(dst)-start < part.MaxWord; i++ {
		c := role[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' && len(dst) > start {
			dst = append(dst, c)
		}
	}
	if len(dst) == start {
		dst = append(dst, "generic"...)
	}
	return dst
}

// appendQuoted appends a name in quotes with the number of omitted characters, or nothing if there is no name.
func appendQuoted(dst []byte, name string, left int) []byte {
	start := len(dst)
	dst = part.AppendAfter(dst, ` "`, name, part.MaxText)
	if len(dst) == start {
		return dst
	}
	for i := start + len(` "`); i < len(dst); i++ {
		if dst[i] == '"' {
			dst[i] = '\''
		}
	}
	return append(part.AppendLeft(dst, left), '"')
}

// appendMarks appends the states in the words and order of LINES, each in brackets.
func appendMarks(dst []byte, e *dom.Element) []byte {
	if e.States == (dom.States{}) && e.Hints == "" {
		return dst
	}
	var buffer [96]byte
	for word := range strings.FieldsSeq(string(part.AppendHints(part.AppendStates(buffer[:0], &e.States), e.Hints))) {
		dst = append(dst, " ["...)
		dst = append(dst, word...)
		dst = append(dst, ']')
	}
	return dst
}

// bracketless encodes the brackets of an address as URLs may, so that it cannot end early.
var bracketless = strings.NewReplacer("[", "%5B", "]", "%5D")

// appendTarget appends the target of a link without a name.
func (o Outline) appendTarget(dst []byte, href string) []byte {
	target := o.base.AppendHref(nil, href)
	if len(target) == 0 {
		return dst
	}
	dst = append(dst, " [href="...)
	dst = append(dst, bracketless.Replace(string(target))...)
	return append(dst, ']')
}
