package markdown

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	// maxAlt limits the alternative text of a picture, in characters.
	maxAlt = 200
	// maxSource limits the address of a picture, in bytes. Longer addresses are omitted, because a reader cannot see the picture anyway.
	maxSource = 60
)

// inline writes inline content.
type inline struct {
	w   *writer
	buf strings.Builder
	// These fields count the enclosing elements whose marks are written only once, regardless of nesting.
	strong, em, code, link int
	// nested reports that text precedes the content, so that a leading space is significant.
	nested bool
}

func (w *writer) newInline() *inline { return &inline{w: w} }

// inline returns the text of a node and its siblings. In a heading no text is marked bold, because the whole heading is bold.
func (w *writer) inline(first, heading *html.Node) string {
	in := w.newInline()
	if heading != nil {
		in.strong++
	}
	for n := first; n != nil; n = n.NextSibling {
		in.node(n)
	}
	return in.text()
}

func (in *inline) text() string { return in.buf.String() }

func (in *inline) node(n *html.Node) {
	switch n.Type {
	case html.TextNode:
		in.plain(n.Data)
		return
	case html.ElementNode:
	default:
		return
	}
	if isEditor(n) {
		return
	}
	switch n.DataAtom {
	case atom.Strong, atom.B:
		in.wrapped(n, &in.strong, "**")
	case atom.Em, atom.I:
		in.wrapped(n, &in.em, "*")
	case atom.Del, atom.S:
		in.wrapped(n, new(int), "~~")
	case atom.Code, atom.Kbd, atom.Samp:
		in.codeSpan(n)
	case atom.A:
		in.anchor(n)
	case atom.Img:
		in.image(n)
	case atom.Br:
		in.buf.WriteByte('\n')
	case atom.Input:
		in.control(n)
	case atom.Sup:
		in.superscript(n)
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Head, atom.Title:
	default:
		if isBlock(n) || n.DataAtom == atom.Button {
			in.space()
			in.children(n)
			in.space()
			return
		}
		in.children(n)
	}
}

func (in *inline) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		in.node(c)
	}
}

// inside returns the text of a node's children.
func (in *inline) inside(n *html.Node) string {
	inner := *in
	inner.buf, inner.nested = strings.Builder{}, true
	inner.children(n)
	return inner.text()
}

func (in *inline) plain(text string) {
	if in.code > 0 {
		in.buf.WriteString(sanitise(text, false))
		return
	}
	text = sanitise(text, false)
	if in.link > 0 {
		text = labelled(text)
	} else {
		text = escape(text)
	}
	in.write(text)
}

// write appends text and collapses the white space between it and the existing text. It prevents brackets in two texts from forming a link.
func (in *inline) write(text string) {
	if strings.HasPrefix(text, "(") && strings.HasSuffix(in.buf.String(), "]") {
		text = `\` + text
	}
	if strings.HasPrefix(text, " ") && in.endsBlank() {
		text = text[1:]
	}
	in.buf.WriteString(text)
}

func (in *inline) endsBlank() bool {
	s := in.buf.String()
	if s == "" {
		return !in.nested
	}
	return s[len(s)-1] == ' ' || s[len(s)-1] == '\n'
}

func (in *inline) space() {
	if !in.endsBlank() {
		in.buf.WriteByte(' ')
	}
}

// brackets escapes the characters that would end the text of a link.
var brackets = strings.NewReplacer("[", `\[`, "]", `\]`, `\]`, `\]`)

// labelled escapes the text of a link.
func labelled(text string) string { return brackets.Replace(escape(text)) }

func (in *inline) wrapped(n *html.Node, open *int, mark string) {
	if *open > 0 || in.code > 0 {
		in.children(n)
		return
	}
	*open++
	text := in.inside(n)
	*open--
	in.write(emphasised(mark, text))
}

// emphasised puts marks around a text, inside its outer white space. Marks do not span lines.
func emphasised(mark, text string) string {
	inner := strings.TrimSpace(text)
	if !hasContent(inner) || strings.Contains(inner, "\n") {
		return text
	}
	return between(text, mark+inner+mark)
}

// between puts the outer white space of a text around inner.
func between(text, inner string) string {
	if strings.HasPrefix(text, " ") {
		inner = " " + inner
	}
	if strings.HasSuffix(text, " ") {
		inner += " "
	}
	return inner
}

// codeSpan writes code between backticks, more of them than occur in a row in the code.
func (in *inline) codeSpan(n *html.Node) {
	if in.code > 0 {
		in.children(n)
		return
	}
	in.code++
	text := strings.ReplaceAll(in.inside(n), "\n", " ")
	in.code--
	inner := strings.TrimSpace(text)
	if inner == "" {
		in.write(text)
		return
	}
	ticks := strings.Repeat("`", longestRun(inner, '`')+1)
	if strings.HasPrefix(inner, "`") || strings.HasSuffix(inner, "`") {
		inner = " " + inner + " "
	}
	in.write(between(text, ticks+inner+ticks))
}

func (in *inline) anchor(n *html.Node) {
	href := in.w.href(n)
	if href == "" && attribute(n, "href") != "" && !hasContent(textOf(n)) && in.code == 0 {
		in.space() // a symbol that only links to its own position
		return
	}
	if href == "" || in.link > 0 || in.code > 0 {
		in.children(n)
		return
	}
	in.link++
	text := in.inside(n)
	in.link--
	inner := strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
	if !hasContent(inner) {
		in.write(text)
		return
	}
	in.write(between(text, "["+inner+"]("+href+")"))
}

// image writes a picture that has an alternative text. It includes the address only if that is short.
func (in *inline) image(n *html.Node) {
	alt := clip(fold(attribute(n, "alt")), maxAlt)
	if alt == "" || alt == in.w.title {
		return
	}
	if in.code > 0 {
		in.write(alt)
		return
	}
	src := in.w.base.Href(attribute(n, "src"))
	if len(src) > maxSource || hasScript(src) {
		src = ""
	}
	text := "![" + strings.TrimRight(brackets.Replace(alt), `\`) + "]"
	if src != "" {
		text += "(" + target(src) + ")"
	}
	in.write(text)
}

func (in *inline) control(n *html.Node) {
	value := fold(attribute(n, "value"))
	switch attribute(n, "type") {
	case "checkbox", "radio":
		value = " "
		for _, a := range n.Attr {
			if a.Key == "checked" {
				value = "x"
			}
		}
	case "submit", "button", "reset", "image":
	default:
		if value == "" {
			value = fold(attribute(n, "placeholder"))
		}
		if value == "" {
			value = "…"
		}
	}
	if value != "" {
		in.space()
		in.write("[" + labelled(value) + "] ")
	}
}

// superscript writes an exponent with ^. Notes in brackets stay unchanged.
func (in *inline) superscript(n *html.Node) {
	text := in.inside(n)
	if s := strings.TrimSpace(text); s != "" && len(s) <= 4 && s[0] >= '0' && s[0] <= '9' && !in.endsBlank() && in.code == 0 {
		in.write("^" + s)
		return
	}
	in.write(text)
}

// href returns the address of a link as written in the document. It returns an empty string if the link leads to a script, to the page
// itself, or to nothing.
func (w *writer) href(n *html.Node) string {
	href := strings.TrimSpace(attribute(n, "href"))
	if href == "" || hasScript(href) {
		return ""
	}
	short := w.base.Href(href)
	if strings.HasPrefix(short, "#") {
		return ""
	}
	return target(short)
}

func hasScript(href string) bool {
	scheme, _, found := strings.Cut(href, ":")
	if !found {
		return false
	}
	scheme = strings.ToLower(strings.Join(strings.FieldsFunc(scheme, func(r rune) bool { return r <= ' ' }), ""))
	return scheme == "javascript" || scheme == "vbscript"
}

// target escapes characters that would end the address of a link.
func target(href string) string {
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E", "\n", "%0A").Replace(href)
}
