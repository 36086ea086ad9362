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
	// Ended is zero while the recording is running. Reason and Detail state why it ended.
	Ended  time.Time
	Reason Reason
	Detail string
	// Bytes is the size of the file.
	Bytes            int64
	States, Pictures int64
}

// File is a recording open for reading. Its methods, except Close, are safe for concurrent use.
type File struct {
	in      io.ReaderAt
	decoder *zstd.Decoder
	size    int64
	header  *recordingv1.Header
	// blocks holds the entry blocks, in order.
	blocks  []block
	missing []Gap
	// unpacked is the total uncompressed size that the heads of the blocks state.
	unpacked int64
	close    func() error
}

// block locates an entry block in the file.
type block struct {
	head
	// at is the offset of the contents in the file.
	at int64
}

// Gap is a part of a file that is missing or cannot be read.
type Gap struct {
	// Offset is the start of the gap, and Bytes its length as far as known. Bytes is 0 if the length of the missing data is unknown.
	Offset, Bytes int64
	// After is the time of the last entry before the gap, since the start of the recording.
	After time.Duration
	// Why describes the missing part.
	Why string
}

// ErrNoRecording reports that a file is not a recording.
var ErrNoRecording = errors.New("it is not a domtap recording")

// Open opens the recording in a file. The caller must close it.
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

// Read locates the blocks of a recording. A truncated file opens without an error; see Missing. Read returns ErrNoRecording, a read error,
// or an error for a file of a later version.
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
		f.miss(Gap{Offset: f.size, Why: "the recording has no end: it is still running, or its daemon was killed"})
	}
	return f, nil
}

// maxGaps limits the list of gaps. When the list is full, its last gap covers all later ones.
const maxGaps = 1000

// miss records a gap after the known blocks.
func (f *File) miss(g Gap) {
	if n := len(f.missing); n == maxGaps {
		last := &f.missing[n-1]
		last.Bytes, last.Why = g.Offset+g.Bytes-last.Offset, "many damaged parts"
		return
	}
	g.After = f.Duration()
	f.missing = append(f.missing, g)
}

// maxUnpacked and unpackedRatio limit the total uncompressed size of all blocks: maxUnpacked plus unpackedRatio times the size of the file.
// States of pages compress to a tenth of their size, or to a hundredth if much of them repeats.
const (
	maxUnpacked   = 128 << 20
	unpackedRatio = 300
)

// scan finds the blocks that start at or after an offset.
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
			why := "invalid bytes between blocks"
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
			f.miss(Gap{Offset: at, Bytes: f.size - at, Why: "the blocks declare more data than a file of this size can hold"})
			return nil
		}
		f.record(b)
		at = end
	}
	return nil
}

// record records a block.
func (f *File) record(b block) {
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
	default: // a kind from a later version, or a block in an unexpected place
	}
}

// errNoHead reports that no block starts at an offset.
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

// searcher finds the heads of blocks in a damaged file. It keeps its buffer, so that a file with many small gaps is read only once.
type searcher struct {
	in     io.ReaderAt
	size   int64
	buffer []byte
	// at is the offset of the buffer in the file.
	at int64
}

// searchWindow is the number of bytes that are read in one call.
const searchWindow = 256 << 10

// nextHead returns the offset of the first block that starts at or after an offset. It returns the size of the file if there is none.
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

// fill reads into the buffer so that it contains the byte at an offset and, unless the file ends, a whole head after it.
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

// contents reads and decompresses the contents of a block.
func (f *File) contents(b block) ([]byte, error) {
	stored := make([]byte, b.stored)
	if _, err := f.in.ReadAt(stored, b.at); err != nil {
		return nil, err
	}
	if crc32.Checksum(stored, castagnoli) != b.sum {
		return nil, errors.New("a block is damaged: its checksum does not match")
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

// Header returns the description of the recording. It returns the zero Header for a file that is truncated within its header.
func (f *File) Header() Header {
	h := f.header
	out := Header{ID: h.GetRecordingId(), Tab: h.GetTabId(), Session: h.GetSessionId(), Program: h.GetProgram()}
	if h.GetStarted() != nil {
		out.Started = h.GetStarted().AsTime()
	}
	return out
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Duration returns the time of the last entry since the start.
func (f *File) Duration() time.Duration {
	if len(f.blocks) == 0 {
		return 0
	}
	return since(f.blocks[len(f.blocks)-1].last)
}

// Missing lists the missing parts of the recording. It is empty for a complete recording that has ended.
func (f *File) Missing() []Gap { return f.missing }

// Ended returns why the recording ended. It returns false if the recording has no end.
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

// keyframeBefore returns the index of the last block with a keyframe that starts at or before a time, or -1 if there is none.
func (f *File) keyframeBefore(at uint64) int {
	i := sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].first > at }) - 1
	for ; i >= 0 && f.blocks[i].flags&hasKeyframe == 0; i-- {
	}
	return i
}
