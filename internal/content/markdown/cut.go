package markdown

import (
	"strings"
	"unicode/utf8"
)

// Place is a place in a document's text: a block, and a byte in it.
type Place struct{ Block, Offset int }

// Holds reports whether a page of the document can start at a place: at a block, or within one at a character.
func (d *Document) Holds(at Place) bool {
	if at.Block < 0 || at.Block >= len(d.Blocks) || at.Offset < 0 {
		return false
	}
	text := d.Blocks[at.Block].Text
	return at.Offset == 0 || at.Offset < len(text) && utf8.RuneStart(text[at.Offset])
}

// Page is a part of a document's text.
type Page struct {
	Text string
	// Tokens is what Text costs.
	Tokens int
	// Next is where the text goes on; it means nothing unless More is set.
	Next Place
	More bool
	// Blocks is how many blocks the page begins.
	Blocks int
}

// Cut returns the text from a place on, as far as it costs at most budget as count counts; 0: all of it. It ends
// behind a block, before a heading rather than behind it. A block that alone costs more than the budget is cut
// behind a line, a sentence or a word, or where it must. Pages that follow each other hold the text once, without
// gaps. Every page holds something; a budget that no character fits is exceeded by one.
//
// The place must be one that Holds, and count must count more for a longer text, by and large.
func (d *Document) Cut(from Place, budget int, count func(string) int) Page {
	if len(d.Blocks) == 0 {
		return Page{}
	}
	if budget <= 0 {
		text := d.between(from, len(d.Blocks))
		return Page{Text: text, Tokens: count(text), Blocks: len(d.Blocks) - from.Block}
	}
	end, spent := d.fill(from, budget, count)
	for end > from.Block && count(d.between(from, end)) > budget {
		end-- // the parts cost less than the whole
	}
	if end < len(d.Blocks) {
		end = d.beforeHeadings(from.Block, end)
	}
	text := d.between(from, end)
	at := Place{Block: end}
	if end == from.Block {
		at, text, spent = from, "", 0
	}
	if text == "" || end < len(d.Blocks) && 2*spent < budget && price(d.Blocks[end].Text, budget, count) > budget {
		more := piecemeal(text, d.Blocks[at.Block].Text[at.Offset:], budget, count)
		text += more
		if at.Offset += len(more); at.Offset == len(d.Blocks[at.Block].Text) {
			at = Place{Block: at.Block + 1}
		}
	}
	page := Page{Text: text, Tokens: count(text), Next: at, More: at.Block < len(d.Blocks), Blocks: at.Block - from.Block}
	if at.Offset > 0 {
		page.Blocks++
	}
	if !page.More {
		page.Next = Place{}
	}
	return page
}

// fill returns the block before which the budget is spent, and what the blocks up to there cost one by one.
func (d *Document) fill(from Place, budget int, count func(string) int) (end, spent int) {
	for end = from.Block; end < len(d.Blocks); end++ {
		text := d.Blocks[end].Text
		if end == from.Block {
			text = text[from.Offset:]
		}
		cost := price(text, budget-spent, count)
		if spent+cost > budget {
			break
		}
		spent += cost
	}
	return end, spent
}

// price returns what a text costs, or more than the limit when it costs more. It does not count a text to its end
// that costs too much long before.
func price(text string, limit int, count func(string) int) int {
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

// beforeHeadings moves the end of a page before the headings that it would end with, unless it holds nothing else.
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

// between returns the text from a place up to a block.
func (d *Document) between(from Place, end int) string {
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

// maxPerToken bounds how many bytes a token is taken to stand for when a block is cut.
const maxPerToken = 16

// piecemeal returns the start of a text that costs at most the budget behind what is there, at least a character.
func piecemeal(there, text string, budget int, count func(string) int) string {
	fits := func(n int) bool { return count(there+text[:n]) <= budget }
	low, high := 0, min(len(text), budget*maxPerToken) // low fits
	for low < high {
		middle := (low + high + 1) / 2
		if fits(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	cut := niceCut(text, low)
	for cut > 0 && !fits(cut) {
		cut = niceCut(text, cut-1)
	}
	if cut == 0 && there == "" {
		_, cut = utf8.DecodeRuneInString(text)
	}
	return text[:cut]
}

// niceCut returns the best place to cut a text at or before n: behind a line, a sentence or a word of its later
// half, or before a character.
func niceCut(text string, n int) int {
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
