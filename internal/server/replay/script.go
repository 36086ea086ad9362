package replay

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/recording/script"
)

// Script returns a program that repeats the actions of clients on the recorded tab. The player must hold exactly one recording.
func (p *Player) Script() (*script.Script, error) {
	if len(p.tracks) != 1 {
		return nil, fmt.Errorf("a program is made from one recording, not %d: name one file", len(p.tracks))
	}
	t := p.tracks[0]
	r := script.Recording{
		ID: t.file.Header().ID, Tab: t.tab, Started: timestamppb.New(t.start), Entries: t.entries, UpTo: t.snapshotUpTo,
	}
	if len(t.states) > 0 {
		r.First = t.snapshotUpTo(t.states[0].epoch, t.states[0].revision)
	}
	return script.New(r), nil
}

// snapshotUpTo returns the newest snapshot of an epoch whose revision is at most the given one. It returns nil if there is none or it
// cannot be read.
func (t *track) snapshotUpTo(epoch string, revision uint64) *dom.Snapshot {
	for i, m := range slices.Backward(t.states) {
		if m.epoch == epoch && m.revision <= revision {
			s, err := t.read(i)
			if err != nil {
				return nil
			}
			return s.Snapshot
		}
	}
	return nil
}
