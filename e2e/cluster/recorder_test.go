//go:build cluster

package cluster

import (
	"slices"
	"testing"
)

// TestTheRecorderFindsWhatIsWrong sends receipts that seem to come from two owners, and one order twice.
func TestTheRecorderFindsWhatIsWrong(t *testing.T) {
	r := newReceipts()
	first, second := r.loaded("s", "s"), r.loaded("s", "s")
	for _, one := range []receipt{
		{"s", "keydown", "", first}, {"s", "click", "1", first}, {"s", "click", "2", second}, {"s", "keydown", "", first}, {"s", "click", "2", second},
	} {
		r.got(one)
	}
	r.loaded("s", "stranger")
	want := []string{`two owners: keydown (order "") reached document 1 of s after one reached document 2`, "lost: the cookie of document 3 of s"}
	if got := r.wrong(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := r.twice(); !slices.Equal(got, []string{"2: 2 times"}) || r.times("1") != 1 {
		t.Errorf("twice: %q", got)
	}
}
