package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/domtap/domtap/compact"
)

// maxHeading limits the characters of a heading in an outline.
const maxHeading = 100

// writer converts a tree to blocks.
type writer struct {
	base compact.Base
	out  []piece
	// prefix is the prefix of every line at the current position, from the enclosing quotes and lists. marker replaces it once, for the
	// first line of a list item.
	prefix string
	marker string
	// lists counts the open lists. outer counts the outermost lists.
	lists, outer int
	// title is the text of the page's heading.
	title string
	// link is the target of the link that contains the next block, because a link can contain blocks.
	link string
}

// piece is a block without the separator to the next block.
type piece struct {
	text  string
	level int
	// plain is the text of a heading without markup.
	plain string
	// prefix is the prefix of the lines around the piece.
	prefix string
	// tight reports that no blank line precedes the piece, because it continues a list.
	tight bool
	// list is the number of the outermost enclosing list, or 0.
	list int
	// first is the prefix of the first line. If the piece consists only of a linked picture, picture is the target of the link.
	first, picture string
}

func newWriter(base compact.Base) *writer { return &writer{base: base} }

// start writes the title and the byline. It omits the title if the content begins with it.
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

// startsWithHeading reports whether one of the first headings of level 1 and 2 has level 1.
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

// blocks writes the content of an element. Runs of text become paragraphs; other nodes are written by their kind.
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

// block writes an element that is a block or contains one.
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

// nest writes inner content with additional prefixes: first before the next line, rest before the following lines.
func (w *writer) nest(first, rest string, inside func()) {
	prefix, marker := w.prefix, w.marker
	if marker == "" {
		marker = prefix
	}
	w.prefix, w.marker = prefix+rest, marker+first
	inside()
	if w.marker == marker+first { // the content was empty
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
			// Old pages put a list directly in a list. Other nodes between the items are also written here.
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

// openList starts a list.
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

// pictureLink returns the target of a text that consists only of a linked picture.
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

// linked adds the enclosing link to a block, once.
func (w *writer) linked(text string) string {
	href := w.link
	if href == "" || strings.Contains(text, "](") {
		return text
	}
	w.link = ""
	return "[" + strings.ReplaceAll(text, "\n", " ") + "](" + href + ")"
}

// code writes preformatted text between fences that are longer than any fence in the text.
func (w *writer) code(n *html.Node) {
	text := strings.Trim(sanitise(rawText(n), true), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	w.add(piece{text: fence + language(n) + "\n" + text + "\n" + fence})
}

// add writes a block at the current position. The text must have no prefix yet. If the previous block is a linked picture with the same
// link, the text replaces it.
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

// quoteOf returns the prefix of a blank line that keeps two blocks in one quote. a and b are the prefixes of the blocks.
func quoteOf(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.TrimRight(a[:n], " ")
}

// isBlockTag reports whether an element starts on its own line.
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

// holdsBlock reports whether a node is or contains a block.
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
