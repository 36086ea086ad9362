// Package o200k counts the tokens of a text as the tokenizer o200k_base does.
//
// A pattern splits a text into pieces: words, up to three digits, signs, white space. A piece that is a token of the vocabulary counts as
// one. Other pieces are merged from their bytes, starting with the pair of the lowest rank.
//
// The vocabulary is a table in the program's file. The system loads only the parts that are looked up, so nothing is built at startup and
// nothing stays on the heap.
package o200k

import "unicode/utf8"

// Count returns the number of tokens of s. Each invalid UTF-8 byte counts as U+FFFD.
//
// It takes O(n log n) time, where n is the length of the longest piece. A text whose pieces are tokens, or at most 64 bytes long, is
// counted without allocations. Count is safe for concurrent use.
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
