// Package archtest tests the rules of the architecture: which layer (top-level directory) may import which, and which code only some layers
// may contain. It has no production code.
//
// The rules are data in rules_test.go. A change that needs a new rule edits that file in the same commit, so that a reviewer sees it.
package archtest
