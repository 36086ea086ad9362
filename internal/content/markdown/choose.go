package markdown

import (
	"fmt"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Mode is the format that suits a page.
type Mode uint8

// The modes.
const (
	// Content: a text to read.
	Content Mode = iota
	// Interactive: things to act on.
	Interactive
	// Visual: a picture to look at.
	Visual
)

// Signals are the measurements of a page by which Choose decides.
type Signals struct {
	// Words counts the words outside the navigation, LinkWords those of them in links.
	Words, LinkWords int
	// ArticleWords and ArticleLinkWords count those of the main content; 0 when none stands out.
	ArticleWords, ArticleLinkWords int
	// Paragraphs counts runs of text of 20 words or more outside of links.
	Paragraphs int
	// Links, Controls (fields and buttons) and Fields are counted outside the navigation.
	Links, Controls, Fields int
	// Media is the part of the viewport that pictures, videos and canvases cover, 0 to 1.
	Media float64
}

// The bounds of the decision.
const (
	// fewWords is what fits on a picture; a page with less is not read for its text.
	fewWords = 60
	// mostlyMedia is the part of the viewport from which on pictures are what there is to see.
	mostlyMedia = 0.5
	// manyWords is how much running text makes a page a text whatever there is to act on.
	manyWords = 300
	// someWords is how much does when there are few controls.
	someWords = 80
	// wordsPerControl is how many words of running text a text has at least for each control.
	wordsPerControl = 12
	// mostlyLinks is the part of the words in links from which on a page leads elsewhere.
	mostlyLinks = 0.5
)

// Choose picks the format that suits a page from its signals, and says why in a few words.
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

// paragraphWords is how many words a run of text has that counts as a paragraph.
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
