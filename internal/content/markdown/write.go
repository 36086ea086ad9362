package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/domtap/domtap/compact"
)

// maxHeading is how many characters of a heading an outline shows.
const maxHeading = 100

// writer turns a tree into blocks.
type writer struct {
	base compact.Base
	out  []piece
	// prefix starts every line where the writer stands: the quotes and lists around it. marker replaces it once,
	// for the first line of an item of a list.
	prefix string
	marker string
	// lists is how many lists are open, and outer counts those that stand in no other.
	lists, outer int
	// title is the text of the page's heading.
	title string
	// link is where the block that is written next leads: a link can hold blocks.
	link string
}

// piece is a block without the separator to the next.
type piece struct {
	text  string
	level int
	// plain is the text of a heading without markup.
	plain string
	// prefix is that of the lines around the piece.
	prefix string
	// tight says that no blank line stands in front, when a list goes on.
	tight bool
	// list numbers the outermost list around; 0 without one.
	list int
	// first is the prefix of the first line, and picture where the piece leads when it is a linked picture and
	// nothing else.
	first, picture string
}

func newWriter(base compact.Base) *writer { return &writer{base: base} }

// start writes the title, unless the content begins with it, and who wrote it.
func (w *writer) start(title, byline string, content *html.Node) {
	w.title = title
	switch here := findHeading(content, title); {
	case title == "":
	case here != nil:
		here.Data, here.DataAtom = "h1", atom.H1
	case !startsWithHeading(content):
		w.add(piece{text: "# " + lineSafe(escape(title)), level: 1, plain: title})
	}
	if byline != "" && len(byline) <= 200 {
		w.add(piece{text: lineSafe(escape(byline))})
	}
}

// startsWithHeading reports whether one of the first headings of level 1 or 2 is of level 1.
func startsWithHeading(content *html.Node) bool {
	seen := 0
	for n := range content.Descendants() {
		if n.DataAtom == atom.H1 && fold(textOf(n)) != "" {
			return true
		}
		if n.DataAtom == atom.H2 {
			if seen++; seen == firstHeadings {
				return false
			}
		}
	}
	return false
}

// blocks writes what is in an element: runs of text become paragraphs, the rest is written by its kind.
func (w *writer) blocks(parent *html.Node) {
	var run []*html.Node
	for c := parent.FirstChild; c != nil; c = c.NextSibling {
		if !holdsBlock(c) {
			run = append(run, c)
			continue
		}
		w.paragraph(run)
		run = nil
		w.block(c)
	}
	w.paragraph(run)
}

// block writes an element that is a block or holds one.
func (w *writer) block(n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.heading(n)
	case atom.Pre:
		w.code(n)
	case atom.Blockquote:
		w.nest("> ", "> ", func() { w.blocks(n) })
	case atom.Ul, atom.Ol, atom.Menu:
		w.list(n)
	case atom.Li, atom.Dd:
		w.item("- ", n)
	case atom.Dt:
		w.paragraphOf(emphasised("**", w.inline(n.FirstChild, nil)))
	case atom.Table:
		w.table(n)
	case atom.Hr:
		w.rule()
	case atom.A:
		if href := w.href(n); href != "" {
			w.link = href
		}
		w.blocks(n)
		w.link = ""
	default:
		w.blocks(n)
	}
}

// nest writes with more in front of every line: first in front of the next line, then rest.
func (w *writer) nest(first, rest string, inside func()) {
	prefix, marker := w.prefix, w.marker
	if marker == "" {
		marker = prefix
	}
	w.prefix, w.marker = prefix+rest, marker+first
	inside()
	if w.marker == marker+first { // nothing was written
		w.prefix, w.marker = prefix, marker
		if marker == prefix {
			w.marker = ""
		}
		return
	}
	w.prefix, w.marker = prefix, ""
}

func (w *writer) list(n *html.Node) {
	w.openList()
	number, _ := strconv.Atoi(attribute(n, "start"))
	if number <= 0 || number > 1_000_000 {
		number = 1
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.DataAtom != atom.Li:
			// A list in a list, as old pages write it; and whatever else stands between the items.
			if holdsBlock(c) {
				indent := "  "
				if n.DataAtom == atom.Ol {
					indent = "   "
				}
				w.nest(indent, indent, func() { w.block(c) })
			} else {
				w.paragraph([]*html.Node{c})
			}
		case n.DataAtom == atom.Ol:
			w.item(strconv.Itoa(number)+". ", c)
			number++
		default:
			w.item("- ", c)
		}
	}
	w.lists--
}

// openList opens a list.
func (w *writer) openList() {
	if w.lists == 0 {
		w.outer++
	}
	w.lists++
}

func (w *writer) item(marker string, n *html.Node) {
	w.openList()
	w.nest(marker, strings.Repeat(" ", len(marker)), func() { w.blocks(n) })
	w.lists--
}

func (w *writer) heading(n *html.Node) {
	level := int(n.Data[1] - '0')
	plain := strings.TrimRight(fold(textOf(n)), " ¶#")
	text := strings.TrimSpace(strings.ReplaceAll(w.inline(n.FirstChild, n), "\n", " "))
	if text == "" || plain == "" {
		return
	}
	w.add(piece{text: strings.Repeat("#", level) + " " + w.linked(text), level: level, plain: plain})
}

func (w *writer) rule() {
	if k := len(w.out); k == 0 || w.out[k-1].text == "---" || w.marker != "" {
		return
	}
	w.add(piece{text: "---"})
}

// paragraph writes a run of inline nodes.
func (w *writer) paragraph(run []*html.Node) {
	if len(run) == 0 {
		return
	}
	in := w.newInline()
	for _, n := range run {
		in.node(n)
	}
	w.paragraphOf(in.text())
}

func (w *writer) paragraphOf(text string) {
	text = trimLines(text)
	if !hasContent(text) {
		return
	}
	lines := strings.Split(w.linked(text), "\n")
	for i, line := range lines {
		lines[i] = lineSafe(line)
	}
	w.add(piece{text: strings.Join(lines, "\n"), picture: pictureLink(text)})
}

// pictureLink returns where a text leads that is nothing but a picture in a link.
func pictureLink(text string) string {
	if !strings.HasPrefix(text, "[![") || !strings.HasSuffix(text, ")") || strings.Count(text, "[![") > 1 {
		return ""
	}
	at := strings.LastIndex(text, "](")
	if at < 0 || strings.ContainsAny(text[at+2:len(text)-1], " ()") {
		return ""
	}
	return text[at+2 : len(text)-1]
}

// linked gives a block the link that contains it, once.
func (w *writer) linked(text string) string {
	href := w.link
	if href == "" || strings.Contains(text, "](") {
		return text
	}
	w.link = ""
	return "[" + strings.ReplaceAll(text, "\n", " ") + "](" + href + ")"
}

// code writes preformatted text between fences that are longer than any in it.
func (w *writer) code(n *html.Node) {
	text := strings.Trim(sanitise(rawText(n), true), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	w.add(piece{text: fence + language(n) + "\n" + text + "\n" + fence})
}

// add writes a block where the writer stands. Its text has no prefix yet. A linked picture in front of a text
// with the same link gives way to it.
func (w *writer) add(p piece) {
	if k := len(w.out) - 1; k >= 0 && w.marker == "" && w.out[k].prefix == w.prefix {
		if last := w.out[k]; last.picture != "" && strings.Contains(p.text, "]("+last.picture+")") {
			w.out, w.marker = w.out[:k], last.first
		}
	}
	first := w.prefix
	marked := w.marker != ""
	if marked {
		first, w.marker = w.marker, ""
	}
	rest := w.prefix
	blank := strings.TrimRight(rest, " ")
	lines := strings.Split(p.text, "\n")
	for i, line := range lines {
		switch {
		case i == 0:
			lines[i] = strings.TrimRight(first+line, " ")
		case line == "":
			lines[i] = blank
		default:
			lines[i] = rest + line
		}
	}
	p.text = strings.Join(lines, "\n")
	p.prefix, p.tight = rest, marked && w.lists > 0
	if w.lists > 0 {
		p.list = w.outer
	}
	p.first = first
	w.out = append(w.out, p)
}

// finish adds the separators between the blocks.
func (w *writer) finish() ([]Block, []Heading) {
	blocks := make([]Block, len(w.out))
	var outline []Heading
	for i, p := range w.out {
		end := "\n"
		if i+1 < len(w.out) {
			next := w.out[i+1]
			if p.list != next.list || !next.tight {
				end = "\n" + quoteOf(p.prefix, next.prefix) + "\n"
			}
		}
		blocks[i] = Block{Text: p.text + end, Level: p.level}
		if p.level > 0 {
			outline = append(outline, Heading{Level: p.level, Text: clip(p.plain, maxHeading), Block: i})
		}
	}
	return blocks, outline
}

// quoteOf returns what a blank line between two blocks needs to keep them in one quote.
func quoteOf(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.TrimRight(a[:n], " ")
}

// isBlockTag says which elements stand on lines of their own.
func isBlockTag(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Dd, atom.Details, atom.Dialog,
		atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2,
		atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Li, atom.Main, atom.Menu,
		atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot,
		atom.Th, atom.Thead, atom.Tr, atom.Ul:
		return true
	}
	return false
}

func isBlock(n *html.Node) bool {
	return n.Type == html.ElementNode && (isBlockTag(n.DataAtom) || n.Data == "search")
}

// holdsBlock reports whether a node is a block or has one in it.
func holdsBlock(n *html.Node) bool {
	if n.Type != html.ElementNode || isBlock(n) {
		return n.Type == html.ElementNode
	}
	for c := range n.Descendants() {
		if isBlock(c) {
			return true
		}
	}
	return false
}
