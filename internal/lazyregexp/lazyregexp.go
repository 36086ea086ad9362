// Package lazyregexp compiles regular expressions on first use. Every command of the program runs in a separate process, which would
// otherwise compile the expressions of all packages at startup.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression on its first call. The function panics if the expression is invalid; internal/archtest
// compiles the expressions of all packages.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
