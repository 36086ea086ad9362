package recording

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	recordingv1 "github.com/domtap/domtap/gen/domtap/recording/v1"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/cluster/tablog"
)

const (
	// blockBytes is the minimum uncompressed size of a block, unless it is flushed earlier.
	blockBytes = 128 << 10
	// A keyframe is due after maxDeltas deltas, or when the last keyframe is keyframeAge old, or when at least minDeltas deltas follow it
	// and are together more than twice its size. In the last case a new keyframe makes reading cheaper.
	maxDeltas   = 500
	minDeltas   = 50
	keyframeAge = 20 * time.Second
)

// Header describes what is recorded.
type Header struct {
	ID, Tab, Session string
	Started          time.Time
	// Program is the version of domtap.
	Program string
}

// Picture is a picture of the viewport.
type Picture = recordingv1.Picture

// Reason is the reason why a recording ended.
type Reason = recordingv1.Reason

// The reasons are documented in file.proto.
const (
	ReasonStopped       = recordingv1.Reason_REASON_STOPPED
	ReasonTabGone       = recordingv1.Reason_REASON_TAB_GONE
	ReasonLimit         = recordingv1.Reason_REASON_LIMIT
	ReasonWriteFailed   = recordingv1.Reason_REASON_WRITE_FAILED
	ReasonDaemonStopped = recordingv1.Reason_REASON_DAEMON_STOPPED
)

// Writer writes a recording. After an error it writes nothing more, and every method returns that error.
type Writer struct {
	out     io.Writer
	encoder *zstd.Encoder
	started time.Time
	states  tablog.Writer
	// block holds the entries that are not written yet. head is the head of their block.
	block   []byte
	head    head
	entries int
	// last is the time of the newest entry. keyframe is the time of the newest keyframe.
	last, keyframe uint64
	// deltas and deltaBytes count the deltas after the newest keyframe. keyBytes is the size of that keyframe.
	deltas, deltaBytes, keyBytes int
	written                      int64
	err                          error
}

// NewWriter starts a recording. Each block is passed to out in one call of Write.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	m := &recordingv1.Header{
		Version: Version, RecordingId: h.ID, TabId: h.Tab, SessionId: h.Session, Started: timestamppb.New(h.Started), Program: h.Program,
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, started: h.Started}
	if w.encoder, err = newEncoder(); err != nil {
		return nil, err
	}
	w.write(w.seal([]byte(preamble), head{kind: headerBlock}, b))
	return w, w.err
}

// Bytes returns the size of the file so far, without unflushed entries.
func (w *Writer) Bytes() int64 { return w.written }

// Pending reports whether there are unflushed entries.
func (w *Writer) Pending() bool { return w.entries > 0 }

// State adds a state of the tab. It must be newer than the last one.
func (w *Writer) State(at time.Time, now actor.Published) error {
	if w.err != nil {
		return w.err
	}
	if n := now.Snapshot.Elements.Len(); n > tablog.MaxElements {
		return w.fail(fmt.Errorf("a page of %d elements is too large to be recorded", n))
	}
	t := w.at(at)
	var record []byte
	err := tablog.ErrNoDelta
	if !w.due(t) {
		record, err = w.states.Delta(now)
	}
	whole := errors.Is(err, tablog.ErrNoDelta)
	if whole {
		if err := w.Flush(); err != nil {
			return err
		}
		record, err = w.states.Keyframe(now)
	}
	if err != nil {
		return w.fail(err)
	}
	if err := w.add(t, &recordingv1.Entry{What: &recordingv1.Entry_State{State: record}}); err != nil {
		return err
	}
	w.states.Written(now)
	if whole {
		w.head.flags |= hasKeyframe
		w.keyframe, w.deltas, w.deltaBytes, w.keyBytes = t, 0, 0, len(record)
		return nil
	}
	w.deltas++
	w.deltaBytes += len(record)
	return nil
}

// due reports whether the next state must be a keyframe.
func (w *Writer) due(t uint64) bool {
	switch {
	case w.deltas == 0:
		return false
	case w.deltas >= maxDeltas, t-w.keyframe >= micros(keyframeAge):
		return true
	}
	return w.deltas >= minDeltas && w.deltaBytes > 2*w.keyBytes
}

// Picture adds a picture.
func (w *Writer) Picture(at time.Time, p *Picture) error {
	if err := w.add(w.at(at), &recordingv1.Entry{What: &recordingv1.Entry_Picture{Picture: p}}); err != nil {
		return err
	}
	w.head.flags |= hasPictures
	return nil
}

// Timeline adds an entry of the timeline of the tab.
func (w *Writer) Timeline(at time.Time, e *domtapv1.TimelineEntry) error {
	return w.add(w.at(at), &recordingv1.Entry{What: &recordingv1.Entry_Timeline{Timeline: e}})
}

// Log adds an entry of the log of the page.
func (w *Writer) Log(at time.Time, e *domtapv1.LogEntry) error {
	return w.add(w.at(at), &recordingv1.Entry{What: &recordingv1.Entry_Log{Log: e}})
}

// End ends the recording. It does not close the file.
func (w *Writer) End(at time.Time, why Reason, detail string) error {
	if err := w.add(w.at(at), &recordingv1.Entry{What: &recordingv1.Entry_End{End: &recordingv1.End{Reason: why, Detail: detail}}}); err != nil {
		return err
	}
	w.head.flags |= hasEnd
	return w.Flush()
}

// at converts a time to the time of an entry. The result is never before the time of the previous entry.
func (w *Writer) at(at time.Time) uint64 {
	return max(min(micros(at.Sub(w.started)), maxMicros), w.last)
}

// add adds an entry to the block, and writes the block when it is large enough.
func (w *Writer) add(at uint64, e *recordingv1.Entry) error {
	if w.err != nil {
		return w.err
	}
	e.At = at
	size := proto.Size(e)
	if size > maxRaw/2 {
		return w.fail(fmt.Errorf("a page of %d bytes is too large to be recorded", size))
	}
	if len(w.block) > 0 && len(w.block)+size > blockBytes {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	block, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(protowire.AppendVarint(w.block, uint64(size)), e)
	if err != nil {
		return w.fail(err)
	}
	if w.entries == 0 {
		w.head = head{kind: entryBlock, first: at}
	}
	w.block, w.last, w.head.last = block, at, at
	w.entries++
	return nil
}

// Flush writes the pending entries.
func (w *Writer) Flush() error {
	if w.err != nil || w.entries == 0 {
		return w.err
	}
	b := w.seal(nil, w.head, w.block)
	w.block, w.entries = w.block[:0], 0
	if cap(w.block) > 4*blockBytes {
		w.block = nil // an unusually large buffer is not kept
	}
	w.write(b)
	return w.err
}

// write writes whole blocks.
func (w *Writer) write(b []byte) {
	n, err := w.out.Write(b)
	w.written += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = err
	}
}

func (w *Writer) fail(err error) error {
	w.err = err
	return err
}

// seal appends a block with the given contents to b.
func (w *Writer) seal(b []byte, h head, contents []byte) []byte {
	stored := w.encoder.EncodeAll(contents, nil)
	h.raw, h.stored, h.sum = uint32(len(contents)), uint32(len(stored)), crc32.Checksum(stored, castagnoli)
	return append(h.append(b), stored...)
}
