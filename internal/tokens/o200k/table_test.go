package o200k

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the table of the vocabulary")

// TestTableIsTheVocabulary compares the table with the vocabulary of the library, token by token, and all its bytes with those generated
// from the vocabulary.
func TestTableIsTheVocabulary(t *testing.T) {
	tokens := vocabulary(t)
	want := tableOf(tokens)
	if *update {
		if err := os.WriteFile("o200k_base.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return // the next run uses the new table
	}
	for i, token := range tokens {
		if got, ok := rank(token); !ok || got != uint32(i) {
			t.Fatalf("%q has the rank %d (%t), want %d; run go generate", token, got, ok, i)
		}
	}
	if table != string(want) {
		t.Error("the table is not what is generated: run go generate")
	}
}

// vocabulary returns the tokens of the library, indexed by rank.
func vocabulary(t *testing.T) []string {
	t.Helper()
	library := library()
	var tokens []string
	for i := range uint(1 << 20) {
		token, err := library.Decode([]uint{i})
		if err != nil {
			continue // this rank is not assigned to a token
		}
		if i != uint(len(tokens)) {
			t.Fatalf("%q has the rank %d, and there is no token of the rank %d", token, i, len(tokens))
		}
		tokens = append(tokens, token)
	}
	if len(tokens) < 100_000 {
		t.Fatalf("the library has %d tokens", len(tokens))
	}
	return tokens
}

// tableOf returns the table of tokens in the format of table.
func tableOf(tokens []string) []byte {
	var byBucket [buckets][]byte
	for rank, token := range tokens {
		if len(token) > longest || rank >= 1<<24 {
			panic("a token does not fit the table: " + token)
		}
		b := hash(token)
		byBucket[b] = append(byBucket[b], byte(len(token)), byte(rank), byte(rank>>8), byte(rank>>16))
		byBucket[b] = append(byBucket[b], token...)
	}
	out := make([]byte, 3*(buckets+1))
	for b := range buckets + 1 {
		at := len(out)
		out[3*b], out[3*b+1], out[3*b+2] = byte(at), byte(at>>8), byte(at>>16)
		if b < buckets {
			out = append(out, byBucket[b]...)
		}
	}
	return out
}
