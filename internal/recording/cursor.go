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

// entries reads the entries of a block, each once.
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

// Contents yields what the blocks of entries have, in order, as it is stored but uncompressed: for those who look for what a recording
// must not have. A block that cannot be read gives an error, and the next ones follow.
func (f *File) Contents() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, b := range f.blocks {
			if !yield(f.contents(b)) {
				return
			}
		}
	}
}

// Moment is one entry of a recording: one of its fields beside At is set.
type Moment struct {
	// At is since the start of the recording.
	At       time.Duration
	State    *actor.Published
	Timeline *domtapv1.TimelineEntry
	Picture  *Picture
	Log      *domtapv1.LogEntry
	End      *recordingv1.End
}

// Cursor reads a recording forward. Where a part cannot be read, it goes on at the next keyframe.
type Cursor struct {
	f     *File
	block int
	// next and stop pull the entries of the block that is being read; nil: it begins with the next one.
	next func() (*recordingv1.Entry, error, bool)
	stop func()
	// states makes states; lost says that the next ones have none before them.
	states tablog.Reader
	lost   bool
	// damaged counts what could not be read.
	damaged int
}

// Cursor begins to read at the last keyframe at or before a time, or at the start of the recording. The caller owes a Close.
func (f *File) Cursor(at time.Duration) *Cursor {
	return &Cursor{f: f, block: max(0, f.keyframeBefore(micros(at))), lost: true}
}

// Close ends the reading.
func (c *Cursor) Close() {
	if c.stop != nil {
		c.stop()
	}
	c.next, c.stop = nil, nil
}

// Damaged is how many blocks and states could not be read so far.
func (c *Cursor) Damaged() int { return c.damaged }

// Next returns the next entry; io.EOF: there is none.
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
			continue // of a later version
		}
		return out, nil
	}
}

// entry returns the next entry that can be read.
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
			c.states, c.lost = tablog.Reader{}, true // deltas after the gap would fit by chance
		}
	}
}

// ErrNothing says that a recording has no state at or before a time.
var ErrNothing = errors.New("the recording has nothing of that time")

// At returns the newest state at or before a time, and when it began. It fails with ErrNothing before the first one.
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
	return actor.Published{}, 0, ErrNothing
}

// StateOf returns the state that began at a time and has a revision of an epoch. It fails with ErrNothing when it cannot be read.
func (f *File) StateOf(at time.Duration, revision uint64, epoch string) (actor.Published, error) {
	limit := micros(at)
	state, ok := f.Cursor(at).find(limit, revision, epoch)
	if !ok && limit > 0 { // several states may have begun at one time, and the last keyframe is a later one of them
		state, ok = f.Cursor(since(limit-1)).find(limit, revision, epoch)
	}
	if !ok {
		return actor.Published{}, ErrNothing
	}
	return state, nil
}

// find reads on to the state that began at a time and has a revision of an epoch, and closes the cursor.
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

// Mark is what a recording has at some time, without the DOM.
type Mark struct {
	// At is since the start of the recording.
	At time.Duration
	// Revision and Epoch are those of a state; 0: it is none.
	Revision uint64
	Epoch    string
	// Picture, Timeline and Log are what else it has; a picture is without its data.
	Picture  *Picture
	Timeline *domtapv1.TimelineEntry
	Log      *domtapv1.LogEntry
}

// Marks reads all that a recording has but for the DOM, and leaves out what cannot be read. It stops when the context ends.
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

// mark makes the mark of an entry; false: it has none.
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

// PictureAt returns the last picture at or before a time, or else the first one after it; nil: there is none.
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

// picture returns the last or the first picture of a block whose time is wanted.
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
