package document

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pdfText is the JSON of pdfreader.Text.
type pdfText struct {
	Pages   int       `json:"pages"`
	Title   string    `json:"title"`
	Problem string    `json:"problem"`
	Read    []pdfPage `json:"read"`
}

type pdfPage struct {
	Width   float64   `json:"w"`
	Height  float64   `json:"h"`
	Items   []pdfItem `json:"items"`
	Links   []pdfLink `json:"links"`
	More    bool      `json:"more"`
	Damaged bool      `json:"damaged"`
}

// pdfItem is a piece of text. Positions are in points from the top left corner; y is the baseline.
type pdfItem struct {
	text              string
	x, y, width, size float64
	rotated, rtl      bool
	href              string
}

// UnmarshalJSON reads [text, x, y, width, size, flags].
func (p *pdfItem) UnmarshalJSON(data []byte) error {
	var flags int
	fields := []any{&p.text, &p.x, &p.y, &p.width, &p.size, &flags}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	p.rotated, p.rtl = flags&1 != 0, flags&2 != 0
	return nil
}

// pdfLink is the target and the box of a link.
type pdfLink struct {
	href                     string
	left, top, right, bottom float64
}

// UnmarshalJSON reads [href, left, top, right, bottom].
func (l *pdfLink) UnmarshalJSON(data []byte) error {
	fields := []any{&l.href, &l.left, &l.top, &l.right, &l.bottom}
	return json.Unmarshal(data, &fields)
}

// OfPDF returns the text of a PDF from the JSON of pdfreader.Text: paragraphs, headings by the size of their text, tables and links, with a
// line at the start of each page.
func OfPDF(data []byte) (Content, error) {
	var d pdfText
	if err := json.Unmarshal(data, &d); err != nil {
		return Content{}, fmt.Errorf("reading the text of a PDF: %w", err)
	}
	c := Content{Pages: d.Pages}
	switch d.Problem {
	case "password":
		c.Note = "encrypted: it opens only with a password"
		return c, nil
	case "slow":
		c.Note = "it could not be opened in time"
		return c, nil
	case "":
	default:
		c.Note = "damaged: it cannot be opened"
		return c, nil
	}
	w := pdfWriter{}
	pages := make([][]pdfLine, len(d.Read))
	for i := range d.Read {
		pages[i] = d.Read[i].lines()
	}
	w.measure(pages)
	empty, damaged := 0, 0
	for i, page := range d.Read {
		if page.Damaged {
			damaged++
		} else if len(page.Items) == 0 && !page.More {
			empty++
		}
		c.Truncated = c.Truncated || page.More
		w.page(i+1, d.Pages, pages[i])
	}
	c.HTML = w.b.String()
	c.Truncated = c.Truncated || len(d.Read) < d.Pages
	c.Note = pdfNote(d, empty, damaged, c.Truncated)
	if empty+damaged == len(d.Read) {
		c.HTML = ""
	}
	return c, nil
}

// pdfNote describes what the text of a PDF lacks.
func pdfNote(d pdfText, empty, damaged int, truncated bool) string {
	var notes []string
	switch {
	case empty > 0 && empty == len(d.Read):
		notes = append(notes, "no text: the pages are pictures, such as scans; where a viewer shows them, take a screenshot")
	case empty > 0:
		notes = append(notes, fmt.Sprintf("%d of %d pages have no text: they are empty or pictures", empty, len(d.Read)))
	}
	if damaged > 0 {
		notes = append(notes, fmt.Sprintf("%d pages are damaged", damaged))
	}
	if len(d.Read) < d.Pages {
		notes = append(notes, fmt.Sprintf("only the first %d pages were read", len(d.Read)))
	} else if truncated {
		notes = append(notes, "some pages have more text than was read")
	}
	return strings.Join(notes, "; ")
}

// pdfCell is text on one baseline without a wide gap.
type pdfCell struct {
	items       []pdfItem
	left, right float64
}

// pdfLine is the text on one baseline. Wide gaps separate its cells.
type pdfLine struct {
	cells         []pdfCell
	y, size, left float64
	rtl           bool
	letters       int
}

const (
	// sameBaseline is the difference of baselines on one line, wordGap the gap between words, and cellGap the gap between cells, as parts
	// of the size of the text.
	sameBaseline = 0.35
	wordGap      = 0.16
	cellGap      = 1.4
)

// lines groups the text of a page. The order is that of the document, unless it jumps: then from top to bottom.
func (p *pdfPage) lines() []pdfLine {
	var upright, rotated []pdfItem
	for _, item := range p.Items {
		item.size = max(item.size, 1)
		item.href = p.hrefOf(item)
		if item.rotated {
			rotated = append(rotated, item)
		} else {
			upright = append(upright, item)
		}
	}
	lines := group(upright)
	if jumps(lines) > max(4, len(lines)/6) {
		slices.SortStableFunc(upright, func(a, b pdfItem) int {
			if math.Abs(a.y-b.y) > sameBaseline*max(a.size, b.size) {
				return cmp.Compare(a.y, b.y)
			}
			return cmp.Compare(a.x, b.x)
		})
		lines = group(upright)
	}
	for _, item := range rotated { // each piece by itself: positions say little
		if strings.TrimSpace(item.text) != "" {
			lines = append(lines, newLine(item))
		}
	}
	return lines
}

// jumps counts the lines that are above the line before them and beside it, so that no column explains the order.
func jumps(lines []pdfLine) (n int) {
	for i := 1; i < len(lines); i++ {
		a, b := lines[i-1], lines[i]
		if b.y < a.y-a.size && b.left < a.cells[len(a.cells)-1].right {
			n++
		}
	}
	return n
}

// hrefOf returns the target of the link that contains the middle of an item.
func (p *pdfPage) hrefOf(item pdfItem) string {
	x, y := item.x+item.width/2, item.y-item.size/3
	for _, l := range p.Links {
		if x >= l.left && x <= l.right && y >= l.top && y <= l.bottom {
			return l.href
		}
	}
	return ""
}

func newLine(item pdfItem) pdfLine {
	l := pdfLine{y: item.y, size: item.size, left: item.x}
	l.add(item)
	return l
}

// add adds an item at the end of the line.
func (l *pdfLine) add(item pdfItem) {
	last := len(l.cells) - 1
	gap := 0.0
	if last >= 0 {
		gap = item.x - l.cells[last].right
		if before := l.cells[last].left - (item.x + item.width); item.rtl && before > gap {
			gap = before
		}
	}
	blank := strings.TrimSpace(item.text) == ""
	switch {
	case blank && (last < 0 || item.width > cellGap*l.size):
		return
	case last < 0 || gap > cellGap*max(l.size, item.size):
		l.cells = append(l.cells, pdfCell{left: item.x, right: item.x})
		last++
	case gap > wordGap*item.size && !blank:
		l.cells[last].items = append(l.cells[last].items, pdfItem{text: " ", href: item.href})
	}
	cell := &l.cells[last]
	cell.items = append(cell.items, item)
	cell.left, cell.right = min(cell.left, item.x), max(cell.right, item.x+item.width)
	if n := utf8.RuneCountInString(item.text); !blank {
		if n >= l.letters {
			l.size = item.size
		}
		l.letters += n
		l.rtl = l.rtl || item.rtl
	}
	l.left = min(l.left, item.x)
}

// group makes lines of items in their order.
func group(items []pdfItem) (lines []pdfLine) {
	for _, item := range items {
		if n := len(lines); n > 0 {
			last := &lines[n-1]
			onIt := math.Abs(item.y-last.y) <= sameBaseline*max(item.size, last.size) || isScript(item, last)
			backwards := !item.rtl && item.x < last.cells[len(last.cells)-1].right-2*last.size
			if onIt && !backwards {
				last.add(item)
				continue
			}
		}
		if strings.TrimSpace(item.text) != "" {
			lines = append(lines, newLine(item))
		}
	}
	return lines
}

// isScript reports whether an item is a superscript or subscript at the end of a line.
func isScript(item pdfItem, l *pdfLine) bool {
	right := l.cells[len(l.cells)-1].right
	return item.size < 0.85*l.size && math.Abs(item.y-l.y) < 0.6*l.size && math.Abs(item.x-right) < l.size
}

// text returns the text of a line without links.
func (l *pdfLine) text() string {
	var b strings.Builder
	for i, cell := range l.cells {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, item := range cell.items {
			b.WriteString(item.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// html writes a cell with its links.
func (c pdfCell) html(b *strings.Builder) {
	for i := 0; i < len(c.items); {
		href := c.items[i].href
		var parts strings.Builder
		for ; i < len(c.items) && c.items[i].href == href; i++ {
			parts.WriteString(c.items[i].text)
		}
		text := parts.String()
		if href == "" || strings.TrimSpace(text) == "" {
			b.WriteString(html.EscapeString(text))
			continue
		}
		b.WriteString(`<a href="` + html.EscapeString(href) + `">` + html.EscapeString(text) + "</a>")
	}
}

// pdfWriter writes the pages of a PDF as HTML.
type pdfWriter struct {
	b strings.Builder
	// body is the size of most text, and headings are the larger sizes, largest first.
	body     float64
	headings []float64
}

// maxLevels limits the levels of headings.
const maxLevels = 5

// measure finds the size of the body text and those of headings.
func (w *pdfWriter) measure(pages [][]pdfLine) {
	letters := map[float64]int{}
	for _, lines := range pages {
		for _, l := range lines {
			letters[math.Round(l.size*2)/2] += l.letters
		}
	}
	for size, n := range letters {
		if most := letters[w.body]; n > most || n == most && size < w.body {
			w.body = size
		}
	}
	for size := range letters {
		if size > 1.12*w.body+0.1 {
			w.headings = append(w.headings, size)
		}
	}
	slices.SortFunc(w.headings, func(a, b float64) int { return cmp.Compare(b, a) })
}

// level returns the level of a heading of a size, or 0 for body text.
func (w *pdfWriter) level(l *pdfLine) int {
	size := math.Round(l.size*2) / 2
	at, found := slices.BinarySearchFunc(w.headings, size, func(a, b float64) int { return cmp.Compare(b, a) })
	if !found || l.letters > 200 || !strings.ContainsFunc(l.text(), unicode.IsLetter) {
		return 0
	}
	return min(at+1, maxLevels)
}

// page writes a page.
func (w *pdfWriter) page(number, of int, lines []pdfLine) {
	w.b.WriteString("<p>[page " + strconv.Itoa(number) + " of " + strconv.Itoa(of) + "]</p>")
	for i := 0; i < len(lines); {
		if n := tableRows(lines[i:]); n > 0 {
			w.table(lines[i : i+n])
			i += n
			continue
		}
		if level := w.level(&lines[i]); level > 0 {
			n := 1
			for i+n < len(lines) && w.level(&lines[i+n]) == level && follows(&lines[i+n-1], &lines[i+n]) && n < 4 {
				n++
			}
			tag := "h" + strconv.Itoa(level)
			w.b.WriteString("<" + tag + ">")
			w.joined(lines[i : i+n])
			w.b.WriteString("</" + tag + ">")
			i += n
			continue
		}
		n := 1
		for i+n < len(lines) && w.level(&lines[i+n]) == 0 && tableRows(lines[i+n:]) == 0 && continues(&lines[i+n-1], &lines[i+n]) {
			n++
		}
		w.b.WriteString("<p>")
		w.joined(lines[i : i+n])
		w.b.WriteString("</p>")
		i += n
	}
}

// follows reports whether line b is directly below line a.
func follows(a, b *pdfLine) bool {
	down := b.y - a.y
	return down > 0 && down < 1.75*max(a.size, b.size)
}

// continues reports whether line b continues the paragraph of line a.
func continues(a, b *pdfLine) bool {
	if !follows(a, b) || math.Abs(a.size-b.size) > 0.15*a.size || isItem(b.text()) {
		return false
	}
	return len(a.cells) == 1 && len(b.cells) == 1 && (a.rtl || b.left <= a.left+1.2*a.size || isItem(a.text()))
}

// isItem reports whether a line starts an item of a list.
func isItem(text string) bool {
	first, rest, found := strings.Cut(text, " ")
	if !found || rest == "" {
		return false
	}
	if r, n := utf8.DecodeRuneInString(first); n == len(first) {
		return strings.ContainsRune("•◦▪‣–*·●○■□-", r)
	}
	number := strings.TrimRight(first, ".)")
	_, err := strconv.Atoi(number)
	return err == nil && number != first && len(number) <= 3
}

// joined writes lines as one text. A word that is hyphenated at the end of a line is joined.
func (w *pdfWriter) joined(lines []pdfLine) {
	last := ""
	for i := range lines {
		first, _ := utf8.DecodeRuneInString(lines[i].text())
		if head, hyphenated := withoutHyphen(last); hyphenated && unicode.IsLower(first) {
			last = head
		} else if last != "" {
			last += " "
		}
		w.b.WriteString(last)
		last = lines[i].html()
	}
	w.b.WriteString(last)
}

// withoutHyphen removes a hyphen behind a letter at the end of a text.
func withoutHyphen(text string) (head string, hyphenated bool) {
	for _, hyphen := range []string{"-", "\u00ad", "\u2010"} {
		if head, found := strings.CutSuffix(text, hyphen); found {
			last, _ := utf8.DecodeLastRuneInString(head)
			return head, unicode.IsLetter(last)
		}
	}
	return text, false
}

// html returns a line with its links.
func (l *pdfLine) html() string {
	var b strings.Builder
	for i, cell := range l.cells {
		if i > 0 {
			b.WriteByte(' ')
		}
		cell.html(&b)
	}
	return strings.TrimSpace(b.String())
}

const (
	// maxTableCell limits the mean number of characters of a table's cells. Longer cells are columns of prose.
	maxTableCell = 42
	// maxTableRows limits the rows of one table, and maxTableColumns its columns, because a table is looked for at each line. The rows
	// after maxTableRows are another table.
	maxTableRows    = 300
	maxTableColumns = 100
)

// tableRows returns the number of lines that are rows of a table, from the first line, or 0.
func tableRows(lines []pdfLine) int {
	if len(lines) < 2 || len(lines[0].cells) < 2 || len(lines[0].cells) > maxTableColumns {
		return 0
	}
	lines = lines[:min(len(lines), maxTableRows)]
	columns := slices.Clone(lines[0].cells)
	rows, cells, letters := 0, 0, 0
	for i := range lines {
		l := &lines[i]
		if i > 0 {
			down := l.y - lines[i-1].y
			if down <= 0 || down > 4*max(l.size, lines[0].size) || !fits(columns, l.cells) {
				break
			}
		}
		rows++
		cells += len(l.cells)
		letters += l.letters + len(l.cells) - 1 // with a space between cells
	}
	for rows > 0 && len(lines[rows-1].cells) < 2 { // a single cell at the end is a paragraph
		rows--
	}
	if rows < 2 || rows == 2 && len(columns) < 3 || letters/max(cells, 1) > maxTableCell {
		return 0
	}
	return rows
}

// isIn reports whether a cell is at the place of a column, at least in part.
func (c pdfCell) isIn(column pdfCell) bool {
	return c.left < column.right+1 && c.right > column.left-1
}

// fits reports whether each cell is in one column of its own, and widens the columns.
func fits(columns, cells []pdfCell) bool {
	if len(cells) > len(columns) {
		return false
	}
	last := -1
	for _, cell := range cells {
		at := -1
		for i, c := range columns {
			if cell.isIn(c) {
				if at >= 0 {
					return false
				}
				at = i
			}
		}
		if at < 0 || at == last {
			return false
		}
		last = at
		columns[at].left, columns[at].right = min(columns[at].left, cell.left), max(columns[at].right, cell.right)
	}
	return len(cells) >= 2 || len(cells) == 1 && last == 0
}

// table writes rows of a table.
func (w *pdfWriter) table(lines []pdfLine) {
	columns := slices.Clone(lines[0].cells)
	for i := range lines {
		fits(columns, lines[i].cells)
	}
	w.b.WriteString("<table>")
	for i := range lines {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		w.b.WriteString("<tr>")
		for _, column := range columns {
			w.b.WriteString("<" + tag + ">")
			for _, cell := range lines[i].cells {
				if cell.isIn(column) {
					cell.html(&w.b)
				}
			}
			w.b.WriteString("</" + tag + ">")
		}
		w.b.WriteString("</tr>")
	}
	w.b.WriteString("</table>")
}
