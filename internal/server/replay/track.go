package replay

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
)

// maxCached limits the states that a track caches, so that repeated reads of a moment share their views.
const maxCached = 32

// track is one recording. It implements actor.RecordedStates for its tab.
type track struct {
	path, tab string
	file      *recording.File
	start     time.Time
	control   *actor.Control
	// states holds all states in order. pictures holds the times of the pictures.
	states   []mark
	pictures []time.Duration
	entries  []*domtapv1.TimelineEntry
	logs     []*domtapv1.LogEntry
	// loggedAt holds the time at which each entry of logs was recorded. The time in an entry itself is the start of its request.
	loggedAt []time.Duration

	mu sync.Mutex
	// cached holds the states that were read, newest last.
	cached []cached
}

// cached is a state and the time at which it began.
type cached struct {
	at    time.Duration
	state actor.Published
}

// openTrack opens a recording and reads its contents. If ctx ends first, it returns the context's error.
func openTrack(ctx context.Context, path string) (*track, error) {
	f, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	h := f.Header()
	t := &track{path: path, tab: h.Tab, file: f, start: h.Started}
	known := map[uint64]int{}
	for m := range f.Marks(ctx) {
		switch {
		case m.Revision > 0:
			t.states = append(t.states, mark{m.At, m.Revision, m.Epoch})
		case m.Picture != nil:
			t.pictures = append(t.pictures, m.At)
		case m.Log != nil:
			t.logs, t.loggedAt = append(t.logs, m.Log), append(t.loggedAt, m.At)
		case m.Timeline != nil:
			i, again := known[m.Timeline.GetId()]
			if again {
				t.entries[i] = m.Timeline
				continue
			}
			known[m.Timeline.GetId()] = len(t.entries)
			t.entries = append(t.entries, m.Timeline)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	slices.SortStableFunc(t.entries, func(a, b *domtapv1.TimelineEntry) int { return int(int64(a.GetId()) - int64(b.GetId())) })
	return t, nil
}

// offset returns the time of a moment, relative to the start of the track.
func (t *track) offset(at actor.Moment) (time.Duration, error) {
	if at.Revision == 0 {
		return at.Time.Sub(t.start), nil
	}
	epoch := at.Epoch
	for _, m := range slices.Backward(t.states) {
		if epoch == "" && m.revision == at.Revision {
			epoch = m.epoch
		}
	}
	i := slices.IndexFunc(t.states, func(m mark) bool { return m.revision == at.Revision && m.epoch == epoch })
	if i < 0 {
		return 0, apierr.Unknown("revision", "the recording of tab %s does not have revision %d: use a time", t.tab, at.Revision)
	}
	return t.states[i].at, nil
}

// State returns the state at a moment. For a revision, it returns the last state with that revision.
func (t *track) State(at actor.Moment) (actor.Published, error) {
	d, err := t.offset(at)
	if err != nil {
		return actor.Published{}, err
	}
	i, found := slices.BinarySearchFunc(t.states, d, mark.compare)
	for found && i+1 < len(t.states) && t.states[i+1].at == d && (at.Revision == 0 || t.states[i+1].revision == at.Revision) {
		i++
	}
	if !found {
		i--
	}
	if at.Revision > 0 { // several states can begin at the same time
		i = slices.IndexFunc(t.states, func(m mark) bool {
			return m.revision == at.Revision && (at.Epoch == "" || m.epoch == at.Epoch) && m.at == d
		})
	}
	if i < 0 && at.Revision == 0 && d >= 0 && len(t.states) > 0 {
		i = 0 // use the first state, because the recording had already begun
	}
	if i < 0 {
		return actor.Published{}, apierr.Unknown("moment", "the recording of tab %s starts after that time: use a later time", t.tab)
	}
	return t.read(i)
}

// read returns a state by its index.
func (t *track) read(i int) (actor.Published, error) {
	want := t.states[i]
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.cached {
		if c.at == want.at && c.state.Snapshot.Revision == want.revision && c.state.Snapshot.Epoch == want.epoch {
			return c.state, nil
		}
	}
	state, err := t.file.StateOf(want.at, want.revision, want.epoch)
	if errors.Is(err, recording.ErrNoState) {
		return state, apierr.Unknown("moment", "the recording of tab %s is damaged at that time: use another time", t.tab)
	}
	if err != nil {
		return state, err
	}
	if len(t.cached) >= maxCached {
		t.cached = slices.Delete(t.cached, 0, 1)
	}
	t.cached = append(t.cached, cached{want.at, state})
	return state, nil
}

// Snapshot returns the snapshot of a revision, or nil if the recording does not contain it.
func (t *track) Snapshot(epoch string, revision uint64) *dom.Snapshot {
	s, err := t.State(actor.Moment{Revision: revision, Epoch: epoch})
	if err != nil {
		return nil
	}
	return s.Snapshot
}
