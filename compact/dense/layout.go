package dense

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// Limits of lines in format DENSE.
const (
	// longName is the length in characters above which a name gets its own line.
	longName = 50
	// maxRun limits the width in characters of a line with several items.
	maxRun = 200
	// maxHeadingItems limits how many elements are in the line of a heading.
	maxHeadingItems = 4
	// maxCells and maxRowItems limit a row. A larger row is not printed as one line.
	maxCells, maxRowItems = 16, 16
	// maxBehind limits how many nodes before and after an element are searched for its equals and for what distinguishes it from them.
	maxBehind = 32
	// maxAhead limits how many headings and groups get lines before one element.
	maxAhead = 8
)

// layout prints the elements that a view shows.
type layout struct {
	*Page
	mention Mention
	// shown holds the elements as the view has them, and nil for others. below counts the shown elements below each node.
	shown []*dom.Element
	below []int32
	// group is the group that contains each node, and holder the nearest shown element around it, or -1.
	group, holder []int32
	links         links
	headings      headings

	dst, scratch []byte
	run          run
	// said is the context that the lines of items printed last. It is empty after another line.
	said said
	// open holds the groups around the current node, outermost first.
	open []openGroup
	// ahead holds the headings and groups that get a line if they contain another element.
	ahead []pendingLine
	// left is the group with a line that ended since the last line, or -1.
	left int32
	// boards holds the boards that start at nodes before boardsTo, by their first node.
	boards   map[int]*board
	boardsTo int
	// behind is the number of elements behind a modal, which have no lines. It is 0 if they have lines.
	behind int
}

// run is an unfinished line of items.
type run struct {
	items []item
	long  bool
	group int32
	width int
}

// openGroup is a group, and reports whether its line was printed.
type openGroup struct {
	node    int32
	printed bool
}

// pendingLine is a heading or group that gets a line only if it contains another element. It is dropped at node until.
type pendingLine struct{ node, until int32 }

func newLayout(p *Page, shown []*dom.Element, m Mention) *layout {
	n := len(p.nodes)
	l := &layout{
		Page: p, mention: m, left: -1,
		shown: make([]*dom.Element, n), below: make([]int32, n), group: make([]int32, n), holder: make([]int32, n),
	}
	p.each(shown, func(i int, e *dom.Element) { l.shown[i] = e })
	for i := n - 1; i >= 0; i-- {
		if parent := p.nodes[i].parent; parent >= 0 {
			l.below[parent] += l.below[i]
			if l.shown[i] != nil {
				l.below[parent]++
			}
		}
	}
	for i := range p.nodes {
		l.group[i], l.holder[i] = -1, -1
		if parent := p.nodes[i].parent; parent >= 0 {
			l.group[i], l.holder[i] = l.group[parent], l.holder[parent]
			if l.isGroup(int(parent)) {
				l.group[i] = parent
			}
			if l.shown[parent] != nil {
				l.holder[i] = parent
			}
		}
	}
	l.links, l.headings = newLinks(l), newHeadings(l)
	return l
}

// isGroup reports whether the content of a node belongs together, separate from its surroundings.
func (l *layout) isGroup(i int) bool {
	e := &l.nodes[i]
	switch e.Role {
	case "list", "row", "table", "grid", "treegrid", "tree", "feed", "menu", "menubar", "listbox", "tablist",
		"toolbar", "radiogroup", "group", "figure":
		return true
	case "listitem", "article":
		return l.below[i] > 1
	}
	return l.shown[i] != nil && l.below[i] > 1 || isForm(e.Element) || landmarkWord(e.Element) != ""
}

// layOut appends all lines.
func (l *layout) layOut() {
	for i := 0; i < len(l.nodes); {
		l.leave(i)
		switch e := &l.nodes[i]; {
		case l.shown[i] != nil:
			if next := l.foldRun(i); next > i {
				i = next
				continue
			}
			if e.Role == "row" && l.hasMoreWords(i) && l.row(i) {
				i = int(e.end)
				continue
			}
			l.element(i)
		case !e.context || l.behind > 0 && e.Covered || l.mention == MentionNone || e.Kind == dom.Interactive || l.isShownAround(i):
		case e.Role == "heading":
			if l.heading(i) {
				i = int(e.end)
				continue
			}
		case e.Role == "row":
			if next := l.foldBoard(i); next > i {
				i = next
				continue
			}
			if l.row(i) {
				i = int(e.end)
				continue
			}
		case landmarkWord(e.Element) != "":
			l.enter(i)
		}
		i++
	}
	l.endRun()
}

// isShownAround reports whether a shown element around a node contains the node's text.
func (l *layout) isShownAround(i int) bool {
	holder := l.holder[i]
	return holder >= 0 && l.nodes[i].Text != "" && strings.Contains(l.shown[holder].Text, strings.TrimSuffix(l.nodes[i].Text, part.Ellipsis))
}

// leave closes the groups that end before node i.
func (l *layout) leave(i int) {
	for n := len(l.open); n > 0 && int(l.nodes[l.open[n-1].node].end) <= i; n-- {
		if last := l.open[n-1]; last.printed {
			l.left = last.node
		}
		l.open = l.open[:n-1]
	}
	l.ahead = slices.DeleteFunc(l.ahead, func(a pendingLine) bool { return int(a.until) <= i })
}

// enter opens a group. Its line is printed when the group has content; a live region with words gets its line immediately.
func (l *layout) enter(i int) {
	l.open = append(l.open, openGroup{node: int32(i)})
	l.due(i, l.nodes[i].end)
	if isLive(l.nodes[i].Role) && l.hasWords(i) {
		l.surround()
	}
}

// due adds a pending line.
func (l *layout) due(i int, until int32) {
	if len(l.ahead) == maxAhead {
		l.ahead = slices.Delete(l.ahead, 0, 1)
	}
	l.ahead = append(l.ahead, pendingLine{int32(i), until})
}

// surround appends the lines that are due before the next one: the end of a closed group, and the headings and groups around.
func (l *layout) surround() {
	if len(l.ahead) == 0 && l.left < 0 {
		return
	}
	l.endRun()
	l.said = said{}
	if l.left >= 0 && (len(l.ahead) == 0 || l.nodes[l.ahead[0].node].Role == "heading") {
		l.dst = append(append(append(l.dst, "</"...), landmarkWord(l.nodes[l.left].Element)...), ">\n"...)
	}
	l.left = -1
	for _, a := range l.ahead {
		e := &l.nodes[a.node]
		if e.Role == "heading" {
			l.dst = append(appendOpening(appendLevel(l.dst, e.Level), e.Text, part.MaxText, e.Left), '\n')
			continue
		}
		words, left := l.words(int(a.node))
		l.dst = append(append(l.dst, '<'), landmarkWord(e.Element)...)
		l.dst = append(appendSpaced(l.dst, words, part.MaxText, ">", left), ">\n"...)
		for k := range l.open {
			l.open[k].printed = l.open[k].printed || l.open[k].node == a.node
		}
	}
	l.ahead = l.ahead[:0]
}

// heading appends the line of a heading with the few elements in it, and returns true. For other headings it returns false; they get a line
// before the next element.
func (l *layout) heading(i int) bool {
	e := &l.nodes[i]
	l.ahead = slices.DeleteFunc(l.ahead, func(a pendingLine) bool {
		before := &l.nodes[a.node]
		return before.Role == "heading" && before.Level >= e.Level
	})
	if items, ok := l.inline(i, maxHeadingItems); ok && len(items) > 0 {
		l.surround()
		l.beginLine(items[0].Covered)
		l.dst = append(l.appendSegment(appendLevel(l.dst, e.Level), e.Text, items, part.MaxText, e.Left), '\n')
		return true
	}
	until := int32(len(l.nodes))
	if n := len(l.open); n > 0 {
		until = l.nodes[l.open[n-1].node].end
	}
	l.due(i, until)
	if l.mention == MentionAll {
		l.surround()
	}
	return false
}

// inline returns the shown elements below a node if they fit into one line: there are at most limit, all or none of them are covered by a
// modal, and none of the nodes needs its own line.
func (l *layout) inline(i, limit int) (items []item, ok bool) {
	if int(l.below[i]) > limit {
		return nil, false
	}
	for j := i + 1; j < int(l.nodes[i].end); j++ {
		e := l.shown[j]
		if e == nil {
			if e := &l.nodes[j]; e.Role == "heading" || e.Role == "row" || landmarkWord(e.Element) != "" {
				return nil, false
			}
			continue
		}
		if e.Kind == dom.Structural || len(items) > 0 && e.Covered != items[0].Covered {
			return nil, false
		}
		if !l.isHolder(j) {
			items = append(items, l.item(j))
		}
	}
	return items, true
}

// row appends the line of a table row and reports whether it did. It omits a row that shows nothing, is too large, or contains more than
// cells. A header row is printed if its table shows something.
func (l *layout) row(i int) bool {
	items, ok := l.inline(i, maxRowItems)
	if !ok {
		return false
	}
	cells, headers := l.cells(i, items)
	if len(cells) < 2 || len(cells) > maxCells || l.shown[i] == nil && l.below[i] == 0 && (headers < len(cells)-corners(cells) || !l.inUsedTable(i)) {
		return false
	}
	if l.shown[i] != nil {
		cells = slices.Insert(cells, 0, cell{items: []item{l.item(i)}})
	}
	l.surround()
	l.beginLine(len(items) > 0 && items[0].Covered)
	omitCaptions(cells)
	for len(cells) > 0 {
		l.dst = append(l.dst, "| "...)
		start := len(l.dst)
		n := 1
		if run := l.runOfCells(cells); len(run) > 0 {
			n, l.dst = len(run), appendFolded(l.dst, run, 0, 0, firstToLast(run))
		} else {
			l.dst = l.appendSegment(l.dst, cells[0].words, cells[0].items, cellLimit(cells[0].words), cells[0].left)
		}
		if cells = cells[n:]; len(l.dst) > start && len(cells) > 0 {
			l.dst = append(l.dst, ' ')
		}
	}
	l.dst = append(bytes.TrimSuffix(l.dst, []byte(" ")), '\n')
	return true
}

// cellLimit limits how many characters of a cell are printed. A text that does not fit is cut even shorter, because it must be read elsewhere anyway.
func cellLimit(words string) int {
	if utf8.RuneCountInString(words) > maxCell {
		return maxCutCell
	}
	return maxCell
}

// omitCaptions removes the words of cells that name the field in the next cell.
func omitCaptions(cells []cell) {
	for i := range len(cells) - 1 {
		if next := cells[i+1]; len(cells[i].items) == 0 && len(next.items) > 0 && isField(next.items[0].Element) && next.items[0].Text == cells[i].words {
			cells[i].words, cells[i].left = "", 0
		}
	}
}

// isField reports whether a person enters or chooses a value of an element, so that a cell beside it only is its caption.
func isField(e *dom.Element) bool {
	switch e.Tag {
	case "input", "select", "textarea":
		return true
	}
	switch e.Role {
	case "textbox", "searchbox", "combobox", "listbox", "spinbutton", "slider", "checkbox", "radio", "switch":
		return true
	}
	return false
}

// hasMoreWords reports whether a shown row has cells with words that are not in its name.
func (l *layout) hasMoreWords(i int) bool {
	cells, _ := l.cells(i, nil)
	return slices.ContainsFunc(cells, func(c cell) bool { return !strings.Contains(l.nodes[i].Text, c.words) })
}

// cell is a cell of a row: its words, the number of characters omitted, and the elements in it.
type cell struct {
	words string
	left  int
	items []item
}

// cells returns the cells of a row, and how many of them are header cells without an element. A nameless element between two cells, such as
// the edge by which a column is resized, belongs to the cell before it.
func (l *layout) cells(i int, items []item) (all []cell, headers int) {
	if text := l.nodes[i].Text; l.shown[i] == nil && text != "" && l.isPart(i) {
		all = append(all, cell{words: text}) // the words of the row in another pane
	}
	after := false
	for j := i + 1; j < int(l.nodes[i].end); j = int(l.nodes[j].end) {
		n := 0
		for n < len(items) && items[n].node < int(l.nodes[j].end) {
			n++
		}
		c := cell{items: items[:n]}
		c.words, c.left = l.cellText(j)
		items = items[n:]
		if after && c.words == "" && !isCell(l.nodes[j].Role) && !slices.ContainsFunc(c.items, isNamed) {
			last := &all[len(all)-1]
			last.items = append(last.items[:len(last.items):len(last.items)], c.items...)
			continue
		}
		after = isCell(l.nodes[j].Role)
		if all = append(all, c); l.nodes[j].Role == "columnheader" && n == 0 {
			headers++
		}
	}
	return all, headers
}

func isNamed(m item) bool { return m.Text != "" }

// isPart reports whether the name of a row does not begin with its first cell, because the cells by which people know the row are in another
// pane, or the author named it.
func (l *layout) isPart(i int) bool {
	for j := i + 1; j < int(l.nodes[i].end); j++ {
		if text := l.nodes[j].Text; text != "" {
			return !strings.HasPrefix(l.nodes[i].Text, strings.TrimSuffix(text, part.Ellipsis))
		}
	}
	return true
}

// corners returns how many cells of a header row need not be headers. A row of more than two cells may have one, the corner above the row
// headers, which is empty or selects everything.
func corners(cells []cell) int {
	if len(cells) > 2 {
		return 1
	}
	return 0
}

func isCell(role string) bool {
	switch role {
	case "cell", "gridcell", "columnheader", "rowheader":
		return true
	}
	return false
}

// cellText returns the text of a cell, or of the elements inside if the cell has none, without the shown elements. left is the number of
// characters omitted from the cell's own text.
func (l *layout) cellText(i int) (words string, left int) {
	if l.shown[i] != nil {
		return "", 0
	}
	text := l.nodes[i].Text
	for j := i + 1; l.nodes[i].Text == "" && j < int(l.nodes[i].end) && len(text) <= 4*maxCell; {
		e := &l.nodes[j]
		said := l.shown[j] != nil
		if !said && e.context && e.Kind == dom.Structural && e.Text != "" {
			text, said = text+" "+e.Text, true
		}
		if j++; said {
			j = int(e.end)
		}
	}
	return strings.TrimPrefix(text, " "), l.nodes[i].Left
}

// inUsedTable reports whether a row is in a table that shows something.
func (l *layout) inUsedTable(i int) bool {
	for i = int(l.nodes[i].parent); i >= 0; i = int(l.nodes[i].parent) {
		switch l.nodes[i].Role {
		case "table", "grid", "treegrid":
			return l.below[i] > 0
		}
	}
	return false
}

// element appends a shown element. It continues the previous line if both belong together.
func (l *layout) element(i int) {
	if l.isHolder(i) {
		return
	}
	l.surround()
	m := l.item(i)
	if l.needsContext(i) {
		l.addContext(&m)
	}
	level := l.level(i)
	if level == 0 && (m.Kind != dom.Structural || m.Role != "row" && landmarkWord(m.Element) == "") {
		l.add(&m, l.group[i])
		return
	}
	l.beginLine(m.Covered)
	if level > 0 {
		l.dst = appendLevel(l.dst, level)
	}
	l.dst = append(l.appendItem(l.dst, &m), '\n')
}

// needsContext reports whether the context that distinguishes an element from others of its role and name is missing in the lines above.
func (l *layout) needsContext(i int) bool {
	c, told := l.contexts[l.nodes[i].Ref]
	if !told || l.mention == MentionNone {
		return false
	}
	if c.Of.Kind == dom.Interactive {
		return l.isNamedBehind(i, c.Of.Ref)
	}
	return (landmarkWord(c.Of) == "" || !l.isIn(i, c.Of.Ref)) && !l.headings.say(l, i, c)
}

// isNamedBehind reports whether the element that distinguishes another from its equals follows it in a line that contains several of these,
// so that it could as well belong to the next one: Delete Ada Delete Bob.
func (l *layout) isNamedBehind(i int, ref dom.Ref) bool {
	end := min(len(l.nodes), i+maxBehind)
	name := i + 1
	for name < end && l.nodes[name].Ref != ref {
		name++
	}
	return name < end && l.shown[name] != nil && (l.isBeside(i, max(0, i-maxBehind), i) || l.isBeside(i, name, min(len(l.nodes), name+maxBehind)))
}

// isBeside reports whether a range of nodes contains an element of the same role and name in the group of node i.
func (l *layout) isBeside(i, from, to int) bool {
	for j := from; j < to; j++ {
		if e := l.shown[j]; e != nil && l.group[j] == l.group[i] && e.Role == l.nodes[i].Role && e.Text == l.nodes[i].Text {
			return true
		}
	}
	return false
}

// hasContext reports whether the context of an element is printed beside it or in the heading above.
func (l *layout) hasContext(i int) bool {
	c, told := l.contexts[l.nodes[i].Ref]
	return told && (l.needsContext(i) || l.mention != MentionNone && l.headings.say(l, i, c))
}

// isInRow reports whether a node is in a row of a table.
func (l *layout) isInRow(i int) bool {
	g := l.group[i]
	for g >= 0 && l.nodes[g].Role != "row" {
		g = l.group[g]
	}
	return g >= 0
}

// isIn reports whether a node is in an element.
func (l *layout) isIn(i int, ref dom.Ref) bool {
	for i = int(l.nodes[i].parent); i >= 0; i = int(l.nodes[i].parent) {
		if l.nodes[i].Ref == ref {
			return true
		}
	}
	return false
}

// level returns the level of the heading that an element is, or that makes up its whole content. It returns 0 if there is none.
func (l *layout) level(i int) int {
	if e := l.shown[i]; e.Kind == dom.Structural && e.Role == "heading" {
		return max(e.Level, 1)
	}
	for j := i + 1; j < int(l.nodes[i].end); j++ {
		e := &l.nodes[j]
		if l.shown[j] != nil {
			return 0
		}
		if e.Role == "heading" && e.Kind == dom.Structural && e.context && l.mention != MentionNone {
			if e.Text == l.shown[i].Text {
				return max(e.Level, 1)
			}
			return 0
		}
	}
	return 0
}

// add appends an item to the current run, or to a new one.
func (l *layout) add(m *item, group int32) {
	l.scratch = l.appendItem(l.scratch[:0], m)
	width := utf8.RuneCount(l.scratch)
	long := isLong(m)
	r := &l.run
	if n := len(r.items); n > 0 && (r.group != group || r.items[0].Covered != m.Covered || r.long || long || r.width+width > maxRun) {
		l.endRun()
	}
	r.items, r.group, r.long = append(r.items, *m), group, long
	r.width += width + 1
}

// isLong reports whether an item needs its own line.
func isLong(m *item) bool { return m.same == dom.NoRef && utf8.RuneCountInString(m.Text) > longName }

// endRun appends the current line of items.
func (l *layout) endRun() {
	if len(l.run.items) == 0 {
		return
	}
	l.dst = append(appendLine(appendCovered(l.dst, l.run.items[0].Covered), l.run.items, &l.said), '\n')
	l.run = run{items: l.run.items[:0]}
}

// beginLine starts a line with elements.
func (l *layout) beginLine(covered bool) {
	l.endRun()
	l.said = said{}
	l.dst = appendCovered(l.dst, covered)
}

// appendCovered appends the mark of elements behind a modal.
func appendCovered(dst []byte, is bool) []byte {
	if is {
		return append(dst, "("+covered+") "...)
	}
	return dst
}

// appendSegment appends words and the items in them. It omits words that the items contain.
func (l *layout) appendSegment(dst []byte, text string, items []item, limit, left int) []byte {
	start := len(dst)
	words := rest(text, items)
	if words != text {
		left = 0 // the items contain it
	}
	dst = appendOpening(dst, words, limit, left)
	for i := range items {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = l.appendItem(dst, &items[i])
	}
	return dst
}

// appendItem appends an item. A second link with the same name and target is appended as a reference to the first, and so is an element that
// is repeated in table rows.
func (l *layout) appendItem(dst []byte, m *item) []byte {
	l.links.refer(m, l.isInRow(m.node))
	return m.append(dst)
}

// item returns the item of a shown node.
func (l *layout) item(i int) item {
	m := item{Element: l.shown[i], node: i, same: dom.NoRef, around: dom.NoRef}
	if holder := l.holder[i]; holder >= 0 && l.isHolder(int(holder)) {
		m.around = l.shown[holder].Ref
	}
	m.target = l.links.target(l, i)
	return m
}

// isHolder reports whether a shown element only contains the next one, so that a person sees both as one. It has no role, and the same
// name.
func (l *layout) isHolder(i int) bool {
	e := l.shown[i]
	if l.below[i] != 1 || e.Kind != dom.Interactive || e.Role != "generic" || hasStateWords(e) || hasPrintedValue(e) {
		return false
	}
	for _, inner := range l.shown[i+1 : l.nodes[i].end] {
		if inner != nil {
			return inner.Kind == dom.Interactive && inner.Text == e.Text && inner.Left == e.Left && inner.Covered == e.Covered
		}
	}
	return false
}
