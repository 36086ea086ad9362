// Package archtest holds the rules of the architecture as tests: which layer (top-level directory) may import
// which, and what only some layers may do. It has no code that runs in the product.
//
// The rules are data in rules_test.go. A change that needs another rule changes that file in the same
// commit, where a reviewer sees it.
package archtest
