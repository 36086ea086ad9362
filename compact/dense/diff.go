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

// The bounds of a text of changes.
const (
	// maxRemoved is how many removed elements have a line of their own.
	maxRemoved = 10
	// maxNamed is how many of the others are named, each by maxNameOf characters at most.
	maxNamed, maxNameOf = 3, 30
	// maxMoved is how many of the elements that moved are listed.
	maxMoved = 10
)

// None is the text of changes when there are none.
const None = "Changes: none\n"

// Met is the text when the only changes are those that the reader asked for.
const Met = "Changes: none but those asked for\n"

// Side is a view of a page: some of its elements, in the order of the page.
type Side struct {
	Page  *Page
	Shown []*dom.Element
}

// Changes is what leads from one view to a later one of the same document.
type Changes struct {
	From, To Side
	// Diff leads from the elements of From to those of To.
	Diff diff.Diff
	// Limit is how many added and how many changed elements have lines; 0: all.
	Limit int
	// More says that something else changed, which is said beside this text: the focus alone does not count then.
	More bool
	// Brief prints many elements of one pattern as one line, and cards by their headings or first words.
	Brief bool
	// Expected, when set, returns what an element would be now if only what the reader asked for came about. One that is that has no
	// line.
	Expected func(was, now *dom.Element) *dom.Element
}

// Text returns the changes as format DENSE_DIFF, which docs/dense.md defines:
//
//	~ [9] Gift wrap (checkbox checked) ← (checkbox)
//	~ [11] 3 items ← 2 items
//	~ | 1014 | Alan Turing | Shipped | [327] Edit (button)
//	+ [40] Undo (button)
//	- [20] Remove (button) ‹Blue jeans›
//	= 33 redrawn unchanged: refs 281-313 → 325-357
//
// An element has a line when DENSE prints something else of it than before. Its place on the screen and the elements
// around it do not count, but for the record that its row shows. Where anything else changed, the focus does not count.
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
		return Met
	}
	return None
}

// differ prints changes.
type differ struct {
	from, to       *laidOut
	added, removed []int32
	changed        []changedItem
	// pairs are elements of both pages, in the order of the older one, of which the second replaced the first.
	pairs []pair
	// rows are those of the newer page that say something else than before.
	rows []int32

	dst []byte
}

// pair is an element that was rendered again, by its old and its new ref.
type pair struct{ old, now dom.Ref }

// changedItem is an element before and after.
type changedItem struct {
	was, now item
	// What differs; record is the row, list item or card that the element belongs to.
	name, target, detail, record, focus bool
}

// counts reports whether more than the focus changed.
func (m changedItem) counts() bool { return m.name || m.target || m.detail || m.record }

func newDiffer(c Changes) *differ {
	return &differ{from: newLaidOut(c.From), to: newLaidOut(c.To)}
}

// laidOut is the layout of a view, with the places of the elements that are shown.
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

// sort tells the nodes that live on from the others.
func (d *differ) sort(all diff.Diff) {
	gone := map[dom.Ref]bool{}
	for _, r := range all.Removed {
		gone[r.Element.Ref] = true
	}
	for _, a := range all.Added {
		if ref := a.Element.Ref; gone[ref] { // under another key
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

// change notes an element that may have changed.
func (d *differ) change(ref dom.Ref) {
	was, known := d.from.at[ref]
	is, lives := d.to.at[ref]
	if known && lives {
		d.changed = append(d.changed, changedItem{was: d.from.plain(was), now: d.to.plain(is)})
	}
}

// plain makes the item of a node for a line of its own.
func (l *laidOut) plain(i int32) item {
	m := l.item(int(i))
	m.around = dom.NoRef
	l.tell(&m)
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

// anotherRecord reports whether an element stands for another row, list item or card than before.
func (d *differ) anotherRecord(ref dom.Ref) bool {
	was, now := d.from.contexts[ref], d.to.contexts[ref]
	return was.Words != now.Words && isRecord(was.Of) && isRecord(now.Of) && was.Of.Role == now.Of.Role
}

// isRecord reports whether an element is one of many of a kind.
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

// compare finds what differs.
func (m *changedItem) compare(d *differ) {
	name := func(e *dom.Element) string { return string(appendSpaced(nil, e.Text, part.MaxText, "", e.Left)) }
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

// dropExpected leaves out the elements that are what was expected, and reports whether there are any.
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

// anyTarget returns where a link leads, also when its name says enough.
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

// printBriefly is print for Changes that are Brief.
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
	d.appendMoved(c.Diff.Moved)
}

// entries returns the lines of elements that are new, or gone.
func (l *laidOut) entries(places []int32) (all []entry) {
	for _, m := range l.items(places) {
		l.shorten(&m)
		all = append(all, newEntry(m, nil))
	}
	return all
}

// appendItems appends a line for each element, up to the limit, and one for the others. An element that does nothing
// but contain the next one shares the line of that one.
func (d *differ) appendItems(mark string, l *laidOut, places []int32, limit int) {
	for i, m := range l.items(places) {
		if limit > 0 && i >= limit {
			d.more(mark, len(places)-i, l.namesOf(places[i:])...)
			return
		}
		d.dst = append(m.append(appendMark(d.dst, mark, &m)), '\n')
	}
}

// items makes the items of the elements at places, which have lines of their own, with the index of each among the places.
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

// appendMark appends what begins the line of an element.
func appendMark(dst []byte, mark string, m *item) []byte {
	dst = append(dst, mark...)
	if m.Covered {
		dst = append(dst, "(covered) "...)
	}
	return dst
}

// appendChanged appends the line of an element that lives on: what it is, and of what it was that which differs.
func (d *differ) appendChanged(m *changedItem) {
	if !m.target {
		m.was.target = ""
	}
	d.dst = m.now.append(appendMark(d.dst, "~ ", &m.now))
	d.appendOld(m)
	d.dst = append(d.dst, '\n')
}

// appendOld appends what of an element was different.
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
	if d.dst = appendSpaced(d.dst, e.Text, part.MaxText, "", e.Left); len(d.dst) == start {
		d.dst = append(d.dst, ` ""`...)
	} else if d.dst[start+1] == '"' {
		d.dst = slices.Insert(d.dst, start+1, '\\')
	}
}

// more appends how many elements have no line, and names of the first ones.
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

// namesOf returns the names of the first elements that have some.
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

// appendMoved appends the refs of elements with another place among the others.
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
