package ledger_test

import (
	"testing"

	"github.com/domtap/domtap/internal/cluster/ledger"
	"github.com/domtap/domtap/internal/cluster/registry"
)

// entry returns an entry that places session s on a node, under a token.
func entry(node string, revision, token uint64, phase registry.Phase) *registry.Entry[registry.Session] {
	return &registry.Entry[registry.Session]{
		Key: "s", Revision: revision, Value: registry.Session{Node: node, Incarnation: "1", Fence: token, Phase: phase, Restore: true},
	}
}

// gone returns the change that marks a node as gone.
func gone(id string) registry.Change[registry.Node] {
	key := registry.NodeKey(id, "1")
	return registry.Change[registry.Node]{Key: key, New: &registry.Entry[registry.Node]{Key: key, Revision: 1, Value: registry.Node{ID: id, Incarnation: "1", Gone: true}}}
}

// If the last entry of a session is lost, an earlier entry does not cause a reassignment; only a later one does.
func TestWhatIsLostStaysKnown(t *testing.T) {
	l := ledger.New()
	l.Node(gone("a"))
	l.Node(gone("b"))
	first, last := entry("a", 5, 5, registry.Ready), entry("b", 9, 6, registry.Ready)
	l.Session(registry.Change[registry.Session]{Key: "s", New: first})
	l.Session(registry.Change[registry.Session]{Key: "s", Old: first, New: last})
	if all := l.Orphans(); len(all) != 1 || all[0].Value.Node != "b" {
		t.Fatalf("the orphans are %+v", all)
	}
	l.Session(registry.Change[registry.Session]{Key: "s", Old: last, New: first, Lost: true})
	g, open := l.Gap("s")
	if e, ok := l.Entry("s"); !open || g.Base != 5 || !ok || e.Value.Node != "b" {
		t.Errorf("the gap is %+v, %v, behind %+v, %v", g, open, e, ok)
	}
	if all := l.Orphans(); len(all) != 0 || len(l.OpenGaps()) != 1 {
		t.Errorf("with a gap, the orphans are %+v", all)
	}
	seen := ledger.EntryVersionOf(*last)
	repaired := entry("b", 6, 7, registry.Restoring) // with a lower revision
	if !seen.Later(*first) || seen.Later(*repaired) {
		t.Error("what is later does not go by tokens")
	}
	l.Session(registry.Change[registry.Session]{Key: "s", Old: first, New: repaired})
	if all := l.Orphans(); len(all) != 1 || all[0].Revision != 6 || len(l.OpenGaps()) != 0 {
		t.Errorf("without a gap, the orphans are %+v", all)
	}
}

// A lost change that keeps the owner is not a gap.
func TestALostChangeOfOneOwnerIsNoGap(t *testing.T) {
	l := ledger.New()
	moving, ready := entry("a", 5, 5, registry.Moving), entry("a", 9, 5, registry.Ready)
	l.Session(registry.Change[registry.Session]{Key: "s", New: ready})
	l.Session(registry.Change[registry.Session]{Key: "s", Old: ready, New: moving, Lost: true})
	if e, _ := l.Entry("s"); len(l.OpenGaps()) != 0 || e.Revision != 5 {
		t.Errorf("the gaps are %v, and the entry %+v", l.OpenGaps(), e)
	}
	if names := l.Names(func(string) bool { return true }); !names["s"] {
		t.Errorf("the sessions are %v", names)
	}
}
