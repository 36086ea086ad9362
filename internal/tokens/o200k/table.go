package o200k

import _ "embed"

// table is the vocabulary: 199,998 tokens with their ranks. The tests of this package generate it. It is a string, so that it is in a
// read-only part of the program, and the system can reclaim its memory from an idle process.
//
// It starts with the index: buckets+1 offsets in the table, of 3 bytes each in little-endian order. Bucket b holds the tokens with hash b,
// from offset b to offset b+1. A token has 4 bytes in little-endian order, with its length in the lowest 8 bits and its rank above them,
// followed by the bytes of the token.
//
//go:generate go test -run TestTableIsTheVocabulary -update
//go:embed o200k_base.bin
var table string

const (
	buckets = 1 << 16
	// longest is the size in bytes of the longest token.
	longest = 128
)

// rank returns the rank of a token. It returns false if the vocabulary does not contain the token. The token with the lower rank is merged
// first.
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
