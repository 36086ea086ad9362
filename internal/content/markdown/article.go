package markdown

import (
	"net/url"
	"slices"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxScored limits the size, in nodes, of trees that are searched for their main content. The cost of scoring grows faster than the
	// tree.
	maxScored = 60_000
	// maxClimb limits the sum of the depths of all nodes, because scores are added up the tree.
	maxClimb = 2_000_000
	// maxSearched limits the length of documents that are searched, in bytes.
	maxSearched = 4 << 20
	// minArticle is the minimum number of words of a main content.
	minArticle = 60
	// minShare is the minimum share of a main content in all words outside the navigation. On a front page, the best of many boxes is not
	// the main content.
	minShare = 0.2
	// longArticle is the number of words that is enough for a main content regardless of its share. Comments can be many times longer than
	// the article.
	longArticle = 250
	// phraseWords is the minimum number of words of a heading that is a phrase rather than a name.
	phraseWords = 4
	// firstHeadings limits how many headings are considered as the heading of the page.
	firstHeadings = 3
)

// article is the main content of a page.
type article struct {
	content       *html.Node
	title, byline string
}

// findArticle returns the main content, or nil if there is none. It does not modify the page.
func findArticle(page *assembled, main Source) *article {
	if page.nodes > maxScored || page.climb > maxClimb || len(main.HTML) > maxSearched {
		return nil
	}
	address, err := url.Parse(main.URL)
	if err != nil {
		address = &url.URL{}
	}
	parser := readability.NewParser()
	parser.KeepClasses = true // classes contain the language of code
	parser.DisableJSONLD = true
	found, err := parser.ParseDocument(page.root, address)
	if err != nil || found.Node == nil {
		return nil
	}
	// The library creates and renames elements by name without setting an atom.
	for n := range found.Node.Descendants() {
		if n.Type == html.ElementNode {
			n.DataAtom = atom.Lookup([]byte(n.Data))
		}
	}
	dropNavigation(found.Node)
	words, links := countWords(found.Node)
	all, _ := countWords(page.body)
	rest := all - navigationWords(page.body)
	title, named := titleOf(page.body, found.Node, fold(found.Title()))
	switch {
	case words < minArticle, links*2 > words:
		return nil
	case links*4 > words && longWords(found.Node)*3 < words:
		return nil // a list of links with a line of text each
	case words < longArticle && !named && float64(words) < minShare*float64(rest):
		return nil
	}
	return &article{content: found.Node, title: title, byline: fold(found.Byline())}
}

// longWords counts the words in paragraphs.
func longWords(top *html.Node) int {
	sum := 0
	for n := range top.Descendants() {
		if n.DataAtom == atom.P || n.DataAtom == atom.Td || n.DataAtom == atom.Li || n.DataAtom == atom.Dd {
			if words, links := countWords(n); words-links >= paragraphWords {
				sum += words
			}
		}
	}
	return sum
}

// titleOf returns the only heading of level 1 of the page, if it is in the content or is a part of the document's title. Titles often
// append the name of the site. named reports that the heading is a phrase from the title, as for an article but not for a front page.
func titleOf(body, content *html.Node, title string) (heading string, named bool) {
	for n := range body.Descendants() {
		if n.DataAtom != atom.H1 {
			continue
		}
		text := fold(textOf(n))
		if text == "" {
			continue
		}
		if heading != "" {
			return title, false
		}
		heading = text
	}
	switch {
	case heading == "":
		return title, false
	case strings.Contains(title, heading):
		return heading, wordsOf(heading) >= phraseWords
	case findHeading(content, heading) != nil:
		return heading, false
	}
	return title, false
}

// findHeading returns the heading with the given text, if it is among the first headings.
func findHeading(content *html.Node, text string) *html.Node {
	seen := 0
	for n := range content.Descendants() {
		if n.DataAtom != atom.H1 && n.DataAtom != atom.H2 {
			continue
		}
		if fold(textOf(n)) == text {
			return n
		}
		if seen++; seen == firstHeadings {
			break
		}
	}
	return nil
}

// isEditor reports whether an element is for editing the page and not part of its text.
func isEditor(n *html.Node) bool {
	return strings.Contains(attribute(n, "class"), "mw-editsection")
}

// isNavigation reports whether an element is navigation or the frame that all pages of a site have in common.
func isNavigation(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar":
		return true
	case "":
	default:
		return false
	}
	switch n.DataAtom {
	case atom.Nav:
		return true
	case atom.Header, atom.Footer:
		return !within(n, atom.Article, atom.Main, atom.Section, atom.Aside)
	}
	return n.Data == "search"
}

func within(n *html.Node, tags ...atom.Atom) bool {
	for p := range n.Ancestors() {
		if slices.Contains(tags, p.DataAtom) {
			return true
		}
	}
	return false
}

// navigations returns the outermost navigation elements below a node. An element that contains the heading or the main content of the page
// is not navigation.
func navigations(top *html.Node) []*html.Node {
	var out []*html.Node
	for n := top.FirstChild; n != nil; n = following(n, top) {
		for isNavigation(n) && !holdsContent(n) {
			out = append(out, n)
			if n = skip(n, top); n == nil {
				return out
			}
		}
	}
	return out
}

func holdsContent(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.DataAtom == atom.Main || c.DataAtom == atom.Article || c.DataAtom == atom.H1 {
			return true
		}
	}
	return false
}

// following returns the next node below top in document order.
func following(n, top *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return skip(n, top)
}

// skip returns the next node after a node and its descendants.
func skip(n, top *html.Node) *html.Node {
	for ; n != nil && n != top; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}

func dropNavigation(body *html.Node) {
	for _, n := range navigations(body) {
		n.Parent.RemoveChild(n)
	}
}

func navigationWords(body *html.Node) int {
	sum := 0
	for _, n := range navigations(body) {
		words, _ := countWords(n)
		sum += words
	}
	return sum
}

// countWords counts the words below a node, and how many of them are in links. In scripts without spaces, two characters count as a word.
func countWords(top *html.Node) (words, links int) {
	link := (*html.Node)(nil)
	for n := top; n != nil; n = following(n, top) {
		if link != nil && !isBelow(n, link) {
			link = nil
		}
		if link == nil && n.DataAtom == atom.A && attribute(n, "href") != "" {
			link = n
		}
		if n.Type != html.TextNode {
			continue
		}
		k := wordsOf(n.Data)
		words += k
		if link != nil {
			links += k
		}
	}
	return words, links
}

func isBelow(n, top *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == top {
			return true
		}
	}
	return false
}

func wordsOf(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		wide := 0
		for _, r := range word {
			if r >= 0x2e80 && r < 0xd7a4 {
				wide++
			}
		}
		n += max(1, wide/2)
	}
	return n
}
