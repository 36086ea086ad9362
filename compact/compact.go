// Package compact writes views and diffs as text for language models, in few tokens.
//
// LINES is a header and one line per element:
//
//	URL: https://shop.example/cart | Title: Your cart
//	[0] Skip to content (a →#main)
//	[9] Gift wrap (input type=checkbox checked)
//	[12] Pay now (button disabled)
//
// A line is `[ref] text (tag[ role=R][ →href | =value | type=T][ states])[ ‹context›]`. It has at most one detail, the
// role only when the role is not implied by the tag, and a context only when the view has several elements of the same
// role and name. A value of more than one word is in double quotes. A context never has the characters ‹ and › in it.
// TREE keeps the hierarchy, as documented at Tree.
// DENSE has many elements in a line, and headings and landmarks around them, as documented at Dense, by package dense.
// DIFF lists changes, as documented at Diff.
//
// The package is pure and may be used from any goroutine. Whatever the strings of an element hold, it
// guarantees that each element is exactly one line, in DENSE a part of one, of valid UTF-8 without control
// characters, invisible characters that steer the direction of text, or line separators, and that every
// line is bounded. Strings are truncated. Only DENSE escapes them; elsewhere a text that looks like
// "(button)" is printed as it is.
//
// Every line ends with "\n", also the last one, and no line starts with "/" or a line end. So the tokenizer
// of package tokens never makes a token of parts of two lines, and a text costs exactly the sum of its
// lines.
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

// Cost returns a function for view.Options.Cost: what an element's line costs, with its context and its line end,
// as count counts. The function keeps a buffer and is for one goroutine at a time.
func Cost(base Base, contexts Contexts, count func(string) int) func(*dom.Element) int {
	var buffer []byte
	return func(e *dom.Element) int {
		buffer = append(AppendContext(AppendLine(buffer[:0], e, base), contexts[e.Ref]), '\n')
		return count(string(buffer))
	}
}

// Dense returns a header and the lines of a view, as format DENSE, which docs/dense.md defines:
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
// The lines are those of dense.Page.Lines for the elements of the view.
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
