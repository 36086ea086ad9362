package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// placeholder is the element that marks the place of a frame's document.
	placeholder = "x-frame"
	// maxFrames limits the documents of a page. maxNesting limits the nesting of frames.
	maxFrames  = 200
	maxNesting = 4
)

// assembled is a page as one tree.
type assembled struct {
	root, body *html.Node
	// nodes is the number of nodes of the tree. climb is the sum of their depths.
	nodes, climb int
	truncated    bool
}

// assemble parses the documents and inserts each in place of its frame. Documents without a frame are omitted.
func assemble(sources []Source) *assembled {
	root, body := parse(sources[0])
	a := &assembled{root: root, body: body, truncated: sources[0].Truncated}
	rest := make(map[string]Source, len(sources))
	for _, s := range sources[1:min(len(sources), maxFrames)] {
		if s.Frame != "" {
			rest[s.Frame] = s
		}
	}
	a.splice(a.body, rest, 0)
	a.measure()
	return a
}

// measure counts the nodes and their depths.
func (a *assembled) measure() {
	depth := 0
	for n := a.root; n != nil; {
		a.nodes++
		a.climb += depth
		if n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != nil && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n != nil {
			n = n.NextSibling
		}
	}
}

// splice replaces the placeholders below a node with documents, each document once.
func (a *assembled) splice(top *html.Node, rest map[string]Source, depth int) {
	var places []*html.Node
	for n := range top.Descendants() {
		if n.Type == html.ElementNode && n.Data == placeholder {
			places = append(places, n)
		}
	}
	for _, at := range places {
		name := attribute(at, "name")
		at.Data, at.DataAtom, at.Attr = "div", atom.Div, nil
		s, ok := rest[name]
		if !ok || depth >= maxNesting {
			continue
		}
		delete(rest, name)
		a.truncated = a.truncated || s.Truncated
		_, body := parse(s)
		a.splice(body, rest, depth+1)
		for c := body.FirstChild; c != nil; c = body.FirstChild {
			body.RemoveChild(c)
			at.AppendChild(c)
		}
	}
}

// parse parses a document to a tree whose head contains only the title. The parser fails only if the nesting exceeds its limit. In that
// case parse returns the text without tags.
func parse(s Source) (root, body *html.Node) {
	root, err := html.Parse(strings.NewReader("<!DOCTYPE html><body>" + s.HTML))
	if err != nil {
		root, _ = html.Parse(strings.NewReader("<!DOCTYPE html><body>" + html.EscapeString(stripTags(s.HTML))))
	}
	var head *html.Node
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Head:
			head = n
		case atom.Body:
			body = n
		}
		if body != nil {
			break
		}
	}
	title := &html.Node{Type: html.ElementNode, Data: "title", DataAtom: atom.Title}
	title.AppendChild(&html.Node{Type: html.TextNode, Data: s.Title})
	for c := head.FirstChild; c != nil; c = head.FirstChild {
		head.RemoveChild(c)
	}
	head.AppendChild(title)
	return root, body
}

// stripTags returns the text between tags.
func stripTags(s string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
			b.Write(z.Text())
			b.WriteByte(' ')
		}
	}
}
