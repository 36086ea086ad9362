package markdown

import (
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Mode is a format for a page.
type Mode uint8

// The modes.
const (
	// Content is text to read.
	Content Mode = iota
	// Interactive is a tree of elements to act on.
	Interactive
	// Visual is a picture.
	Visual
)

// Signals holds the measurements of a page that Choose uses.
type Signals struct {
	// Words counts the words outside the navigation. LinkWords counts those in links.
	Words, LinkWords int
	// ArticleWords and ArticleLinkWords count the words of the main content. They are 0 if there is none.
	ArticleWords, ArticleLinkWords int
	// Paragraphs counts runs of at least 20 words outside links.
	Paragraphs int
	// Links, Controls and Fields are counted outside the navigation. Controls includes fields and buttons.
	Links, Controls, Fields int
	// Media is the fraction of the viewport covered by pictures, videos and canvases, from 0 to 1.
	Media float64
}

// Thresholds of the decision.
const (
	// fewWords is the number of words that a picture can show. A page with fewer words is not read for its text.
	fewWords = 60
	// mostlyMedia is the fraction of the viewport above which pictures are the content of a page.
	mostlyMedia = 0.5
	// manyWords is the number of words of running text that makes a page a text, regardless of its controls.
	manyWords = 300
	// someWords is the number of words that is enough for a page with few controls.
	someWords = 80
	// wordsPerControl is the minimum number of words of running text per control in a text.
	wordsPerControl = 12
	// mostlyLinks is the fraction of words in links above which a page mainly leads to other pages.
	mostlyLinks = 0.5
)

// Choose returns the format that suits a page with these signals, and the reason in a few words.
func Choose(s Signals) (Mode, string) {
	running := s.ArticleWords - s.ArticleLinkWords
	switch {
	case s.Words < fewWords && s.Media >= mostlyMedia:
		return Visual, fmt.Sprintf("pictures cover %d%% of the viewport, and there are only %d words", percent(s.Media), s.Words)
	case running >= manyWords && running >= wordsPerControl*s.Fields:
		return Content, fmt.Sprintf("a main text of %d words stands out, %d%% of them in links", s.ArticleWords, share(s.ArticleLinkWords, s.ArticleWords))
	case running >= someWords && running >= wordsPerControl*s.Controls && 2*s.ArticleWords >= s.Words-s.LinkWords:
		return Content, fmt.Sprintf("a main text of %d words stands out, and there are %d controls", s.ArticleWords, s.Controls)
	case s.Words > 0 && float64(s.LinkWords) >= mostlyLinks*float64(s.Words):
		return Interactive, fmt.Sprintf("%d%% of the words are links (%d links): the page leads elsewhere", share(s.LinkWords, s.Words), s.Links)
	case s.Controls > 0 && s.Words-s.LinkWords < wordsPerControl*s.Controls:
		return Interactive, fmt.Sprintf("%d controls (%d fields) stand against %d words of text", s.Controls, s.Fields, s.Words-s.LinkWords)
	case s.ArticleWords == 0 && s.Links > 4*s.Paragraphs && s.Links > 20:
		return Interactive, fmt.Sprintf("no main text stands out among %d links", s.Links)
	case s.Words-s.LinkWords >= fewWords || s.Controls+s.Links == 0:
		return Content, fmt.Sprintf("mostly text: %d words, %d controls, %d links", s.Words, s.Controls, s.Links)
	}
	return Interactive, fmt.Sprintf("little text: %d words, %d controls, %d links", s.Words, s.Controls, s.Links)
}

func percent(part float64) int { return int(part*100 + 0.5) }

func share(part, all int) int { return percent(float64(part) / float64(max(all, 1))) }

// paragraphWords is the minimum number of words of a run of text that counts as a paragraph.
const paragraphWords = 20

// signals measures the content outside the navigation.
func (a *assembled) signals(sources []Source) Signals {
	var s Signals
	skipped := map[*html.Node]bool{}
	for _, n := range navigations(a.body) {
		skipped[n] = true
	}
	for n := a.body.FirstChild; n != nil; {
		if skipped[n] {
			n = skip(n, a.body)
			continue
		}
		s.count(n)
		n = following(n, a.body)
	}
	s.Words, s.LinkWords = countWords(a.body)
	for n := range skipped {
		words, links := countWords(n)
		s.Words, s.LinkWords = s.Words-words, s.LinkWords-links
	}
	area := 0.0
	for _, source := range sources {
		area += source.MediaArea
	}
	if view := sources[0].ViewArea; view > 0 {
		s.Media = min(area/view, 1)
	}
	return s
}

func (s *Signals) count(n *html.Node) {
	if n.Type == html.TextNode {
		if wordsOf(n.Data) >= paragraphWords && !within(n, atom.A) {
			s.Paragraphs++
		}
		return
	}
	switch role := attribute(n, "role"); {
	case n.DataAtom == atom.A && attribute(n, "href") != "":
		s.Links++
	case n.DataAtom == atom.Input && isPressed(attribute(n, "type")), n.DataAtom == atom.Button, n.DataAtom == atom.Summary:
		s.Controls++
	case n.DataAtom == atom.Input, attribute(n, "contenteditable") == "true":
		s.Controls++
		s.Fields++
	case controlRoles[role]:
		s.Controls++
	}
}

func isPressed(kind string) bool {
	return kind == "submit" || kind == "button" || kind == "reset" || kind == "image"
}

var controlRoles = map[string]bool{
	"button": true, "checkbox": true, "combobox": true, "menuitem": true, "option": true, "radio": true, "slider": true,
	"spinbutton": true, "switch": true, "tab": true, "textbox": true, "searchbox": true, "treeitem": true, "gridcell": true,
}
