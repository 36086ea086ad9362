// Package nearest finds the name that a misspelt word was most likely meant to be. It is pure.
package nearest

import (
	"strings"
)

// separators are what people confuse between the words of a name.
var separators = strings.NewReplacer("-", "", "_", "")

// tooFar is a distance at which two names are no longer a typing error apart.
const tooFar = 3

// Name returns the nearest of names, or "" when none is near. Case and separators do not count, and
// the beginning of a name is near. Of names equally near, the first wins.
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

// Plain returns a name without case and separators: two names that people take for one have the same.
func Plain(name string) string { return separators.Replace(strings.ToLower(name)) }

// distance counts the letters to insert, remove, replace or swap that make one word of another (the
// optimal string alignment distance).
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
