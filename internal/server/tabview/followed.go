package tabview

import (
	"sync/atomic"

	"github.com/domtap/domtap/dom"
)

// Followed is the document of a tab that a client follows by diffs while no client has read structural elements. Reading structural
// elements would change the positions of all elements in the client's diffs. The zero value means no document.
type Followed struct{ document atomic.Uint64 }

// Record records that a client that has seen one snapshot requests the changes up to another. Both must be of the same document; the first
// answer about a document has no changes.
func (f *Followed) Record(seen, now *dom.Snapshot) {
	if seen != nil && seen.Document == now.Document && seen.Epoch == now.Epoch {
		f.document.Store(now.Document + 1)
	}
}

// Follows reports whether a client follows the document of a snapshot.
func (f *Followed) Follows(s *dom.Snapshot) bool { return f.document.Load() == s.Document+1 }
