package dense

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// Element is one element of a text.
type Element struct {
	Ref uint32
	// Name is the accessible name, Role the ARIA role.
	Name, Role string
	// Left is how many characters of a name that ends in "…" the text leaves out.
	Left int
	// Value is the value of a field, Target where a link leads as far as the text shows it, and Context
	// what tells the element from others of the same role and name.
	Value, Target, Context string
	// ValueLeft and ContextLeft are for these what Left is for the name.
	ValueLeft, ContextLeft int
	// States are words such as checked and disabled, in the order in which the text has them.
	States []string
	// Hints are words for what the name and the states do not say: the icon, states that classes tell.
	Hints []string
	// Covered says that the element is behind a modal.
	Covered bool
}

var (
	// refs finds refs. Of a run it finds all refs and how many they are. Its matches of escaped characters are no refs.
	refs = lazyregexp.New(`\\.|\[(\d+)\](?:=\[(\d+)\])?|\[(\d+(?:(?:, |…|/)\d+)+)\] (?:(\d+)×(\d+)|×(\d+))`)
	// tail is what follows a ref: name, target, role, value, states, context, and what begins another cell.
	tail = lazyregexp.New(`^(?: ((?:\\.|[^\\])+?))??(?: →(\S+))?` +
		`(?: \(([a-z][a-z0-9-]*)(?: ="((?:\\.|[^"\\])*)")?(?: type=[a-z]+)?((?: ~?[a-z][a-z0-9=-]*)*)\))?` +
		`(?: ‹((?:\\.|[^\\])*?)›)?(?: \|(?: .*)?)?$`)
	// cut is how much of words is left out; in the page's own words the sign is escaped.
	cut     = lazyregexp.New(`…\+(\d+)$`)
	escaped = lazyregexp.New(`\\(.)`)
)

// Parse returns the elements of a text in its order.
func Parse(text string) (all []Element, err error) {
	places, same := map[uint32]int{}, map[uint32]uint32{} // where elements are, and what they refer to
	for line := range strings.Lines(text) {
		items, err := parseLine(strings.TrimSuffix(line, "\n"), same)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(items) {
			places[e.Ref] = len(all)
			all = append(all, e)
		}
	}
	for ref, other := range same {
		at, ok := places[other]
		if !ok {
			return nil, fmt.Errorf("read [%d]=[%d]: no element %d in the text", ref, other, other)
		}
		all[places[ref]] = all[at]
		all[places[ref]].Ref, all[places[ref]].Context, all[places[ref]].ContextLeft = ref, "", 0 // it stands elsewhere
	}
	return all, nil
}

// parseLine returns the elements of a line, the last one first, and notes those that refer to others.
func parseLine(line string, same map[uint32]uint32) (items []Element, err error) {
	line, covered := strings.CutPrefix(line, "(covered) ")
	if line == "" || !strings.ContainsRune("[#|", rune(line[0])) {
		return nil, nil // the header, a group, an outcome
	}
	line, others := cutOthers(line)
	end := len(line)
	for _, m := range slices.Backward(refs().FindAllStringSubmatchIndex(line, -1)) {
		if m[2] < 0 && m[6] < 0 {
			continue
		}
		part := tail().FindStringSubmatch(strings.TrimSuffix(line[m[1]:end], " "))
		if part == nil {
			return nil, fmt.Errorf("read %q: not an element of format DENSE", line[m[0]:end])
		}
		name, left := cutWords(part[1])
		value, valueLeft := cutWords(part[4])
		context, contextLeft := cutWords(part[6])
		states, hints := statesAndHints(part[5])
		e := Element{Name: unescape(name), Left: left, Target: part[2], Role: cmp.Or(part[3], "link"),
			Value: unescape(value), ValueLeft: valueLeft, States: states, Hints: hints, Context: unescape(context), ContextLeft: contextLeft,
			Covered: covered}
		end = m[0]
		if m[6] >= 0 {
			all, err := unfold(e, line[m[6]:m[7]], [3]string{group(line, m, 4), group(line, m, 5), group(line, m, 6)}, others)
			if err != nil {
				return nil, fmt.Errorf("read %q: %w", line[m[0]:], err)
			}
			items = append(items, all...)
			continue
		}
		e.Ref = number(line[m[2]:m[3]])
		switch second := m[4] >= 0; {
		case second && e.Name == "" && part[3] == "":
			same[e.Ref] = number(line[m[4]:m[5]])
		case second: // e.Ref contains nothing but the second, which is the one described
			around := Element{Ref: e.Ref, Name: e.Name, Left: e.Left, Role: "generic", Covered: covered}
			e.Ref = number(line[m[4]:m[5]])
			items = append(items, e)
			e = around
		}
		items = append(items, e)
	}
	return items, nil
}

// statesAndHints tells the states of an element from its hints.
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

// cutWords takes from words what says how much of them is left out.
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
