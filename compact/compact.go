// Package compact formats views and diffs as text for language models, with few tokens.
//
// Format LINES has a header and one line per element:
//
//	URL: https://shop.example/cart | Title: Your cart
//	[0] Skip to content (a →#main)
//	[9] Gift wrap (input type=checkbox checked)
//	[12] Pay now (button disabled)
//
// A line is `[ref] text (tag[ role=R][ →href | =value | type=T][ states])[ ‹context›]`. It has at most one detail, a role only if the tag
// does not imply it, and a context only if the view has several elements of the same role and name. A value of more than one word is in
// double quotes. A context never contains ‹ or ›. Format TREE keeps the hierarchy; see Tree. Format DENSE has many elements per line, with
// headings and landmarks around them; see Dense and package dense. Format DIFF lists changes; see Diff.
//
// The package is pure and safe for concurrent use. Whatever the strings of an element contain, each element is exactly one line, or a part
// of one in DENSE. A line has a bounded length and is valid UTF-8 without control characters, invisible characters that change the
// direction of text, or line separators. Strings are truncated. Only DENSE escapes them; in the other formats a text such as "(button)" is
// printed as it is.
//
// Every line ends with "\n", including the last one, and no line starts with "/" or a line end. The tokenizer of package tokens therefore
// never combines parts of two lines into a token, and the cost of a text is exactly the sum of the costs of its lines.
//
// Callers must pass elements in document order, as in snapshots and views, and must treat the text as untrusted, because its words come
// from the page.
package compact

import (
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// Lines returns the header and one line for each element of the view, as format LINES.
func Lines(h Header, v view.View) string {
	base := NewBase(h.URL)
	dst := make([]byte, 0, 256+64*v.Elements.Len())
	dst = h.append(dst, factsOf(h, v))
	for e := range v.Elements.All() {
		dst = append(AppendContext(AppendLine(dst, e, base), v.Contexts[e.Ref]), '\n')
	}
	return string(dst)
}

// Cost returns a function for view.Options.Cost. The function returns the cost of an element's line, including its context and its line
// end, as computed by count. It keeps a buffer and is not safe for concurrent use.
func Cost(base Base, contexts Contexts, count func(string) int) func(*dom.Element) int {
	var buffer []byte
	return func(e *dom.Element) int {
		buffer = append(AppendContext(AppendLine(buffer[:0], e, base), contexts[e.Ref]), '\n')
		return count(string(buffer))
	}
}

// Dense returns a header and the lines of a view, in format DENSE, whose grammar is docs/dense.ebnf:
//
//	URL: https://shop.example/cart | Title: Your cart
//	<navigation Shop>
//	[0] Home [1] Offers [2] Help →help.example
//	<main>
//	# Your cart
//	| Item | Price |
//	| Blue jeans | 30.00 | [7] Remove (button)
//	[8] Coupon (textbox ="SPRING") [9] Gift wrap (checkbox checked) [12] Pay now (button disabled)
//
// The lines come from dense.Page.Lines for the elements of the view.
func Dense(h Header, v view.View, lines string) string {
	h.dense = true
	dst := make([]byte, 0, 256+len(lines))
	return string(append(h.append(dst, factsOf(h, v)), lines...))
}

// Dense returns the header for format DENSE.
func (h Header) Dense() Header {
	h.dense = true
	return h
}
