// Package tablog encodes the states that a tab publishes as records of a log and decodes them in another process. A keyframe contains the
// whole DOM. A delta leads from one revision to a later one, at a cost proportional to the change.
//
// A Writer encodes states and a Reader decodes them. The decoded state equals the original except for the identity of pointers. Unchanged
// elements and chunks keep their pointers from one state to the next unless they moved, so comparing states also costs only what changed.
// Records come from another machine: for any input, a Reader returns a valid state, or an error and stays unchanged.
//
// The package neither sends nor stores records. Its types are not safe for concurrent use.
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

// Writer encodes the states of one tab. Call Written when a record is in the log: the next delta starts from it. The zero value is ready
// for use.
type Writer struct {
	// Token is the fencing token of the records.
	Token uint64

	last actor.Published
}

// Keyframe returns a record that does not depend on others.
func (w *Writer) Keyframe(now actor.Published) ([]byte, error) {
	return proto.Marshal(record(w.Token, 0, dom.List{}, now))
}

// Delta returns a record that continues from the last written one. It returns ErrNoDelta if a keyframe is due, because nothing was written
// yet or the tab is in another epoch.
func (w *Writer) Delta(now actor.Published) ([]byte, error) {
	was := w.last.Snapshot
	if was == nil || was.Epoch != now.Snapshot.Epoch {
		return nil, ErrNoDelta
	}
	return proto.Marshal(record(w.Token, was.Revision, was.Elements, now))
}

// Written reports that the record of a state is the newest in the log.
func (w *Writer) Written(now actor.Published) { w.last = now }

// ErrNoDelta reports that no delta can lead from the log to a state. Write a keyframe instead.
var ErrNoDelta = errors.New("tablog: the last record is not one that a delta could start from")

// ErrGap reports that a delta does not follow the previous record. Read the log from its keyframe.
var ErrGap = errors.New("tablog: records are missing")

// Reader decodes records. The zero value expects a keyframe first.
type Reader struct {
	// token is the token of the last record.
	token  uint64
	state  actor.Published
	chunks []*dom.Chunk
}

// Token returns the fencing token of the newest record.
func (r *Reader) Token() uint64 { return r.token }

// Read returns the state that a record leads to. It returns ErrGap for a delta that does not follow the previous record, and other errors
// for records that no Writer produces or that come from an earlier owner.
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
		next.Snapshot = was // the revision is the same, so the page has not changed and the snapshot can be reused
		chunks = r.chunks
	}
	r.token, r.state, r.chunks = m.GetToken(), next, chunks
	return next, nil
}

// known returns the elements that a keyframe may contain unchanged, by ref. It returns nil for a delta and in another epoch.
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

// list returns a list of the chunks, or the previous list if no element differs.
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

// MaxElements is the maximum number of elements in a state. The size of a record does not bound memory: an empty element takes 2 bytes in a
// record and about 2,500 in memory.
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

// Fields of clusterv1.LogRecord, its PageState and its Splices that are decoded individually.
const (
	fieldToken    = 1
	fieldPage     = 3
	fieldSplices  = 4
	fieldEpoch    = 4
	fieldRevision = 5
	fieldElements = 3
)

// value is the value of a field: a number, or the bytes of a string or message.
type value struct {
	number uint64
	bytes  []byte
}

// fields yields the fields of an encoded message. An invalid encoding sets err and ends the sequence.
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
