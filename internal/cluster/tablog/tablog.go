// Package tablog writes what a tab publishes as the records of a log, and reads it back in another process: keyframes, which have
// the whole DOM, and deltas, which lead from one revision to a later one and cost what changed.
//
// A Writer makes records of states, a Reader makes states of records. What a Reader returns equals what the Writer was given, but
// for the identity of pointers; elements that did not change keep theirs from one state to the next unless they moved, and so do
// chunks, so that comparing states costs what changed there, too. Records come from another machine: whatever their bytes are, a Reader returns a
// valid state or an error, and stays as it was.
//
// The package is pure: it neither sends nor keeps records. Neither type may be used from several goroutines at once.
package tablog

import (
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
)

// Writer makes records of the states of one tab. Call Written when a record is in the log: the next delta starts from it. The zero
// value has written nothing.
type Writer struct {
	// Token is the fencing token that records carry.
	Token uint64

	last actor.Published
}

// Keyframe returns a record that needs no other, and the state that Written is told.
func (w *Writer) Keyframe(now actor.Published) ([]byte, error) {
	return proto.Marshal(record(w.Token, 0, dom.List{}, now))
}

// Delta returns a record that leads on from the last one that was written. It fails with ErrNoDelta when a keyframe is due,
// because nothing was written yet or the tab is in another epoch.
func (w *Writer) Delta(now actor.Published) ([]byte, error) {
	was := w.last.Snapshot
	if was == nil || was.Epoch != now.Snapshot.Epoch {
		return nil, ErrNoDelta
	}
	return proto.Marshal(record(w.Token, was.Revision, was.Elements, now))
}

// Written notes that the record of a state is the newest of the log.
func (w *Writer) Written(now actor.Published) { w.last = now }

// ErrNoDelta says that nothing leads from the log to a state: write a keyframe.
var ErrNoDelta = errors.New("tablog: the last record is not one that a delta could start from")

// ErrGap says that a delta does not start from the record before: read the log from its keyframe.
var ErrGap = errors.New("tablog: records are missing")

// Reader makes states of records. The zero value waits for a keyframe.
type Reader struct {
	// token is that of the last record.
	token  uint64
	state  actor.Published
	chunks []*dom.Chunk
}

// Token is the fencing token of the newest record.
func (r *Reader) Token() uint64 { return r.token }

// Read returns the state that a record leads to. Its error is ErrGap for a delta that does not follow the record before, and says
// what is wrong with a record that no Writer made. A record of an owner before the last one is refused.
func (r *Reader) Read(b []byte) (actor.Published, error) {
	if err := checkElements(b); err != nil {
		return actor.Published{}, err
	}
	m := new(clusterv1.LogRecord)
	if err := proto.Unmarshal(b, m); err != nil {
		return actor.Published{}, fmt.Errorf("tablog: %w", err)
	}
	if m.GetToken() < r.token {
		return actor.Published{}, fmt.Errorf("tablog: a record of the owner with token %d behind one with token %d", m.GetToken(), r.token)
	}
	chunks := r.chunks
	switch before := m.GetBefore(); {
	case before == 0:
		chunks = nil
	case r.state.Snapshot == nil || before != r.state.Snapshot.Revision || m.GetPage().GetEpoch() != r.state.Snapshot.Epoch:
		return actor.Published{}, ErrGap
	}
	chunks, err := splice(chunks, m.GetSplices(), r.known(m))
	if err != nil {
		return actor.Published{}, err
	}
	next, err := published(m, r.list(chunks))
	if err != nil {
		return actor.Published{}, err
	}
	if was := r.state.Snapshot; was != nil && was.Epoch == next.Snapshot.Epoch && was.Revision == next.Snapshot.Revision {
		next.Snapshot = was // of one revision there is one snapshot: nothing on the page changed
		chunks = r.chunks
	}
	r.token, r.state, r.chunks = m.GetToken(), next, chunks
	return next, nil
}

// known returns the elements that a keyframe may have unchanged, by their refs; nil for a delta, and in another epoch.
func (r *Reader) known(m *clusterv1.LogRecord) map[dom.Ref]*dom.Element {
	s := r.state.Snapshot
	if m.GetBefore() != 0 || s == nil || s.Epoch != m.GetPage().GetEpoch() {
		return nil
	}
	known := make(map[dom.Ref]*dom.Element, s.Elements.Len())
	for e := range s.Elements.All() {
		known[e.Ref] = e
	}
	return known
}

// list makes a list of chunks; the one before when no element differs.
func (r *Reader) list(chunks []*dom.Chunk) dom.List {
	if s := r.state.Snapshot; s != nil && len(chunks) == len(r.chunks) {
		same := true
		for i := range chunks {
			same = same && chunks[i] == r.chunks[i]
		}
		if same {
			return s.Elements
		}
	}
	return dom.NewList(chunks)
}

// TokenOf returns the fencing token of a record without reading the rest of it.
func TokenOf(record []byte) (token uint64, err error) {
	for number, value := range fields(record, &err) {
		if number == fieldToken {
			return value.number, nil
		}
	}
	return 0, err
}

// RevisionOf returns the revision and the epoch of a record's state without reading its elements.
func RevisionOf(record []byte) (revision uint64, epoch string, err error) {
	for number, page := range fields(record, &err) {
		if number != fieldPage {
			continue
		}
		for number, value := range fields(page.bytes, &err) {
			switch number {
			case fieldEpoch:
				epoch = string(value.bytes)
			case fieldRevision:
				revision = value.number
			}
		}
	}
	return revision, epoch, err
}

// MaxElements is how many elements a state may have. An empty element takes two bytes in a record and some 2,500 in memory,
// so that the size of a record does not bound that.
const MaxElements = 500_000

// checkElements returns an error for a record of more than MaxElements elements.
func checkElements(record []byte) (err error) {
	count := 0
	for number, splice := range fields(record, &err) {
		if number != fieldSplices {
			continue
		}
		for number := range fields(splice.bytes, &err) {
			if number != fieldElements {
				continue
			}
			if count++; count > MaxElements {
				return fmt.Errorf("%w: more than %d elements", errRecord, MaxElements)
			}
		}
	}
	return err
}

// The fields of clusterv1.LogRecord, of its PageState, and of its Splices that are read alone.
const (
	fieldToken    = 1
	fieldPage     = 3
	fieldSplices  = 4
	fieldEpoch    = 4
	fieldRevision = 5
	fieldElements = 3
)

// value is a field's value: a number, or the bytes of a string or message.
type value struct {
	number uint64
	bytes  []byte
}

// fields yields the fields of an encoded message. An encoding that is invalid sets err and ends it.
func fields(b []byte, err *error) iter.Seq2[protowire.Number, value] {
	return func(yield func(protowire.Number, value) bool) {
		for len(b) > 0 {
			number, kind, n := protowire.ConsumeTag(b)
			var v value
			if n >= 0 {
				b = b[n:]
				switch kind {
				case protowire.VarintType:
					v.number, n = protowire.ConsumeVarint(b)
				case protowire.BytesType:
					v.bytes, n = protowire.ConsumeBytes(b)
				default:
					n = protowire.ConsumeFieldValue(number, kind, b)
				}
			}
			if n < 0 {
				*err = fmt.Errorf("tablog: %w", protowire.ParseError(n))
				return
			}
			b = b[n:]
			if !yield(number, v) {
				return
			}
		}
	}
}
