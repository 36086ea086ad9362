package elementcontext

import (
	"math/rand/v2"
	"testing"

	"github.com/domtap/domtap/dom"
)

// TestNamesAreThoseOfTheList follows random changes of lists, in which elements come, go, move, change and come back. It compares the
// result with the result of alike for each list.
func TestNamesAreThoseOfTheList(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		one := func() *dom.Element {
			return &dom.Element{
				Kind: dom.Kind(random.IntN(2)), Role: []string{"button", "link"}[random.IntN(2)],
				Text: []string{"", "Edit", "Delete", "Open"}[random.IntN(4)], Href: []string{"", "/a", "/b"}[random.IntN(3)],
			}
		}
		var names Names
		var states [][]*dom.Element
		var chunks []*dom.Chunk
		for range random.IntN(6) {
			chunks = append(chunks, dom.NewChunk([]*dom.Element{one(), one()}))
		}
		for range 40 {
			if at := random.IntN(len(chunks) + 1); at == len(chunks) || random.IntN(3) == 0 {
				chunks = append(chunks[:at:at], append([]*dom.Chunk{dom.NewChunk([]*dom.Element{one()})}, chunks[at:]...)...)
			} else if random.IntN(2) == 0 {
				chunks = append(chunks[:at:at], chunks[at+1:]...)
			} else {
				all := append([]*dom.Element{}, chunks[at].Elements()...)
				random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				all[random.IntN(len(all))] = one()
				chunks = append(append(chunks[:at:at], dom.NewChunk(all)), chunks[at+1:]...)
			}
			list := dom.NewList(chunks)
			if len(states) > 0 && random.IntN(8) == 0 { // an earlier state
				list = dom.ListOf(states[random.IntN(len(states))])
			}
			states = append(states, list.Slice())
			names.Follow(list)
			checkNames(t, &names, list.Slice(), append(states[0], one()))
		}
	}
}

// checkNames compares names with the groups of a list.
func checkNames(t *testing.T, names *Names, all, others []*dom.Element) {
	t.Helper()
	shared := map[uint64]bool{}
	for _, group := range alike(all) {
		if !isOneLink(group) {
			shared[hashOf(group[0])] = true
		}
	}
	if names.Any() != (len(shared) > 0) || names.unlike != len(shared) {
		t.Fatalf("%d names are shared, not %d", names.unlike, len(shared))
	}
	for _, e := range append(others[:len(others):len(others)], all...) {
		if want := e.Kind == dom.Interactive && shared[hashOf(e)]; names.Shares(e) != want {
			t.Fatalf("%+v shares its name: %t, want %t", e, !want, want)
		}
	}
	there := map[uint64]bool{}
	for _, e := range all {
		if e.Kind == dom.Interactive {
			there[hashOf(e)] = true
		}
	}
	if len(names.groups) != len(there) {
		t.Fatalf("%d names are kept of %d", len(names.groups), len(there))
	}
}
