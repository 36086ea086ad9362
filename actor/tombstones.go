package actor

import (
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/dom"
)

// maxTombstones is how many elements of earlier documents a tab remembers.
const maxTombstones = 1000

// tombstone is what is remembered of an element whose document is gone.
type tombstone struct{ role, text string }

// bury remembers what the elements of a document were that is left, the newest document first.
func (t *Tab) bury(s *dom.Snapshot) {
	if s.Elements.Len() == 0 {
		return
	}
	graves := make(map[dom.Ref]tombstone, min(maxTombstones, s.Elements.Len()+len(t.tombstones)))
	for el := range s.Elements.All() {
		if len(graves) == maxTombstones {
			break
		}
		if el.Kind == dom.Interactive {
			graves[el.Ref] = tombstone{role: el.Role, text: target.Called(el)}
		}
	}
	for ref, e := range t.tombstones {
		if len(graves) == maxTombstones {
			break
		}
		graves[ref] = e
	}
	t.tombstones = graves
}
