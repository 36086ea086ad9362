package recording

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sort"
	"time"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	recordingv1 "github.com/domtap/domtap/gen/domtap/recording/v1"
)

// Info describes a recording.
type Info struct {
	ID, Tab, Session, File string
	Started                time.Time
	// Ended is zero for one that is being made; Reason and Detail say why it ended.
	Ended  time.Time
	Reason Reason
	Detail string
	// Bytes is how large the file is.
	Bytes            int64
	States, Pictures int64
}

// File is a recording that is read. Its methods are safe for concurrent use, but for Close.
type File struct {
	in      io.ReaderAt
	decoder *zstd.Decoder
	size    int64
	header  *recordingv1.Header
	// blocks are those of entries, in order.
	blocks  []block
	missing []Gap
	// unpacked is how much the blocks say that they have, uncompressed.
	unpacked int64
	close    func() error
}

// block is where a block of entries is.
type block struct {
	head
	// at is where its contents begin in the file.
	at int64
}

// Gap is a part of a file that is not there, or cannot be read.
type Gap struct {
	// Offset is where it begins, and Bytes how long it is as far as that is known; 0: nobody knows how much would have followed.
	Offset, Bytes int64
	// After is the time of the last entry before it, since the start of the recording.
	After time.Duration
	// Why says what is missing, in words.
	Why string
}

// ErrNoRecording says that a file is none of a recording.
var ErrNoRecording = errors.New("it is no recording of domtap")

// Open opens the recording in a file. The caller owes a Close.
func Open(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	var f *File
	if err == nil {
		f, err = Read(in, info.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the recording %s: %w", path, err), in.Close())
	}
	f.close = in.Close
	return f, nil
}

// Close closes the file.
func (f *File) Close() error {
	f.decoder.Close()
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Read reads where the blocks of a recording are. A file that is cut off opens; see Missing. The errors are ErrNoRecording, those
// of reading, and that of a later version.
func Read(in io.ReaderAt, size int64) (*File, error) {
	f := &File{in: in, size: size}
	start := make([]byte, min(size, int64(len(preamble))))
	if _, err := in.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.HasPrefix([]byte(preamble), start) {
		return nil, ErrNoRecording
	}
	var err error
	if f.decoder, err = newDecoder(); err != nil {
		return nil, err
	}
	if err := f.scan(int64(len(start))); err != nil {
		return nil, err
	}
	if f.header == nil {
		f.header = new(recordingv1.Header)
		f.miss(Gap{Why: "the file is cut off in its header: nothing can be read"})
	}
	if f.header.GetVersion() > Version {
		return nil, fmt.Errorf("its format has version %d, and this domtap reads up to version %d: upgrade domtap", f.header.GetVersion(), Version)
	}
	if _, _, ended := f.Ended(); !ended && len(f.missing) == 0 {
		f.miss(Gap{Offset: f.size, Why: "the recording has no end: it is still being made, or its daemon was killed"})
	}
	return f, nil
}

// maxGaps bounds the list of gaps. The last gap of a full list covers all later ones.
const maxGaps = 1000

// miss notes a gap behind the blocks that are known.
func (f *File) miss(g Gap) {
	if n := len(f.missing); n == maxGaps {
		last := &f.missing[n-1]
		last.Bytes, last.Why = g.Offset+g.Bytes-last.Offset, "many parts that are damaged"
		return
	}
	g.After = f.Duration()
	f.missing = append(f.missing, g)
}

// maxUnpacked bounds what all blocks of a file have, uncompressed: so much, and unpackedRatio times the size of the file. States
// of pages are compressed to a tenth, or a hundredth where much of them repeats.
const (
	maxUnpacked   = 128 << 20
	unpackedRatio = 300
)

// scan finds the blocks from an offset on.
func (f *File) scan(at int64) error {
	search := &searcher{in: f.in, size: f.size}
	for at < f.size {
		h, err := f.headAt(at)
		switch {
		case errors.Is(err, errNoHead):
			next, err := search.nextHead(at + 1)
			if err != nil {
				return err
			}
			why := "bytes that are no blocks"
			if next == f.size {
				why = "the file is cut off within a block, or damaged"
			}
			f.miss(Gap{Offset: at, Bytes: next - at, Why: why})
			at = next
			continue
		case err != nil:
			return err
		}
		b := block{h, at + headBytes}
		end := b.at + int64(h.stored)
		if end > f.size {
			f.miss(Gap{Offset: at, Bytes: f.size - at, Why: fmt.Sprintf("the file is cut off within a block, of which %d bytes are missing", end-f.size)})
			return nil
		}
		if f.unpacked += int64(b.raw); f.unpacked > maxUnpacked+unpackedRatio*f.size {
			f.miss(Gap{Offset: at, Bytes: f.size - at, Why: "the blocks say that they have far more than a file of this size can have"})
			return nil
		}
		f.note(b)
		at = end
	}
	return nil
}

// note notes a block.
func (f *File) note(b block) {
	switch {
	case b.kind == headerBlock && f.header == nil && len(f.blocks) == 0:
		contents, err := f.contents(b)
		m := new(recordingv1.Header)
		if err == nil {
			err = proto.Unmarshal(contents, m)
		}
		if err == nil {
			f.header = m
			return
		}
		f.miss(Gap{Offset: b.at - headBytes, Bytes: headBytes + int64(b.stored), Why: "the header cannot be read: " + err.Error()})
	case b.kind == entryBlock && (len(f.blocks) == 0 || f.blocks[len(f.blocks)-1].last <= b.first):
		f.blocks = append(f.blocks, b)
	default: // a kind of a later version, or a block that stands where none should
	}
}

// errNoHead says that no block begins at an offset.
var errNoHead = errors.New("no block")

// headAt reads the head of the block at an offset.
func (f *File) headAt(at int64) (head, error) {
	var b [headBytes]byte
	n, err := f.in.ReadAt(b[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	h, ok := parseHead(b[:n])
	if !ok {
		return h, errNoHead
	}
	return h, nil
}

// searcher looks for the heads of blocks in a file that is damaged. It keeps what it has read, so that a file of many small
// gaps is read once.
type searcher struct {
	in     io.ReaderAt
	size   int64
	buffer []byte
	// at is where the buffer begins in the file.
	at int64
}

// searchWindow is how much of a file is read at once.
const searchWindow = 256 << 10

// nextHead returns where the next block begins, at an offset or later; the size of the file when none does.
func (s *searcher) nextHead(at int64) (int64, error) {
	for at < s.size {
		if err := s.fill(at); err != nil {
			return 0, err
		}
		b := s.buffer[at-s.at:]
		for i := 0; ; i++ {
			j := bytes.Index(b[i:], []byte(magic))
			if j < 0 {
				break
			}
			i += j
			if _, ok := parseHead(b[i:]); ok {
				return at + int64(i), nil
			}
		}
		at += int64(max(1, len(b)-headBytes))
	}
	return s.size, nil
}

// fill reads so that the buffer has the bytes at an offset, and a head behind it unless the file ends.
func (s *searcher) fill(at int64) error {
	if end := s.at + int64(len(s.buffer)); at >= s.at && at < end && (end == s.size || end-at > headBytes) {
		return nil
	}
	if s.buffer == nil {
		s.buffer = make([]byte, searchWindow)
	}
	s.buffer = s.buffer[:min(int64(cap(s.buffer)), s.size-at)]
	n, err := s.in.ReadAt(s.buffer, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	s.buffer, s.at = s.buffer[:n], at
	if n == 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// contents reads what a block has.
func (f *File) contents(b block) ([]byte, error) {
	stored := make([]byte, b.stored)
	if _, err := f.in.ReadAt(stored, b.at); err != nil {
		return nil, err
	}
	if crc32.Checksum(stored, castagnoli) != b.sum {
		return nil, errors.New("a block is damaged: its checksum is another")
	}
	raw, err := f.decoder.DecodeAll(stored, make([]byte, 0, b.raw))
	if err != nil {
		return nil, fmt.Errorf("a block is damaged: %w", err)
	}
	if len(raw) != int(b.raw) {
		return nil, fmt.Errorf("a block is damaged: it has %d bytes instead of %d", len(raw), b.raw)
	}
	return raw, nil
}

// Header says what was recorded. A file that is cut off within its header has the zero Header.
func (f *File) Header() Header {
	h := f.header
	out := Header{ID: h.GetRecordingId(), Tab: h.GetTabId(), Session: h.GetSessionId(), Program: h.GetProgram()}
	if h.GetStarted() != nil {
		out.Started = h.GetStarted().AsTime()
	}
	return out
}

// Size is the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Duration is the time of the last entry, since the start.
func (f *File) Duration() time.Duration {
	if len(f.blocks) == 0 {
		return 0
	}
	return since(f.blocks[len(f.blocks)-1].last)
}

// Missing says what is not there of the recording. It is empty for one that ended and is whole.
func (f *File) Missing() []Gap { return f.missing }

// Ended says why the recording ended; false: it has no end.
func (f *File) Ended() (why Reason, detail string, ended bool) {
	if len(f.blocks) == 0 {
		return 0, "", false
	}
	last := f.blocks[len(f.blocks)-1]
	if last.flags&hasEnd == 0 {
		return 0, "", false
	}
	for m, err := range f.entries(last) {
		if err != nil {
			return 0, "", false
		}
		if end := m.GetEnd(); end != nil {
			return end.GetReason(), end.GetDetail(), true
		}
	}
	return 0, "", false
}

// keyframeBefore returns the last block with a keyframe whose time is at or before a time; -1: there is none.
func (f *File) keyframeBefore(at uint64) int {
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].first > at }) - 1
	for ; i >= 0 && f.blocks[i].flags&hasKeyframe == 0; i-- {
	}
	return i
}
