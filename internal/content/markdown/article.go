package markdown

import (
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxScored is the largest tree, in nodes, that is searched for its main content: what scoring costs grows
	// faster than the tree.
	maxScored = 60_000
	// maxClimb is the same for the depths of all nodes together, because scores go up the tree.
	maxClimb = 2_000_000
	// maxSearched is the longest document that is, in bytes.
	maxSearched = 4 << 20
	// minArticle is how many words a main content has at least.
	minArticle = 60
	// minShare is the part of all words outside the navigation that a main content has at least: on a front page
	// one box among many stands out without being what the page is about.
	minShare = 0.2
	// longArticle is how many words are a main content whatever else there is: comments can be many times longer.
	longArticle = 250
	// phraseWords is how many words a heading has that is more than a name.
	phraseWords = 4
	// firstHeadings is among how many headings that of the whole page is looked for.
	firstHeadings = 3
)

// article is the main content of a page.
type article struct {
	content       *html.Node
	title, byline string
}

// findArticle returns the main content, or nil when none stands out. It leaves the page as it is.
func findArticle(page *assembled, main Source) *article {
	if page.nodes > maxScored || page.climb > maxClimb || len(main.HTML) > maxSearched {
		return nil
	}
	address, err := url.Parse(main.URL)
	if err != nil {
		address = &url.URL{}
	}
	parser := readability.NewParser()
	parser.KeepClasses = true // they tell the language of code
	parser.DisableJSONLD = true
	found, err := parser.ParseDocument(page.root, address)
	if err != nil || found.Node == nil {
		return nil
	}
	// The library makes elements, and renames them, by their name alone.
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
		return nil // a list of links, each with a line
	case words < longArticle && !named && float64(words) < minShare*float64(rest):
		return nil
	}
	return &article{content: found.Node, title: title, byline: fold(found.Byline())}
}

// longWords counts the words that stand in paragraphs.
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

// titleOf returns the page's only heading of level 1 when it is a part of the document's title, which says more for
// every page of the site, or stands in the content. Named says that it is a phrase of that title, as an article has
// and a front page has not.
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
	case headed(content, heading) != nil:
		return heading, false
	}
	return title, false
}

// headed returns the heading with that text, if it is among the first.
func headed(content *html.Node, text string) *html.Node {
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

// isTool reports whether an element edits the page rather than belongs to its text.
func isTool(n *html.Node) bool {
	return strings.Contains(attribute(n, "class"), "mw-editsection")
}

// isNavigation reports whether an element leads elsewhere, or frames every page of its site.
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
		for _, tag := range tags {
			if p.DataAtom == tag {
				return true
			}
		}
	}
	return false
}

// navigations lists the outermost navigation below a node. What holds the page's own heading or main content is
// none, whatever it is called.
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

// following returns what comes after a node in document order below top.
func following(n, top *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	return skip(n, top)
}

// skip returns what comes after a node and all that is in it.
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

// countWords counts the words below a node, and those of them that stand in links. Scripts without spaces
// count every two characters as a word.
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
