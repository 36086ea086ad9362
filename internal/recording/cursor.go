package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	recordingv1 "github.com/domtap/domtap/gen/domtap/recording/v1"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/tablog"
)

// entries yields the entries of a block. Each entry can be read once.
func (f *File) entries(b block) iter.Seq2[*recordingv1.Entry, error] {
	return func(yield func(*recordingv1.Entry, error) bool) {
		raw, err := f.contents(b)
		for err == nil && len(raw) > 0 {
			one, n := protowire.ConsumeBytes(raw)
			if n < 0 {
				err = protowire.ParseError(n)
				break
			}
			m := new(recordingv1.Entry)
			if err = proto.Unmarshal(one, m); err == nil && !yield(m, nil) {
				return
			}
			raw = raw[n:]
		}
		if err != nil {
			yield(nil, fmt.Errorf("at %v: %w", since(b.first), err))
		}
	}
}

// Contents yields the uncompressed contents of the entry blocks, in order. Callers use it to search a recording for data that it must not
// contain. A block that cannot be read yields an error, and the iteration continues with the next block.
func (f *File) Contents() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, b := range f.blocks {
			if !yield(f.contents(b)) {
				return
			}
		}
	}
}

// Moment is one entry of a recording. Besides At, exactly one field is set.
type Moment struct {
	// At is the time since the start of the recording.
	At       time.Duration
	State    *actor.Published
	Timeline *domtapv1.TimelineEntry
	Picture  *Picture
	Log      *domtapv1.LogEntry
	End      *recordingv1.End
}

// Cursor reads a recording forward. If a part cannot be read, the Cursor continues at the next keyframe.
type Cursor struct {
	f     *File
	block int
	// next and stop pull the entries of the current block. If nil, reading continues with the next block.
	next func() (*recordingv1.Entry, error, bool)
	stop func()
	// states decodes states. lost reports that the state before the next deltas is unknown.
	states tablog.Reader
	lost   bool
	// damaged counts the blocks and states that could not be read.
	damaged int
}

// Cursor returns a Cursor that starts at the last keyframe at or before a time, or at the start of the recording. The caller must close it.
func (f *File) Cursor(at time.Duration) *Cursor {
	return &Cursor{f: f, block: max(0, f.keyframeBefore(micros(at))), lost: true}
}

// Close releases the resources of the Cursor.
func (c *Cursor) Close() {
	if c.stop != nil {
		c.stop()
	}
	c.next, c.stop = nil, nil
}

// Damaged returns how many blocks and states could not be read so far.
func (c *Cursor) Damaged() int { return c.damaged }

// Next returns the next entry, or io.EOF if there is none.
func (c *Cursor) Next() (Moment, error) {
	for {
		m, err := c.entry()
		if err != nil {
			return Moment{}, err
		}
		out := Moment{At: since(m.GetAt()), Timeline: m.GetTimeline(), Picture: m.GetPicture(), Log: m.GetLog(), End: m.GetEnd()}
		record, isState := m.GetWhat().(*recordingv1.Entry_State)
		switch {
		case isState:
			state, err := c.states.Read(record.State)
			if err != nil {
				if !c.lost || !errors.Is(err, tablog.ErrGap) {
					c.damaged++
				}
				c.lost = true
				continue
			}
			c.lost = false
			out.State = &state
		case m.GetWhat() == nil:
			continue // a kind of entry from a later version
		}
		return out, nil
	}
}

// entry returns the next readable entry.
func (c *Cursor) entry() (*recordingv1.Entry, error) {
	for {
		if c.next == nil {
			if c.block >= len(c.f.blocks) {
				return nil, io.EOF
			}
			c.next, c.stop = iter.Pull2(c.f.entries(c.f.blocks[c.block]))
			c.block++
		}
		m, err, ok := c.next()
		if ok && err == nil {
			return m, nil
		}
		c.Close()
		if err != nil {
			c.damaged++
			c.states, c.lost = tablog.Reader{}, true // deltas after the gap could apply to the wrong state
		}
	}
}

// ErrNoState reports that a recording has no state at or before a time.
var ErrNoState = errors.New("the recording has no state at that time")

// At returns the newest state at or before a time, and the time at which that state began. Before the first state it fails with ErrNoState.
func (f *File) At(at time.Duration) (actor.Published, time.Duration, error) {
	limit := micros(at)
	for i := f.keyframeBefore(limit); i >= 0; i = f.keyframeBefore(f.blocks[i].first - 1) {
		c := &Cursor{f: f, block: i, lost: true}
		state, when, ok := c.last(limit)
		c.Close()
		if ok {
			return state, when, nil
		}
		if f.blocks[i].first == 0 {
			break
		}
	}
	return actor.Published{}, 0, ErrNoState
}

// StateOf returns the state that began at a time and has the given revision and epoch. If it cannot be read, StateOf fails with ErrNoState.
func (f *File) StateOf(at time.Duration, revision uint64, epoch string) (actor.Published, error) {
	limit := micros(at)
	state, ok := f.Cursor(at).find(limit, revision, epoch)
	if !ok && limit > 0 { // several states may have begun at this time, and the last keyframe may be after the wanted one
		state, ok = f.Cursor(since(limit-1)).find(limit, revision, epoch)
	}
	if !ok {
		return actor.Published{}, ErrNoState
	}
	return state, nil
}

// find reads forward to the state that began at a time and has the given revision and epoch. It closes the cursor.
func (c *Cursor) find(limit, revision uint64, epoch string) (actor.Published, bool) {
	defer c.Close()
	for {
		m, err := c.Next()
		if err != nil || micros(m.At) > limit {
			return actor.Published{}, false
		}
		if s := m.State; s != nil && micros(m.At) == limit && s.Snapshot.Revision == revision && s.Snapshot.Epoch == epoch {
			return *s, true
		}
	}
}

// last returns the last state at or before a time.
func (c *Cursor) last(limit uint64) (state actor.Published, at time.Duration, ok bool) {
	for {
		m, err := c.Next()
		if err != nil || micros(m.At) > limit {
			return state, at, ok
		}
		if m.State != nil {
			state, at, ok = *m.State, m.At, true
		}
	}
}

// Mark describes an entry of a recording without the DOM.
type Mark struct {
	// At is the time since the start of the recording.
	At time.Duration
	// Revision and Epoch identify a state. Revision is 0 if the entry is not a state.
	Revision uint64
	Epoch    string
	// Picture, Timeline and Log hold the other kinds of entries. A picture has no data.
	Picture  *Picture
	Timeline *domtapv1.TimelineEntry
	Log      *domtapv1.LogEntry
}

// Marks yields all entries of the recording without the DOM, and skips what cannot be read. It stops when the context ends.
func (f *File) Marks(ctx context.Context) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		for _, b := range f.blocks {
			if ctx.Err() != nil {
				return
			}
			for e, err := range f.entries(b) {
				if err != nil {
					break
				}
				if m, ok := mark(e); ok && !yield(m) {
					return
				}
			}
		}
	}
}

// mark returns the Mark of an entry. It returns false if the entry has none.
func mark(e *recordingv1.Entry) (Mark, bool) {
	m := Mark{At: since(e.GetAt()), Timeline: e.GetTimeline(), Log: e.GetLog()}
	switch what := e.GetWhat().(type) {
	case *recordingv1.Entry_State:
		var err error
		if m.Revision, m.Epoch, err = tablog.RevisionOf(what.State); err != nil {
			return m, false
		}
	case *recordingv1.Entry_Picture:
		m.Picture = what.Picture
		m.Picture.Data = nil
	}
	return m, m.Revision > 0 || m.Picture != nil || m.Timeline != nil || m.Log != nil
}

// PictureAt returns the last picture at or before a time, or else the first picture after it. It returns nil if there is no picture.
func (f *File) PictureAt(at time.Duration) *Picture {
	limit := micros(at)
	for _, b := range slices.Backward(f.blocks) {
		if b.flags&hasPictures != 0 && b.first <= limit {
			if p := f.picture(b, func(t uint64) bool { return t <= limit }, true); p != nil {
				return p
			}
		}
	}
	for _, b := range f.blocks {
		if b.flags&hasPictures != 0 && b.last >= limit {
			if p := f.picture(b, func(t uint64) bool { return t >= limit }, false); p != nil {
				return p
			}
		}
	}
	return nil
}

// picture returns the first picture of a block whose time satisfies wanted, or the last one if last is set.
func (f *File) picture(b block, wanted func(at uint64) bool, last bool) (found *Picture) {
	for e, err := range f.entries(b) {
		if err != nil {
			break
		}
		if p := e.GetPicture(); p != nil && wanted(e.GetAt()) {
			if found = p; !last {
				break
			}
		}
	}
	return found
}
