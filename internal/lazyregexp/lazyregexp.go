// Package lazyregexp compiles regular expressions at their first use. Every command of the program is a process of its
// own, which would compile those of all packages before it began its work.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression when it is first called. It panics for an expression that is invalid;
// internal/archtest compiles those of all packages.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
