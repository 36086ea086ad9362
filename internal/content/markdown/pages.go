package markdown

import (
	"strings"
	"unicode/utf8"
)

// Position is a position in the text of a document: a block, and a byte in the block.
type Position struct{ Block, Offset int }

// Contains reports whether a page of the document can start at a position: at a block, or at a character in a block.
func (d *Document) Contains(at Position) bool {
	if at.Block < 0 || at.Block >= len(d.Blocks) || at.Offset < 0 {
		return false
	}
	text := d.Blocks[at.Block].Text
	return at.Offset == 0 || at.Offset < len(text) && utf8.RuneStart(text[at.Offset])
}

// Page is a part of the text of a document.
type Page struct {
	Text string
	// Tokens is the cost of Text.
	Tokens int
	// Next is the position where the text continues if More is set.
	Next Position
	More bool
}

// Cut returns the text from a position that costs at most budget tokens according to count. If budget is 0, it returns all the remaining
// text. A page ends after a block, and before a heading rather than after it. A block that by itself exceeds the budget is cut after a
// line, a sentence or a word, or else at any character. Successive pages contain the whole text exactly once. No page is empty: if the
// budget is too small for one character, the page contains one character.
//
// The document must contain the position, and count must roughly grow with the length of a text.
func (d *Document) Cut(from Position, budget int, count func(string) int) Page {
	if len(d.Blocks) == 0 {
		return Page{}
	}
	if budget <= 0 {
		text := d.between(from, len(d.Blocks))
		return Page{Text: text, Tokens: count(text)}
	}
	end, spent := d.fill(from, budget, count)
	for end > from.Block && count(d.between(from, end)) > budget {
		end-- // the parts cost less than the joined text
	}
	if end < len(d.Blocks) {
		end = d.beforeHeadings(from.Block, end)
	}
	text := d.between(from, end)
	at := Position{Block: end}
	if end == from.Block {
		at, text, spent = from, "", 0
	}
	if text == "" || end < len(d.Blocks) && 2*spent < budget && costUpTo(d.Blocks[end].Text, budget, count) > budget {
		more := beginning(text, d.Blocks[at.Block].Text[at.Offset:], budget, count)
		text += more
		if at.Offset += len(more); at.Offset == len(d.Blocks[at.Block].Text) {
			at = Position{Block: at.Block + 1}
		}
	}
	page := Page{Text: text, Tokens: count(text), Next: at, More: at.Block < len(d.Blocks)}
	if !page.More {
		page.Next = Position{}
	}
	return page
}

// fill returns the first block that exceeds the budget, and the sum of the costs of the blocks before it.
func (d *Document) fill(from Position, budget int, count func(string) int) (end, spent int) {
	for end = from.Block; end < len(d.Blocks); end++ {
		text := d.Blocks[end].Text
		if end == from.Block {
			text = text[from.Offset:]
		}
		cost := costUpTo(text, budget-spent, count)
		if spent+cost > budget {
			break
		}
		spent += cost
	}
	return end, spent
}

// costUpTo returns the cost of a text, or a number above limit if the cost exceeds limit. It does not count long texts to their end.
func costUpTo(text string, limit int, count func(string) int) int {
	if start := (limit + 1) * maxPerToken; len(text) > start {
		for !utf8.RuneStart(text[start]) {
			start--
		}
		if n := count(text[:start]); n > limit {
			return n
		}
	}
	return count(text)
}

// beforeHeadings moves the end of a page before its trailing headings, unless the page contains only headings.
func (d *Document) beforeHeadings(first, end int) int {
	e := end
	for e > first && d.Blocks[e-1].Level > 0 {
		e--
	}
	if e == first {
		return end
	}
	return e
}

// between returns the text from a position up to a block.
func (d *Document) between(from Position, end int) string {
	var b strings.Builder
	for i := from.Block; i < end; i++ {
		text := d.Blocks[i].Text
		if i == from.Block {
			text = text[from.Offset:]
		}
		b.WriteString(text)
	}
	return b.String()
}

// maxPerToken is the maximum number of bytes per token that is assumed when a block is cut.
const maxPerToken = 16

// beginning returns the start of a text that fits the budget after the prefix. It returns at least one character.
func beginning(prefix, text string, budget int, count func(string) int) string {
	fits := func(n int) bool { return count(prefix+text[:n]) <= budget }
	low, high := 0, min(len(text), budget*maxPerToken) // low always fits
	for low < high {
		middle := (low + high + 1) / 2
		if fits(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	cut := cutPoint(text, low)
	for cut > 0 && !fits(cut) {
		cut = cutPoint(text, cut-1)
	}
	if cut == 0 && prefix == "" {
		_, cut = utf8.DecodeRuneInString(text)
	}
	return text[:cut]
}

// cutPoint returns the best place to cut a text at or before n: after a line, a sentence or a word in its later half, or else before a
// character.
func cutPoint(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if i := strings.LastIndexByte(text[:n], '\n'); i > n/4 {
		return i + 1
	}
	for _, ends := range [][]string{{". ", "! ", "? ", "。", "！", "？"}, {" "}} {
		best := 0
		for _, end := range ends {
			if i := strings.LastIndex(text[:n], end); i >= 0 {
				best = max(best, i+len(end))
			}
		}
		if best > n/2 {
			return best
		}
	}
	return n
}
