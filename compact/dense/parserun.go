package dense

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/internal/lazyregexp"
)

// maxUnfolded limits how many elements the line of a run may represent.
const maxUnfolded = 100_000

var (
	// other matches the refs that the line of a run lists after "but", and the state of those elements.
	other = lazyregexp.New(`(?: but |, )\[(\d+(?:(?:, |…|/)\d+)*)\](?: ((?:\\.|[^\\\[])+?))? \(([a-z][a-z0-9-]*)((?: ~?[a-z][a-z0-9=-]*)*)\)`)
	// beginsOthers matches the beginning of that list.
	beginsOthers = lazyregexp.New(`[)›] but \[\d`)
	counting     = lazyregexp.New(`(\d+)…(\d+)`)
	// ranged matches several ranges of numbers.
	ranged = lazyregexp.New(`\d+(?:…\d+)?(?:,\d+(?:…\d+)?)+`)
)

// errRun is the error for a line that looks like a run but is not valid.
var errRun = errors.New("not a run of format DENSE")

// stateOf is the state of some elements of a run, and their name, in which sameDate stands for the date. An empty name means the name of
// the other elements.
type stateOf struct {
	states, hints []string
	name          string
}

// cutOthers splits the list of elements in other states from the line of a run. It returns their states by ref.
func cutOthers(line string) (run string, others map[uint32]stateOf) {
	if !folded().MatchString(line) {
		return line, nil
	}
	found := beginsOthers().FindStringIndex(line)
	if found == nil {
		return line, nil
	}
	at := strings.Index(line[found[0]:], " but [") + found[0]
	others = map[uint32]stateOf{}
	for _, m := range other().FindAllStringSubmatch(line[at:], -1) {
		states, hints := statesAndHints(m[4])
		for _, ref := range refsOf(m[1], -1) {
			others[ref] = stateOf{states, hints, unescape(m[2])}
		}
	}
	return line[:at], others
}

// unfold returns the elements of a run in reverse order, given their common parts. shape is the rows and columns, or the count.
func unfold(e Element, refs string, shape [3]string, others map[uint32]stateOf) (all []Element, err error) {
	rows, columns := int(number(shape[0])), int(number(shape[1]))
	n := max(rows*columns, int(number(shape[2])))
	if n < 2 || n > maxUnfolded || rows*columns > 0 && columns > maxUnfolded {
		return nil, errRun
	}
	list := refsOf(refs, n)
	dates, before, behind := unfoldDates(e.Name, n)
	if dates != nil {
		e.Name = ""
	}
	names, contexts, ok := unfoldWords(e.Name, e.Context, n, columns)
	if !ok || len(list) != n {
		return nil, errRun
	}
	for i, ref := range list {
		one := e
		one.Ref, one.Name, one.Context = ref, names[i], contexts[i]
		o, differs := others[ref]
		if differs {
			one.States, one.Hints = o.states, o.hints
		}
		if dates != nil {
			one.Name = strings.Replace(cmp.Or(o.name, before+sameDate+behind), sameDate, dates[i], 1)
		}
		all = append(all, one)
	}
	slices.Reverse(all)
	return all, nil
}

// refsOf returns the refs in a bracket. `3, 6…30` means 3 and 6 to 30, or equal steps if that yields n refs; a negative n rules out steps.
// `6…30/2` means every other ref.
func refsOf(text string, n int) (all []uint32) {
	for one := range strings.SplitSeq(text, ", ") {
		one, step, _ := strings.Cut(one, "/")
		first, last, isRange := strings.Cut(one, part.Ellipsis)
		if !isRange {
			last = first
		}
		a, b := number(first), number(last)
		if b < a || b-a >= maxUnfolded || len(all) >= maxUnfolded {
			return nil
		}
		for ref := a; ref <= b; ref += max(number(step), 1) {
			all = append(all, ref)
		}
	}
	if n < 0 || len(all) == n {
		return all
	}
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || '9' < r })
	if len(numbers) != 3 {
		return nil
	}
	all = all[:0]
	first, step := number(numbers[0]), number(numbers[1])-number(numbers[0])
	for k := range uint32(n) {
		all = append(all, first+k*step)
	}
	return all
}

// unfoldDates returns the dates in a name from a first to a last one, and the texts before and after each. It returns nil if there are
// none.
func unfoldDates(name string, n int) (dates []string, before, behind string) {
	first, last, several := strings.Cut(name, untilDate)
	if !several {
		return nil, "", ""
	}
	before, d, rest, ok := dateIn(first)
	if !ok || rest != "" || !strings.HasPrefix(last, d.after(n-1)) {
		return nil, "", ""
	}
	for i := range n {
		dates = append(dates, d.after(i))
	}
	return dates, before, strings.TrimPrefix(last, dates[n-1])
}

// unfoldRanges returns the names of n elements whose number is in one of several ranges, or nil if the name has no such ranges.
func unfoldRanges(name string, n int) (names []string) {
	at := ranged().FindStringIndex(name)
	if at == nil || strings.Contains(name[:at[0]]+name[at[1]:], part.Ellipsis) {
		return nil
	}
	for one := range strings.SplitSeq(name[at[0]:at[1]], ",") {
		first, last, _ := strings.Cut(one, part.Ellipsis)
		length := int(number(cmp.Or(last, first))) - int(number(first)) + 1
		if length < 1 || len(names)+length > n {
			return nil
		}
		for k := range length {
			names = append(names, name[:at[0]]+padded(int(number(first))+k, first)+name[at[1]:])
		}
	}
	if len(names) != n {
		return nil
	}
	return names
}

// unfoldWords returns the names and contexts of n elements. If there are columns, the first of two numbers counts rows.
func unfoldWords(name, context string, n, columns int) (names, contexts []string, ok bool) {
	const between = "\x00"
	text := name + between + context
	ranges := counting().FindAllStringSubmatchIndex(text, -1)
	names, contexts = make([]string, n), make([]string, n)
	if columns == 0 && !strings.Contains(context, part.Ellipsis) {
		if several := unfoldRanges(name, n); several != nil {
			return several, slices.Repeat([]string{context}, n), true
		}
	}
	for i := range n {
		var b strings.Builder
		at := 0
		for k, m := range ranges {
			step, steps := i, n-1
			if columns > 0 && len(ranges) == 2 {
				if step, steps = i/columns, n/columns-1; k == 1 {
					step, steps = i%columns, columns-1
				}
			}
			counted, ok := countedTo(text[m[2]:m[3]], text[m[4]:m[5]], step, steps)
			if !ok {
				return nil, nil, false
			}
			b.WriteString(text[at:m[0]] + counted)
			at = m[1]
		}
		names[i], contexts[i], _ = strings.Cut(b.String()+text[at:], between)
	}
	return names, contexts, true
}

// countedTo returns the number after step of steps equal steps that lead from first to last.
func countedTo(first, last string, step, steps int) (text string, ok bool) {
	a, wrongA := strconv.Atoi(first)
	b, wrongB := strconv.Atoi(last)
	if wrongA != nil || wrongB != nil || steps < 1 || (b-a)%steps != 0 {
		return "", false
	}
	if step == 0 {
		return first, true
	}
	text = padded(a+step*((b-a)/steps), first)
	return text, text != ""
}

// group returns the text of a group of a match, or an empty string if it did not participate.
func group(text string, match []int, i int) string {
	if match[2*i] < 0 {
		return ""
	}
	return text[match[2*i]:match[2*i+1]]
}
