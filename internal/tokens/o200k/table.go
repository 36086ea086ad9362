package o200k

import _ "embed"

// table is the vocabulary: 199,998 tokens with their ranks, written by the tests of this package. It is a string, so that it is
// in the part of the program that is never written, and its pages can be taken from an idle process.
//
// It starts with the index: the offsets in the table of buckets+1 places, 3 bytes each, the lowest first. Bucket b has the tokens
// whose hash is b, from offset b to offset b+1. A token has 4 bytes, the lowest first, with its length in the lowest
// 8 bits and its rank above them, and then its bytes.
//
//go:generate go test -run TestTableIsTheVocabulary -update
//go:embed o200k_base.bin
var table string

const (
	buckets = 1 << 16
	// longest is the size in bytes of the longest token.
	longest = 128
)

// rank returns the rank of a token, and whether there is one of these bytes. Of two tokens, the one with the lower rank is
// merged first.
func rank(token string) (uint32, bool) {
	if len(token) > longest {
		return 0, false
	}
	b := hash(token)
	for at, end := place(b), place(b+1); at < end; {
		head := uint32(table[at]) | uint32(table[at+1])<<8 | uint32(table[at+2])<<16 | uint32(table[at+3])<<24
		at += 4
		n := int(head & 0xff)
		if n == len(token) && table[at:at+n] == token {
			return head >> 8, true
		}
		at += n
	}
	return 0, false
}

// place returns the offset of a bucket in the table.
func place(bucket int) int {
	at := 3 * bucket
	return int(table[at]) | int(table[at+1])<<8 | int(table[at+2])<<16
}

// hash returns the bucket of a token: FNV-1a, folded.
func hash(token string) int {
	h := uint32(2166136261)
	for i := range len(token) {
		h = (h ^ uint32(token[i])) * 16777619
	}
	return int((h ^ h>>16) % buckets)
}
