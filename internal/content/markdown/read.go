// Package markdown makes text for readers out of what is drawn of a page: its main content as Markdown, in blocks
// that a budget can cut between, with an outline, and the signals that tell an article from an application.
//
// Everything in it is pure: the same sources always give the same document. The input is untrusted; whatever
// it holds, a document is valid UTF-8 without control characters or invisible ones, its links never carry a
// script, and a page cannot write Markdown of its own into it: what would read as a heading, a fence or a link
// is escaped.
package markdown

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/domtap/domtap/compact"
)

// Source is one document of a page as HTML; see actor.Markup for what it holds.
type Source struct {
	// Frame names the frame; empty: the main frame.
	Frame      string
	URL, Title string
	HTML       string
	// Truncated says that HTML is not all that the document holds.
	Truncated bool
	// MediaArea is how much of the viewport pictures cover, and ViewArea the viewport itself, in square pixels.
	MediaArea, ViewArea float64
}

// Document is a page as text. It is immutable.
type Document struct {
	URL, Title string
	// Blocks make the text when they are put together as they are.
	Blocks []Block
	// Outline lists the headings in order.
	Outline []Heading
	Signals Signals
	// Article says that the blocks are the page's main content; else they are everything but the navigation,
	// because no main content stood out.
	Article bool
	// Truncated says that the page holds more than was read.
	Truncated bool
}

// Block is a piece of Markdown that stands for itself: a heading, a paragraph, an item of a list, a table.
type Block struct {
	// Text is one or more whole lines with what separates them from the next block.
	Text string
	// Level is 1 to 6 for a heading, else 0.
	Level int
}

// Heading is an entry of an outline.
type Heading struct {
	// Level is 1 to 6.
	Level int
	// Text has no markup, and at most 100 characters plus "…".
	Text string
	// Block is the heading's place in Document.Blocks.
	Block int
}

// Of reads a page. The first source is the main document; the others are put in where it, or one of them,
// holds their frame.
func Of(sources []Source) *Document {
	if len(sources) == 0 {
		return &Document{}
	}
	page := assemble(sources)
	main := sources[0]
	d := &Document{URL: main.URL, Title: fold(main.Title), Truncated: page.truncated, Signals: page.signals(sources)}
	w := newWriter(compact.NewBase(main.URL))
	if found := findArticle(page, main); found != nil {
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

// attribute returns an attribute of an element, "" when it has none.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
