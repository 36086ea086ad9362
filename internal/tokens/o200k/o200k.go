// Package o200k counts the tokens of a text as the tokenizer o200k_base does.
//
// A text is split into pieces by a pattern: words, up to three digits, signs, white space. A piece that is a token
// of the vocabulary counts as one; any other is merged from its bytes, the pair of the lowest rank first.
//
// The vocabulary is a table in the file of the program, of which the system reads what is looked up. So nothing is
// built at the start, and nothing stays on the heap.
package o200k

import "unicode/utf8"

// Count returns the number of tokens of s. Each byte that is not part of valid UTF-8 counts as U+FFFD.
//
// Its time is that of n log n for the longest piece. A text whose pieces are tokens, or no longer than 64 bytes, is counted
// without allocations. It may be called from any goroutine.
func Count(s string) int {
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	n := 0
	for s != "" {
		size := piece(s)
		n += cost(s[:size])
		s = s[size:]
	}
	return n
}

// cost returns the number of tokens of a piece.
func cost(piece string) int {
	if _, ok := rank(piece); ok {
		return 1
	}
	return merge(piece)
}
