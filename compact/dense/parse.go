package dense

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Element is an element of a parsed text.
type Element struct {
	Ref uint32
	// Name is the accessible name, Role the ARIA role.
	Name, Role string
	// Left is the number of characters that the text omits from a name that ends in "…".
	Left int
	// Value is the value of a field, and Target the printed target of a link: "→" if the link's name says which site it leads to. Context
	// distinguishes the element from others of the same role and name.
	Value, Target, Context string
	// ValueLeft is the number of characters omitted from Value.
	ValueLeft int
	// States are words such as checked and disabled, in the order of the text.
	States []string
	// Hints are words for details that the name and the states do not contain: the icon, or states derived from classes.
	Hints []string
	// Covered reports whether the element is behind a modal.
	Covered bool
}

var (
	// refs matches refs. For a run it matches all refs and their number. It also matches escaped characters, which are not refs.
	refs = lazyregexp.New(`\\.|\[(\d+)\](?:=\[?(\d+)\]?)?|\[(\d+(?:(?:, |…|/)\d+)+)\] (?:(\d+)×(\d+)|×(\d+))`)
	// tail matches the text after a ref: name, target, role, value, states, context, and the beginning of another cell.
	tail = lazyregexp.New(`^(?: ((?:\\.|[^\\])+?))??(?: (→\S*))?` +
		`(?: \(([a-z][a-z0-9-]*)(?: ="((?:\\.|[^"\\])*)")?(?: type=[a-z]+)?((?: ~?[a-z][a-z0-9=-]*)*)\))?` +
		`(?: (‹((?:\\.|[^\\])*?)›))?(?: \|(?: .*)?)?$`)
	// assumed matches the role and states at the beginning of a line.
	assumed = lazyregexp.New(`^\(([a-z][a-z0-9-]*)((?: ~?[a-z][a-z0-9=-]*)*)\) `)
	// cut matches the number of omitted characters. In words of the page the sign is escaped.
	cut     = lazyregexp.New(`…\+(\d+)$`)
	escaped = lazyregexp.New(`\\(.)`)
)

// Parse returns the elements of a text in order.
func Parse(text string) (all []Element, err error) {
	places, same := map[uint32]int{}, map[uint32]uint32{} // the indexes of elements, and the refs that they refer to
	var last, target string
	for line := range strings.Lines(text) {
		items, err := parseLine(strings.TrimSuffix(line, "\n"), same, &last)
		if err != nil {
			return nil, err
		}
		slices.Reverse(items)
		fillTargets(items, &target)
		for _, e := range items {
			places[e.Ref] = len(all)
			all = append(all, e)
		}
	}
	for ref, other := range same {
		at, ok := places[other]
		if !ok {
			return nil, fmt.Errorf("read [%d]=%d: no element %d in the text", ref, other, other)
		}
		all[places[ref]] = all[at]
		all[places[ref]].Ref, all[places[ref]].Context = ref, "" // it has other surroundings
	}
	return all, nil
}

// fillTargets replaces each ditto by the target before it. last is the target before the items; fillTargets sets it to their last one.
func fillTargets(items []Element, last *string) {
	for i := range items {
		switch target := &items[i].Target; *target {
		case "", named:
		case ditto:
			*target = *last
		default:
			*last = *target
		}
	}
}

// parseLine returns the elements of a line in reverse order, and records references to others in same. last is the context before the line,
// and parseLine sets it to the last context in the line.
func parseLine(line string, same map[uint32]uint32, last *string) (items []Element, err error) {
	line, covered := strings.CutPrefix(line, "(covered) ")
	line, assumed := cutAssumed(line)
	if line == "" || !strings.ContainsRune("[#|", rune(line[0])) {
		return nil, nil // the header, a group, or an outcome
	}
	line, others := cutOthers(line)
	end := len(line)
	var unsaid []int // the places of items that have the context before them
	before, isLast := *last, true
	for _, m := range slices.Backward(refsIn(line)) {
		e, role, ditto, ok := parseItem(line[m[1]:end])
		if !ok {
			return nil, fmt.Errorf("read %q: not an element of format DENSE", line[m[0]:end])
		}
		e.Covered = covered
		e.assume(role, assumed)
		end = m[0]
		if m[6] >= 0 {
			all, err := unfold(e, line[m[6]:m[7]], [3]string{group(line, m, 4), group(line, m, 5), group(line, m, 6)}, others)
			if err != nil {
				return nil, fmt.Errorf("read %q: %w", line[m[0]:], err)
			}
			items = append(items, all...)
			continue
		}
		switch {
		case ditto:
			unsaid = append(unsaid, len(items))
		case e.Context != "":
			fillContext(items, unsaid, e.Context)
			if unsaid = nil; isLast {
				*last, isLast = e.Context, false
			}
		}
		e.Ref = number(line[m[2]:m[3]])
		items = append(items, e)
		switch second := number(group(line, m, 2)); {
		case m[4] < 0:
		case e.Name == "" && role == "":
			same[e.Ref] = second
		default: // the first element only contains the second one
			items[len(items)-1].Ref = second
			items = append(items, Element{Ref: e.Ref, Name: e.Name, Left: e.Left, Role: "generic", Covered: covered})
		}
	}
	fillContext(items, unsaid, before)
	return items, nil
}

// fillContext sets the context of some items.
func fillContext(items []Element, at []int, context string) {
	for _, k := range at {
		items[k].Context = context
	}
}

// refsIn returns the matches of refs in a line, without escaped characters.
func refsIn(line string) [][]int {
	return slices.DeleteFunc(refs().FindAllStringSubmatchIndex(line, -1), func(m []int) bool { return m[2] < 0 && m[6] < 0 })
}

// parseItem parses the text of an element after its ref. repeats reports that its context equals the context of the previous element.
func parseItem(text string) (e Element, role string, repeats, ok bool) {
	part := tail().FindStringSubmatch(strings.TrimSuffix(text, " "))
	if part == nil {
		return e, "", false, false
	}
	name, left := cutWords(part[1])
	value, valueLeft := cutWords(part[4])
	states, hints := statesAndHints(part[5])
	return Element{
		Name: unescape(name), Left: left, Target: targetOf(part[2]), Value: unescape(value), ValueLeft: valueLeft, States: states, Hints: hints,
		Context: unescape(part[7]),
	}, part[3], part[6] == "‹›", true
}

// assume sets the role of an element. An element without a role gets the role, states and hints of its line.
func (e *Element) assume(role string, line Element) {
	if e.Role = role; role == "" {
		e.Role, e.States, e.Hints = line.Role, slices.Clone(line.States), slices.Clone(line.Hints)
	}
}

// cutAssumed splits a line after the role and states at its beginning, which apply to elements without their own.
func cutAssumed(line string) (rest string, e Element) {
	m := assumed().FindStringSubmatch(line)
	if m == nil {
		return line, Element{Role: roleLink, States: []string{}}
	}
	e.Role = m[1]
	e.States, e.Hints = statesAndHints(m[2])
	return line[len(m[0]):], e
}

// targetOf returns the target of a link without the arrow before it, or the arrow if there is nothing else.
func targetOf(arrow string) string { return cmp.Or(strings.TrimPrefix(arrow, named), arrow) }

// statesAndHints separates the states of an element from its hints.
func statesAndHints(words string) (states, hints []string) {
	states = []string{}
	for word := range strings.FieldsSeq(words) {
		if hint, is := strings.CutPrefix(word, "~"); is {
			hints = append(hints, hint)
		} else {
			states = append(states, word)
		}
	}
	return states, hints
}

// cutWords splits the number of omitted characters from words.
func cutWords(s string) (words string, left int) {
	m := cut().FindStringSubmatch(s)
	if m == nil {
		return s, 0
	}
	return strings.TrimSuffix(s, "+"+m[1]), int(number(m[1]))
}

func unescape(s string) string { return escaped().ReplaceAllString(s, "$1") }

func number(digits string) uint32 {
	n, _ := strconv.ParseUint(digits, 10, 32)
	return uint32(n)
}
