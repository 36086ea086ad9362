package views

import (
	"sync/atomic"

	"github.com/domtap/domtap/dom"
)

// Followed is the document of a tab that some client follows by diffs while nobody has read structural elements. Those
// would change where all elements stand in its diffs. The zero value is none.
type Followed struct{ document atomic.Uint64 }

// Ask records that a client which has seen one snapshot asks for the changes up to another. Its first answer about a
// document has none.
func (f *Followed) Ask(seen, now *dom.Snapshot) {
	if seen != nil && seen.Document == now.Document && seen.Epoch == now.Epoch {
		f.document.Store(now.Document + 1)
	}
}

// Is reports whether a client follows the document of a snapshot.
func (f *Followed) Is(s *dom.Snapshot) bool { return f.document.Load() == s.Document+1 }
