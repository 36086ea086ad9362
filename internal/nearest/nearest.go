// Package nearest finds the name that a misspelled word most likely means. It is pure.
package nearest

import (
	"strings"
)

// separators removes the characters that people confuse between the words of a name.
var separators = strings.NewReplacer("-", "", "_", "")

// tooFar is the smallest distance that is no longer a typing error.
const tooFar = 3

// Name returns the nearest of names, or "" if none is near. Case and separators are ignored. A prefix of a name counts as near. If several
// names are equally near, the first one is returned.
func Name(word string, names []string) string {
	word = Plain(word)
	found, least := "", tooFar
	for _, name := range names {
		name, full := Plain(name), name
		d := distance(word, name)
		near := d < max(len(word), len(name)) && (d <= 1 || len(word) > 4)
		if len(word) >= 3 && d >= tooFar && strings.HasPrefix(name, word) {
			d, near = tooFar-1, true
		}
		if near && d < least {
			found, least = full, d
		}
	}
	return found
}

// Plain returns a name without case and separators. Names that people may confuse have the same plain form.
func Plain(name string) string { return separators.Replace(strings.ToLower(name)) }

// distance returns the number of letters to insert, remove, replace or swap to convert one word to another (the optimal string alignment
// distance).
func distance(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(next[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
