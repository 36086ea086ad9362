package placement_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domtap/domtap/internal/cluster/placement"
)

// nodes returns n nodes with room for 100 sessions each.
func nodes(n int) []placement.Node {
	list := make([]placement.Node, n)
	for i := range list {
		list[i] = placement.Node{ID: fmt.Sprint("n", i), Capacity: 100}
	}
	return list
}

func names(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(prefix, i)
	}
	return list
}

// counts returns the number of sessions on each node.
func counts(places map[string]string) map[string]int {
	n := map[string]int{}
	for _, id := range places {
		n[id]++
	}
	return n
}

func TestSessionsAreSpreadEvenly(t *testing.T) {
	for _, c := range []struct{ nodes, sessions, least, most int }{
		{20, 1000, 47, 53}, {5, 100, 19, 21}, {3, 10, 3, 4}, {3, 3, 1, 1}, {7, 1, 0, 1}, {20, 1999, 96, 100},
	} {
		places, left := placement.ChooseAll(names("session-", c.sessions), nodes(c.nodes))
		got := slices.Sorted(maps.Values(counts(places)))
		if c.least == 0 {
			got = append([]int{0}, got...)
		}
		if len(left) > 0 || got[0] < c.least || got[len(got)-1] > c.most || len(got) < min(c.nodes, c.sessions) {
			t.Errorf("%d sessions on %d nodes: %v, left %v", c.sessions, c.nodes, got, left)
		}
	}
}

func TestCapacityCounts(t *testing.T) {
	list := nodes(3)
	list[0].Capacity, list[1].Capacity, list[2].Capacity = 10, 20, 40
	places, left := placement.ChooseAll(names("s", 35), list)
	for id, want := range map[string]int{"n0": 5, "n1": 10, "n2": 20} {
		if got := counts(places)[id]; got < want-1 || got > want+1 {
			t.Errorf("%s has %d sessions, want %d or one more or less", id, got, want)
		}
	}
	if len(left) > 0 {
		t.Errorf("no room was found for %v", left)
	}
	if _, left := placement.ChooseAll(names("s", 75), list); !slices.Equal(left, []string{"s70", "s71", "s72", "s73", "s74"}) {
		t.Errorf("no room is left for %v", left)
	}
}

func TestWhoGetsNoSession(t *testing.T) {
	list := nodes(4)
	list[0].Draining, list[1].Busy, list[2].Sessions = true, 0.95, 100
	for _, name := range names("s", 50) {
		if id, ok := placement.Choose(name, list); !ok || id != "n3" {
			t.Fatalf("got %q, %v", id, ok)
		}
	}
	list[3].Draining = true // only the busy node is left
	if id, ok := placement.Choose("s", list); !ok || id != "n1" {
		t.Errorf("got %q, %v", id, ok)
	}
	list[1].Sessions = 100
	if id, ok := placement.Choose("s", list); ok {
		t.Errorf("got %q, which has no room", id)
	}
	if _, ok := placement.Choose("s", nil); ok {
		t.Error("there is no node")
	}
}

func TestTheOrderOfNodesDoesNotMatter(t *testing.T) {
	list := nodes(10)
	want, _ := placement.Choose("work", list)
	for range 100 {
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got, _ := placement.Choose("work", list); got != want {
			t.Fatalf("%s, and then %s", want, got)
		}
	}
}

// Twenty nodes place sessions concurrently. Each node knows only the other nodes' placements of earlier rounds.
func TestPlacementAtTheSameTimeStaysWithinATenth(t *testing.T) {
	list := nodes(20)
	name := 0
	for range 50 {
		round := slices.Clone(list)
		for range 20 {
			id, _ := placement.Choose(fmt.Sprint("session-", name), list)
			name++
			round[slices.IndexFunc(round, func(n placement.Node) bool { return n.ID == id })].Sessions++
		}
		list = round
	}
	for _, n := range list {
		if n.Sessions < 45 || n.Sessions > 55 {
			t.Errorf("%s has %d of 1000 sessions", n.ID, n.Sessions)
		}
	}
}
