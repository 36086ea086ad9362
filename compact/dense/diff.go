package dense

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
)

// Limits of a text of changes.
const (
	// maxRemoved limits how many removed elements have their own line.
	maxRemoved = 10
	// maxTogether limits how many elements removed from one place have their own lines in a brief text.
	maxTogether = 4
	// maxNamed limits how many of the other elements are named, and maxNameOf the length of each name in characters.
	maxNamed, maxNameOf = 3, 30
	// maxMoved limits how many moved elements are listed.
	maxMoved = 10
)

// None is the text if there are no changes.
const None = "Changes: none\n"

// OnlyExpected is the text if the only changes are those that the reader requested.
const OnlyExpected = "Changes: none but those asked for\n"

// Side is one of the two compared views: some elements of a page, in document order.
type Side struct {
	Page  *Page
	Shown []*dom.Element
}

// Changes describes the changes from one view to a later one of the same document.
type Changes struct {
	From, To Side
	// Diff leads from the elements of From to the elements of To.
	Diff diff.Diff
	// Limit limits how many added and how many changed elements have lines. 0 means no limit.
	Limit int
	// More reports that something else has changed that is reported outside of this text. A change of the focus alone then does not count.
	More bool
	// Brief prints many elements of one pattern as one line, and only the headings or first words of cards.
	Brief bool
	// Expected, if not nil, returns the expected state of an element if only the requested changes took effect. An element in its expected
	// state has no line.
	Expected func(was, now *dom.Element) *dom.Element
}

// Text returns the changes in format DENSE_DIFF, whose grammar is docs/dense.ebnf:
//
//	~ [9] Gift wrap (checkbox checked) ← (checkbox)
//	~ [11] 3 items ← 2 items
//	~ | 1014 | Alan Turing | Shipped | [327] Edit (button)
//	+ [40] Undo (button)
//	- [20] Remove (button) ‹Blue jeans›
//	= 33 redrawn unchanged: refs 281-313 → 325-357
//
// An element has a line if DENSE prints it differently on the two pages. Its position and the elements around it do not count, except for
// the record that its row shows. If anything else changed, the focus does not count.
func (c Changes) Text() string {
	d := newDiffer(c)
	d.sort(c.Diff)
	d.notices()
	d.redrawn()
	d.changedRows()
	for i := range d.changed {
		d.changed[i].compare(d)
	}
	met := d.dropExpected(c.Expected)
	anything := met || c.More || slices.ContainsFunc(d.changed, changedItem.counts) || len(d.added)+len(d.removed)+len(d.pairs)+len(d.rows)+len(c.Diff.Moved) > 0
	d.changed = slices.DeleteFunc(d.changed, func(m changedItem) bool {
		return !m.counts() && (anything || !m.focus || m.now.States.Focused != dom.True)
	})
	d.print(c)
	switch {
	case len(d.dst) > 0:
		return string(d.dst)
	case met:
		return OnlyExpected
	}
	return None
}

// differ prints changes.
type differ struct {
	from, to       *laidOut
	added, removed []int32
	changed        []changedItem
	// pairs holds elements that were replaced by equal ones, in the order of the older page.
	pairs []pair
	// rows holds the rows of the newer page whose text has changed, and newRows the new rows that have a line.
	rows    []int32
	newRows map[int32]bool

	dst []byte
}

// pair is an element that was rendered again, with its old and its new ref.
type pair struct{ old, now dom.Ref }

// changedItem is an element before and after.
type changedItem struct {
	was, now item
	// These report what differs. record stands for the row, list item or card of the element.
	name, target, detail, record, focus bool
}

// counts reports whether more than the focus changed.
func (m changedItem) counts() bool { return m.name || m.target || m.detail || m.record }

func newDiffer(c Changes) *differ {
	return &differ{from: newLaidOut(c.From), to: newLaidOut(c.To), newRows: map[int32]bool{}}
}

// laidOut is the layout of a view, with the positions of the shown elements.
type laidOut struct {
	*layout
	at map[dom.Ref]int32
}

func newLaidOut(s Side) *laidOut {
	l := &laidOut{newLayout(s.Page, s.Shown, MentionAll), make(map[dom.Ref]int32, len(s.Shown))}
	for i, e := range l.shown {
		if e != nil {
			l.at[e.Ref] = int32(i)
		}
	}
	return l
}

// sort separates the surviving elements from the added and removed ones.
func (d *differ) sort(all diff.Diff) {
	gone := map[dom.Ref]bool{}
	for _, r := range all.Removed {
		gone[r.Element.Ref] = true
	}
	for _, a := range all.Added {
		if ref := a.Element.Ref; gone[ref] { // the same element with another key
			d.change(ref)
			delete(gone, ref)
		} else if at, known := d.to.at[ref]; known {
			d.added = append(d.added, at)
		}
	}
	for _, r := range all.Removed {
		if at, known := d.from.at[r.Element.Ref]; known && gone[r.Element.Ref] {
			d.removed = append(d.removed, at)
		}
	}
	for _, c := range all.Changed {
		d.change(c.New.Ref)
	}
}

// change records an element that may have changed.
func (d *differ) change(ref dom.Ref) {
	was, known := d.from.at[ref]
	is, lives := d.to.at[ref]
	if known && lives {
		d.changed = append(d.changed, changedItem{was: d.from.plain(was), now: d.to.plain(is)})
	}
}

// plain returns the item of a node for a line of its own.
func (l *laidOut) plain(i int32) item {
	m := l.item(int(i))
	m.around = dom.NoRef
	l.addContext(&m)
	return m
}

// notices adds the elements whose row shows another record, as in lists that reuse their nodes.
func (d *differ) notices() {
	known := map[dom.Ref]bool{}
	for _, m := range d.changed {
		known[m.now.Ref] = true
	}
	for i, e := range d.to.shown {
		if e == nil || known[e.Ref] {
			continue
		}
		if _, lives := d.from.at[e.Ref]; lives && d.anotherRecord(e.Ref) {
			d.change(d.to.nodes[i].Ref)
		}
	}
	slices.SortStableFunc(d.changed, func(a, b changedItem) int { return cmp.Compare(a.now.node, b.now.node) })
}

// anotherRecord reports whether an element belongs to a different row, list item or card on the newer page.
func (d *differ) anotherRecord(ref dom.Ref) bool {
	was, now := d.from.contexts[ref], d.to.contexts[ref]
	return was.Words != now.Words && isRecord(was.Of) && isRecord(now.Of) && was.Of.Role == now.Of.Role
}

// isRecord reports whether an element is a row, list item or card.
func isRecord(e *dom.Element) bool {
	if e == nil {
		return false
	}
	switch e.Role {
	case "row", "listitem", "article", "treeitem":
		return true
	}
	return false
}

// compare determines what differs.
func (m *changedItem) compare(d *differ) {
	name := func(e *dom.Element) string { return string(appendName(nil, e)) }
	m.name = name(m.was.Element) != name(m.now.Element)
	m.record = d.anotherRecord(m.now.Ref)
	if m.was.Href != m.now.Href {
		m.was.target, m.now.target = d.from.anyTarget(m.was.Href), d.to.anyTarget(m.now.Href)
	}
	m.target = m.was.target != m.now.target && m.was.Href != m.now.Href
	was, now := *m.was.Element, *m.now.Element
	m.focus = was.States.Focused != now.States.Focused
	was.States.Focused, now.States.Focused = dom.Absent, dom.Absent
	m.detail = string((&item{Element: &was}).appendDetail(nil, true)) != string((&item{Element: &now}).appendDetail(nil, true))
}

// dropExpected removes the elements in their expected state, and reports whether there were any.
func (d *differ) dropExpected(expected func(was, now *dom.Element) *dom.Element) bool {
	if expected == nil {
		return false
	}
	n := len(d.changed)
	d.changed = slices.DeleteFunc(d.changed, func(m changedItem) bool {
		if !m.detail || m.name || m.target || m.record {
			return false
		}
		e, now := *expected(m.was.Element, m.now.Element), *m.now.Element
		e.States.Focused, now.States.Focused = dom.Absent, dom.Absent
		return string((&item{Element: &e}).appendDetail(nil, true)) == string((&item{Element: &now}).appendDetail(nil, true))
	})
	return len(d.changed) < n
}

// anyTarget returns the target of a link, even if its name makes the target clear.
func (p *Page) anyTarget(href string) string {
	if href == "" {
		return ""
	}
	if p.hrefs {
		return part.Target(p.base.Href(href), 2*part.MaxHref)
	}
	return part.Target(p.address(href), part.MaxTarget)
}

// print appends the lines.
func (d *differ) print(c Changes) {
	if c.Brief {
		d.printBriefly(c)
		return
	}
	for i := range d.changed {
		if c.Limit > 0 && i == c.Limit {
			d.more("~ ", len(d.changed)-i)
			break
		}
		d.appendChanged(&d.changed[i])
	}
	d.appendRows()
	d.appendItems("+ ", d.to, d.added, c.Limit)
	d.appendItems("- ", d.from, d.removed, maxRemoved)
	d.appendRedrawn()
	d.appendMoved(c.Diff.Moved)
}

// printBriefly implements print for Changes with Brief.
func (d *differ) printBriefly(c Changes) {
	changed := make([]entry, len(d.changed))
	for i := range d.changed {
		m := &d.changed[i]
		m.shorten(d)
		if !m.target {
			m.was.target = ""
		}
		changed[i] = newEntry(m.now, m)
	}
	d.appendBriefly("~ ", d.to, changed, c.Limit)
	d.appendRows()
	d.appendBriefly("+ ", d.to, d.to.entries(d.added), c.Limit)
	d.appendBriefly("- ", d.from, d.from.entries(d.removed), maxRemoved)
	d.appendRedrawn()
	d.appendMoved(d.appendReordered(c.Diff.Moved))
}

// entries returns the entries of added or removed elements.
func (l *laidOut) entries(places []int32) (all []entry) {
	for _, m := range l.items(places) {
		l.shorten(&m)
		all = append(all, newEntry(m, nil))
	}
	return all
}

// appendItems appends a line for each element, up to the limit, and one line for the rest. An element that only contains the next one
// shares that element's line.
func (d *differ) appendItems(mark string, l *laidOut, places []int32, limit int) {
	for i, m := range l.items(places) {
		if limit > 0 && i >= limit {
			d.more(mark, len(places)-i, l.namesOf(places[i:])...)
			return
		}
		d.dst = append(m.append(appendMark(d.dst, mark, &m)), '\n')
	}
}

// items returns the items of the elements that have their own lines, with their indexes in places.
func (l *laidOut) items(places []int32) iter.Seq2[int, item] {
	listed := map[int32]bool{}
	for _, at := range places {
		listed[at] = true
	}
	return func(yield func(int, item) bool) {
		for i, at := range places {
			if l.isHolder(int(at)) && l.contentListed(at, listed) {
				continue
			}
			m := l.plain(at)
			if holder := l.holder[at]; holder >= 0 && listed[holder] && l.isHolder(int(holder)) {
				m.around = l.shown[holder].Ref
			}
			if !yield(i, m) {
				return
			}
		}
	}
}

// contentListed reports whether the element in a holder is listed.
func (l *laidOut) contentListed(holder int32, listed map[int32]bool) bool {
	for j := holder + 1; j < l.nodes[holder].end; j++ {
		if l.shown[j] != nil {
			return listed[j]
		}
	}
	return false
}

// appendMark appends the beginning of an element's line. A removed element is never marked as behind a modal.
func appendMark(dst []byte, mark string, m *item) []byte {
	return appendCovered(append(dst, mark...), m.Covered && mark != "- ")
}

// appendChanged appends the line of a changed element: its new state, and the old values that differ.
func (d *differ) appendChanged(m *changedItem) {
	if !m.target {
		m.was.target = ""
	}
	d.dst = m.now.append(appendMark(d.dst, "~ ", &m.now))
	d.appendOld(m)
	d.dst = append(d.dst, '\n')
}

// appendOld appends the old values that differ.
func (d *differ) appendOld(m *changedItem) {
	d.dst = append(d.dst, " ←"...)
	if m.name {
		d.appendOldName(m.was.Element)
	}
	if m.was.target != "" {
		d.dst = append(append(d.dst, " →"...), m.was.target...)
	}
	if m.detail || m.focus && !m.counts() {
		d.dst = m.was.appendDetail(d.dst, true)
	}
	if m.record {
		d.dst = m.was.appendWhich(d.dst)
	}
}

// appendOldName appends a name, or `""` for none.
func (d *differ) appendOldName(e *dom.Element) {
	start := len(d.dst)
	if d.dst = appendName(d.dst, e); len(d.dst) == start {
		d.dst = append(d.dst, ` ""`...)
	} else if d.dst[start+1] == '"' {
		d.dst = slices.Insert(d.dst, start+1, '\\')
	}
}

// more appends the number of elements without a line, and the names of the first ones.
func (d *differ) more(mark string, n int, names ...string) {
	d.dst = strconv.AppendInt(append(d.dst, mark...), int64(n), 10)
	d.dst = append(d.dst, " more"...)
	separator := ":"
	for _, name := range names {
		d.dst = append(d.dst, separator...)
		d.dst, separator = appendSpaced(d.dst, name, maxNameOf, "", 0), ","
	}
	d.dst = append(d.dst, '\n')
}

// namesOf returns the names of the first elements that have a name.
func (l *laidOut) namesOf(places []int32) (names []string) {
	for _, at := range places {
		if name := l.shown[at].Text; hasWords(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == maxNamed {
			break
		}
	}
	return names
}

// appendMoved appends the refs of the moved elements.
func (d *differ) appendMoved(moved []diff.Moved) {
	if len(moved) == 0 {
		return
	}
	d.dst = append(d.dst, "> moved:"...)
	for i, m := range moved {
		if i == maxMoved {
			d.dst = strconv.AppendInt(append(d.dst, " and "...), int64(len(moved)-i), 10)
			d.dst = append(d.dst, " more"...)
			break
		}
		d.dst = appendBracket(append(d.dst, ' '), m.Element.Ref)
	}
	d.dst = append(d.dst, '\n')
}
