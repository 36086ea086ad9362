package dense

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// A board is a sequence of elements that are named by days, or by numbers that increase by one with a few gaps: the days of a month and
// those around it, hours, pages. It is a run whose line has the dates of the first and the last element, or all ranges of the numbers. The
// texts before and after the dates, and the states, may differ.

const (
	// minBoard is the minimum number of elements in a board.
	minBoard = 5
	// maxRanges limits how many ranges of numbers a board has.
	maxRanges = 8
	// maxKinds limits how many different states, or different texts beside the dates, the elements have.
	maxKinds = 6
	// maxBoardPieces limits how many ranges of refs a board has.
	maxBoardPieces = 12
	// maxStep is the largest step that a range of refs may have. Readers have to count the steps.
	maxStep = 3
	// sameDate replaces the date in the name of an element that is named differently from most of a board.
	sameDate = part.Ellipsis
	// untilDate separates the first and the last date.
	untilDate = " " + part.Ellipsis + " "
)

// board is a sequence of elements with their common text.
type board struct {
	entries []entry
	// names holds the names of all elements as one text. kinds holds for each element its name without its number or date, and its state.
	names string
	kinds []string
	// others counts the kinds.
	others int
}

// boardOf returns the longest board at the beginning of the entries, or nil if there is none.
func boardOf(entries []entry) *board {
	entries = entries[:listable(entries[:min(len(entries), maxRunLength)])]
	if len(entries) < minBoard {
		return nil
	}
	b := boardOfNumbers(entries)
	if b == nil || len(b.entries) < len(entries) {
		if d := boardOfDates(entries); d != nil && (b == nil || len(d.entries) > len(b.entries)) {
			b = d
		}
	}
	if b == nil || !b.listsRefs() || !b.isMostlyAlike() || !b.readsBack() {
		return nil
	}
	return b
}

// boardOfNumbers returns the board of the first entries whose names differ in one number that increases by one.
func boardOfNumbers(all []entry) *board {
	pattern, first := patternOf(all[0].m.Text)
	second, numbers := patternOf(all[1].m.Text)
	if second != pattern {
		return nil
	}
	slot := firstDifference(first, numbers)
	if slot < 0 {
		return nil
	}
	b := &board{}
	ranges, last := []string{}, 0
	for _, e := range all {
		p, numbers := patternOf(e.m.Text)
		if p != pattern || !isBeside(e, all[0]) || !differIn(first, numbers, slot) {
			break
		}
		n, err := strconv.Atoi(numbers[slot])
		switch k := len(ranges) - 1; {
		case err != nil || k == maxRanges-1 && n != last+1 || k > 1 && len(b.entries) < 2*k:
			return b.orNone(pattern, first, slot, ranges)
		case k >= 0 && n == last+1 && numbers[slot] == padded(n, firstOf(ranges[k])):
			ranges[k] = firstOf(ranges[k]) + part.Ellipsis + numbers[slot]
		default:
			ranges = append(ranges, numbers[slot])
		}
		if !b.add(e, boardDetail(e)) {
			break
		}
		last = n
	}
	return b.orNone(pattern, first, slot, ranges)
}

// add adds an element, unless it would exceed the number of kinds.
func (b *board) add(e entry, kind string) bool {
	if !slices.Contains(b.kinds, kind) {
		if b.others++; b.others > maxKinds {
			return false
		}
	}
	b.entries, b.kinds = append(b.entries, e), append(b.kinds, kind)
	return true
}

// orNone sets the names of a board of numbers and returns it, or nil if it has too few elements or too many ranges.
func (b *board) orNone(pattern string, numbers []string, slot int, ranges []string) *board {
	if len(b.entries) < max(minBoard, 2*len(ranges)) {
		return nil
	}
	numbers = slices.Clone(numbers)
	numbers[slot] = strings.Join(ranges, ",")
	for i, words := range strings.Split(pattern, "\x00") {
		if i > 0 {
			b.names += numbers[i-1]
		}
		b.names += words
	}
	return b
}

func firstOf(numbers string) string {
	first, _, _ := strings.Cut(numbers, part.Ellipsis)
	return first
}

// differIn reports whether two lists of numbers are equal except at an index.
func differIn(a, b []string, at int) bool {
	return len(a) == len(b) && slices.Equal(a[:at], b[:at]) && slices.Equal(a[at+1:], b[at+1:])
}

// isBeside reports whether an element may be in a board with another one, regardless of their names.
func isBeside(e, other entry) bool {
	if e.was != nil && (!e.was.name || e.was.target || e.was.record) || !isPlain(&e.m) { // a line has the old names, and no old states
		return false
	}
	return e.was == nil == (other.was == nil) && e.m.Role == other.m.Role && e.m.Covered == other.m.Covered && e.m.which == other.m.which
}

// boardOfDates returns the board of the first entries that are named by consecutive days.
func boardOfDates(all []entry) *board {
	_, d, _, ok := dateIn(all[0].m.Text)
	if !ok {
		return nil
	}
	b := &board{}
	for i, e := range all {
		date := d.after(i)
		at := strings.Index(e.m.Text, date)
		if at < 0 || !isBeside(e, all[0]) {
			break
		}
		name := e.m.Text[:at] + sameDate + e.m.Text[at+len(date):]
		if !b.add(e, name+"\x00"+boardDetail(e)) {
			break
		}
	}
	if len(b.entries) < minBoard {
		return nil
	}
	usual, _, _ := strings.Cut(mostOf(b.kinds), "\x00")
	before, behind, _ := strings.Cut(usual, sameDate)
	b.names = before + d.after(0) + untilDate + d.after(len(b.entries)-1) + behind
	return b
}

// boardDetail returns the detail of an element in a board, without a hint that is the date of its name.
func boardDetail(e entry) string {
	number := e.numbers
	hints := slices.DeleteFunc(strings.Fields(e.m.Hints), func(hint string) bool {
		in := numbersOf(hint)
		return len(in) == 3 && len(number) > 0 && compareNumbers(in[2], number[0]) == 0
	})
	if joined := strings.Join(hints, " "); joined != e.m.Hints {
		other := *e.m.Element
		other.Hints = joined
		e.m.Element = &other
	}
	return string(e.m.appendDetail(nil, true))
}

// mostOf returns the most frequent string, or the first one of several.
func mostOf(all []string) (most string) {
	count := map[string]int{}
	for _, s := range all {
		count[s]++
	}
	for _, s := range all {
		if count[s] > count[most] {
			most = s
		}
	}
	return most
}

// isMostlyAlike reports whether enough elements are of the same kind, so that a line can list the others.
func (b *board) isMostlyAlike() bool {
	n, most := 0, mostOf(b.kinds)
	for _, k := range b.kinds {
		if k == most {
			n++
		}
	}
	return 3*n >= len(b.kinds)
}

// listable returns how many of the first elements have ascending refs that may fit into one line. This check is cheaper than creating a
// board, for which listsRefs counts exactly.
func listable(all []entry) int {
	pieces := 1
	for i := 1; i < len(all); i++ {
		if all[i].m.Ref < all[i-1].m.Ref {
			return i
		}
		if all[i].m.Ref-all[i-1].m.Ref > maxStep {
			if pieces++; pieces > maxBoardPieces {
				return i
			}
		}
	}
	return len(all)
}

// listsRefs reports whether a line can list the refs, which are ascending.
func (b *board) listsRefs() bool { return len(steppedPieces(b.entries)) <= maxBoardPieces }

// readsBack reports whether parsing the line of a board returns its elements.
func (b *board) readsBack() bool {
	got, err := Parse(string(b.append(nil)) + "\n")
	if err != nil || len(got) != len(b.entries) {
		return false
	}
	for i, e := range b.entries {
		name := string(part.AppendClean(nil, e.m.Text, part.MaxText))
		states, _ := statesAndHints(string(part.AppendStates(nil, &e.m.States)))
		if got[i].Ref != uint32(e.m.Ref) || got[i].Name != name || !slices.Equal(got[i].States, states) {
			return false
		}
	}
	return true
}

// append appends the line of a board without its end:
//
//	[52…58, 60…66, 68…74] ×21 27…30,1…17 (gridcell) but [60, 68] (gridcell disabled)
//	[31…37, 39…45] ×14 Sunday, September 27th, 2026 … Saturday, October 10th, 2026 (button) but [44] Today, … (button pressed)
func (b *board) append(dst []byte) []byte {
	most := mostOf(b.kinds)
	dst = append(appendSteppedPieces(dst, b.entries), " ×"...)
	dst = strconv.AppendInt(dst, int64(len(b.entries)), 10)
	dst = part.AppendWords(append(dst, ' '), b.names, 2*part.MaxText, "")
	_, detail, dated := strings.Cut(most, "\x00")
	if !dated {
		detail = most
	}
	var others []string
	for _, kind := range b.kinds {
		if kind != most && !slices.Contains(others, kind) {
			others = append(others, kind)
		}
	}
	if detail != " (link)" || len(others) > 0 {
		dst = append(dst, detail...)
	}
	dst = b.entries[0].m.appendWhich(dst)
	joint := " but "
	for _, kind := range others {
		dst = b.appendOther(append(dst, joint...), most, kind)
		joint = ", "
	}
	return dst
}

// appendOther appends the refs of the elements of a kind, and the differences in their names and details from the most frequent kind.
func (b *board) appendOther(dst []byte, most, kind string) []byte {
	var of []entry
	for i, k := range b.kinds {
		if k == kind {
			of = append(of, b.entries[i])
		}
	}
	dst = appendSteppedPieces(dst, of)
	usual, _, _ := strings.Cut(most, "\x00")
	name, detail, dated := strings.Cut(kind, "\x00")
	if !dated {
		return append(dst, kind...)
	}
	if name != usual {
		dst = part.AppendWords(append(dst, ' '), name, part.MaxText, "")
	}
	return append(dst, detail...)
}

// piece is a range of refs in equal steps.
type piece struct{ first, last, step dom.Ref }

// steppedPieces returns the refs of entries as ranges. All ranges with more than two refs have the same step.
func steppedPieces(all []entry) (pieces []piece) {
	step := dom.Ref(1)
	for i := 1; i < len(all); i++ {
		if d := all[i].m.Ref - all[i-1].m.Ref; i == 1 || d < step {
			step = d
		}
	}
	if step > maxStep {
		step = 1
	}
	for _, e := range all {
		if k := len(pieces) - 1; k >= 0 && e.m.Ref == pieces[k].last+step {
			pieces[k].last = e.m.Ref
		} else {
			pieces = append(pieces, piece{e.m.Ref, e.m.Ref, step})
		}
	}
	return pieces
}

// appendSteppedPieces appends refs in one bracket: `[3…9, 11…17]`, or `[4…8/2, 11…15/2]` for every other ref.
func appendSteppedPieces(dst []byte, all []entry) []byte {
	dst = append(dst, '[')
	for i, p := range steppedPieces(all) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendUint(dst, uint64(p.first), 10)
		if p.last == p.first {
			continue
		}
		joint := part.Ellipsis
		if p.last == p.first+p.step {
			joint = ", "
		}
		dst = strconv.AppendUint(append(dst, joint...), uint64(p.last), 10)
		if p.step > 1 && joint == part.Ellipsis {
			dst = strconv.AppendUint(append(dst, '/'), uint64(p.step), 10)
		}
	}
	return append(dst, ']')
}

// boards splits elements of one kind into boards and the stretches of other elements between them, which have no board.
func boards(all []entry) (out []lineContent) {
	rest := 0
	for i := 0; i < len(all); {
		b := boardOf(all[i:])
		if b == nil {
			i++
			continue
		}
		if rest < i {
			out = append(out, lineContent{entries: all[rest:i]})
		}
		out = append(out, lineContent{entries: b.entries, board: b})
		i += len(b.entries)
		rest = i
	}
	if rest < len(all) {
		out = append(out, lineContent{entries: all[rest:]})
	}
	return out
}
