// Package markdown converts the rendered content of a page to Markdown. A document has the main content in blocks, an outline, and the
// signals that distinguish an article from an application. It is cut between blocks to fit a token budget.
//
// The package guarantees that the same sources give the same document. The input is untrusted. A document is always valid UTF-8 without
// control characters or invisible characters, its links never contain a script, and text that could be parsed as a heading, a fence or a
// link of Markdown is escaped.
package markdown

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/domtap/domtap/compact"
)

// Source is one document of a page as HTML. See actor.Markup for its contents.
type Source struct {
	// Frame is the name of the frame. It is empty for the main frame.
	Frame      string
	URL, Title string
	HTML       string
	// Truncated reports that HTML is only a part of the document.
	Truncated bool
	// Whole reports that all of HTML is content, because the document is not a page.
	Whole bool
	// MediaArea is the area of the viewport covered by pictures. ViewArea is the area of the viewport. Both are in square pixels.
	MediaArea, ViewArea float64
}

// Document is a page as text. It is immutable.
type Document struct {
	URL, Title string
	// Blocks holds the text in pieces. Joined, they are the whole text.
	Blocks []Block
	// Outline lists the headings in order.
	Outline []Heading
	Signals Signals
	// Article reports that the blocks are the main content of the page. Otherwise there is no main content, and the blocks contain
	// everything except the navigation.
	Article bool
	// Truncated reports that only a part of the page was read.
	Truncated bool
}

// Block is a heading, a paragraph, an item of a list, a table or another block of Markdown.
type Block struct {
	// Text is one or more whole lines with the separator to the next block.
	Text string
	// Level is 1 to 6 for a heading and 0 for other blocks.
	Level int
}

// Heading is an entry of an outline.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text has no markup. It has at most 100 characters plus "…".
	Text string
	// Block is the index of the heading in Document.Blocks.
	Block int
}

// Of converts a page. The first source is the main document. Each other source replaces its frame in the document that contains the frame.
func Of(sources []Source) *Document {
	if len(sources) == 0 {
		return &Document{}
	}
	page := assemble(sources)
	main := sources[0]
	d := &Document{URL: main.URL, Title: fold(main.Title), Truncated: page.truncated, Signals: page.signals(sources)}
	w := newWriter(compact.NewBase(main.URL))
	if main.Whole {
		d.Article = true
		w.blocks(page.body)
	} else if found := findArticle(page, main); found != nil {
		d.Article = true
		d.Signals.ArticleWords, d.Signals.ArticleLinkWords = countWords(found.content)
		w.start(found.title, found.byline, found.content)
		w.blocks(found.content)
	} else {
		dropNavigation(page.body)
		w.start(d.Title, "", page.body)
		w.blocks(page.body)
	}
	d.Blocks, d.Outline = w.finish()
	return d
}

// Text returns the whole text.
func (d *Document) Text() string {
	var b strings.Builder
	for _, block := range d.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// attribute returns an attribute of an element, or an empty string if it has none.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
