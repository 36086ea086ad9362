package recording

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	clusterv1 "github.com/domtap/domtap/gen/domtap/cluster/v1"
	recordingv1 "github.com/domtap/domtap/gen/domtap/recording/v1"
	"github.com/domtap/domtap/internal/recording/recordingtest"
)

var start = recordingtest.Start

// equal reports whether two states are equal.
func equal(a, b actor.Published) bool {
	x, y := *a.Snapshot, *b.Snapshot
	if x.Revision != y.Revision || x.Epoch != y.Epoch || x.URL != y.URL || x.Title != y.Title || !x.ObservedAt.Equal(y.ObservedAt) || a.Info != b.Info || a.Refs != b.Refs {
		return false
	}
	return slices.EqualFunc(x.Elements.Slice(), y.Elements.Slice(), func(a, b *dom.Element) bool {
		return a == b || a.Same(b) && a.Ref == b.Ref && a.InViewport == b.InViewport
	})
}

// recorded is a recording in memory, with the data that was written to it.
type recorded struct {
	bytes  []byte
	states []actor.Published
	times  []time.Duration
}

func record(t testing.TB, p *recordingtest.Page, changes int, step time.Duration, end bool) recorded {
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{ID: "r1", Tab: "t1", Session: "default", Started: start, Program: "test"})
	must(t, err)
	var r recorded
	for i := range changes {
		state := p.Published()
		if i > 0 {
			state = p.Change()
		}
		at := time.Duration(i) * step
		must(t, w.State(start.Add(at), state))
		r.states, r.times = append(r.states, state), append(r.times, at)
		if i%50 == 0 {
			picture := make([]byte, 3000)
			binary.LittleEndian.PutUint32(picture, uint32(i))
			must(t, w.Picture(start.Add(at), &Picture{Format: "jpeg", Width: 480, Height: 300, Data: picture, Revision: state.Snapshot.Revision, Epoch: "e"}))
		}
		if i%10 == 9 {
			must(t, w.Flush())
		}
	}
	if end {
		must(t, w.End(start.Add(time.Duration(changes)*step), ReasonStopped, ""))
	} else {
		must(t, w.Flush())
	}
	r.bytes = out.Bytes()
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	return f
}

func TestEveryStateIsReadAsItWasWritten(t *testing.T) {
	r := record(t, recordingtest.NewPage(1, 300), 2500, 100*time.Millisecond, true)
	f := read(t, r.bytes)
	if h := f.Header(); h.ID != "r1" || h.Tab != "t1" || h.Session != "default" || !h.Started.Equal(start) || h.Program != "test" {
		t.Errorf("the header is %+v", h)
	}
	if why, _, ended := f.Ended(); !ended || why != ReasonStopped || len(f.Missing()) > 0 {
		t.Errorf("it ended: %v %v, and misses %+v", ended, why, f.Missing())
	}
	c := f.Cursor(0)
	defer c.Close()
	states, pictures := 0, 0
	for {
		m, err := c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		switch {
		case m.State != nil:
			if m.At != r.times[states] || !equal(*m.State, r.states[states]) {
				t.Fatalf("state %d is another", states)
			}
			states++
		case m.Picture != nil:
			pictures++
		}
	}
	if states != len(r.states) || pictures != 50 || c.Damaged() != 0 {
		t.Errorf("%d states, %d pictures, %d damaged", states, pictures, c.Damaged())
	}
	for i := 0; i < len(r.states); i += 97 {
		got, at, err := f.At(r.times[i] + 50*time.Millisecond)
		must(t, err)
		if at != r.times[i] || !equal(got, r.states[i]) {
			t.Errorf("at %v it has the state of %v", r.times[i], at)
		}
	}
}

// size returns the size of a random test: short for make test, or long for make test-long.
func size(short, long int) int {
	if os.Getenv("DOMTAP_LONG") != "" {
		return long
	}
	return short
}

// A file that is truncated anywhere opens, contains all complete blocks before the cut, and lists the missing part.
func TestACutFileOpens(t *testing.T) {
	r := record(t, recordingtest.NewPage(2, 100), 300, 100*time.Millisecond, true)
	random := rand.New(rand.NewPCG(3, 3))
	for range size(100, 1000) {
		cut := random.IntN(len(r.bytes))
		f := read(t, r.bytes[:cut])
		if len(f.Missing()) == 0 {
			t.Fatalf("cut at %d, it misses nothing", cut)
		}
		n, c := 0, f.Cursor(0)
		for {
			m, err := c.Next()
			if err != nil {
				break
			}
			if m.State != nil {
				if !equal(*m.State, r.states[n]) {
					t.Fatalf("cut at %d, state %d is another", cut, n)
				}
				n++
			}
		}
		c.Close()
		if n < 10*(len(f.blocks)-12) || c.Damaged() != 0 {
			t.Fatalf("cut at %d, it has %d states in %d blocks, and %d damaged ones", cut, n, len(f.blocks), c.Damaged())
		}
	}
}

// If bytes in the middle are damaged, the part after the next keyframe is readable.
func TestDamageEndsAtTheNextKeyframe(t *testing.T) {
	r := record(t, recordingtest.NewPage(4, 50), 3000, 100*time.Millisecond, true)
	random := rand.New(rand.NewPCG(5, 5))
	for range size(6, 30) {
		b := bytes.Clone(r.bytes)
		at := len(preamble) + 200 + random.IntN(len(b)/2)
		for i := at; i < at+20; i++ {
			b[i] ^= 0x55
		}
		f := read(t, b)
		c := f.Cursor(0)
		n, last := 0, -1
		for {
			m, err := c.Next()
			if err != nil {
				break
			}
			if m.State == nil {
				continue
			}
			i := slices.Index(r.times, m.At)
			if !equal(*m.State, r.states[i]) {
				t.Fatalf("damaged at %d, state %d is another", at, i)
			}
			n, last = n+1, i
		}
		c.Close()
		if last != len(r.states)-1 || n == len(r.states) || c.Damaged() == 0 && len(f.Missing()) == 0 {
			t.Fatalf("damaged at %d, it has %d states up to %d; %d damaged, missing %+v", at, n, last, c.Damaged(), f.Missing())
		}
	}
}

// failing is a disk that is full after a number of bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left < len(b) {
		return f.left, errors.New("no space left on device")
	}
	f.left -= len(b)
	return len(b), nil
}

func TestAFullDiskEndsTheWriting(t *testing.T) {
	w, err := NewWriter(&failing{20000}, Header{Started: start})
	must(t, err)
	p := recordingtest.NewPage(6, 100)
	for range 1000 {
		if err = errors.Join(w.State(start, p.Change()), w.Flush()); err != nil {
			break
		}
	}
	if err == nil {
		t.Fatal("it writes on")
	}
	if again := w.End(start, ReasonStopped, ""); again == nil {
		t.Error("it ends as if nothing were")
	}
}

// A page changes ten times a second and is clicked every five seconds, with a picture for each click. An hour of it takes less than 20 MB,
// and any second is read quickly. The short form covers 6 minutes.
func TestAnHourIsSmallAndQuick(t *testing.T) {
	minutes := 6
	if os.Getenv("DOMTAP_LONG") != "" { // package testenv imports this package
		minutes = 60
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Tab: "t1", Started: start})
	must(t, err)
	p := recordingtest.NewPage(8, 1000)
	must(t, w.State(start, p.Published()))
	picture := make([]byte, 8<<10) // a picture of 480 pixels with readable text; pictures cannot be compressed further
	for i := range minutes * 600 {
		at := start.Add(time.Duration(i) * 100 * time.Millisecond)
		must(t, w.State(at, p.Change()))
		if i%50 == 0 {
			for j := range picture {
				picture[j] = byte(p.Random.Uint32())
			}
			must(t, w.Picture(at, &Picture{Format: "jpeg", Width: 480, Height: 300, Data: picture, Revision: p.Revision(), Epoch: "e"}))
		}
		if i%10 == 0 {
			must(t, w.Flush())
		}
	}
	must(t, w.End(start.Add(time.Duration(minutes)*time.Minute), ReasonStopped, ""))
	perHour := out.Len() * 60 / minutes
	t.Logf("%d minutes take %.2f MB: %.1f MB an hour", minutes, float64(out.Len())/1e6, float64(perHour)/1e6)
	if perHour > 20e6 {
		t.Errorf("an hour takes %d bytes", perHour)
	}
	f := read(t, out.Bytes())
	deltas := 0
	for range 20 {
		at := time.Duration(p.Random.IntN(minutes*60)) * time.Second
		i := f.keyframeBefore(micros(at))
		c := &Cursor{f: f, block: i, lost: true}
		n := 0
		for {
			m, err := c.Next()
			if err != nil || m.At > at {
				break
			}
			n++
		}
		c.Close()
		deltas = max(deltas, n)
	}
	if deltas > maxDeltas+100 { // a count bounds the cost of a seek on any machine
		t.Errorf("a seek reads %d entries", deltas)
	}
}

func BenchmarkSeek(b *testing.B) {
	r := record(b, recordingtest.NewPage(9, 1000), 36000, 100*time.Millisecond, true)
	f := read(b, r.bytes)
	random := rand.New(rand.NewPCG(1, 1))
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			read(b, r.bytes)
		}
	})
	b.Run("at", func(b *testing.B) {
		for b.Loop() {
			_, _, err := f.At(time.Duration(random.IntN(3600)) * time.Second)
			must(b, err)
		}
	})
}

// FuzzAnyFileOpens checks that opening and reading any file returns and never panics.
func FuzzAnyFileOpens(f *testing.F) {
	r := record(f, recordingtest.NewPage(10, 20), 60, 100*time.Millisecond, true)
	f.Add(r.bytes, uint16(0), byte(0))
	f.Add(r.bytes[:len(r.bytes)/2], uint16(300), byte(1))
	f.Add([]byte(preamble), uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, flip byte) {
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[int(at)%len(b)] ^= flip
		}
		file, err := Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		c := file.Cursor(0)
		defer c.Close()
		for {
			m, err := c.Next()
			if err != nil {
				break
			}
			if m.State != nil && m.State.Snapshot == nil {
				t.Fatal("a state without a snapshot")
			}
		}
		if _, _, err := file.At(file.Duration()); err != nil && !errors.Is(err, ErrNoState) {
			t.Fatal(err)
		}
	})
}

// forged returns a file of blocks with given contents, as an attacker could write it.
func forged(t *testing.T, contents ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{ID: "r1", Tab: "t1", Session: "default", Started: start, Program: "test"})
	must(t, err)
	for i, c := range contents {
		w.write(w.seal(nil, head{kind: entryBlock, flags: hasKeyframe, first: uint64(i), last: uint64(i)}, c))
		must(t, w.err)
	}
	return out.Bytes()
}

// TestEmptyElementsCostLittle reads a block of 1.5 MB whose state has more elements than any real page, all of them empty.
func TestEmptyElementsCostLittle(t *testing.T) {
	page, err := proto.Marshal(&clusterv1.LogRecord{Page: &clusterv1.PageState{Epoch: "e", Revision: 7}})
	must(t, err)
	elements := bytes.Repeat([]byte{3<<3 | 2, 0}, 700_000)
	state := protowire.AppendBytes(protowire.AppendTag(page, 4, protowire.BytesType), elements)
	entry, err := proto.Marshal(&recordingv1.Entry{What: &recordingv1.Entry_State{State: state}})
	must(t, err)
	f := read(t, forged(t, protowire.AppendBytes(nil, entry)))
	for m := range f.Marks(t.Context()) {
		if m.Revision != 7 || m.Epoch != "e" {
			t.Errorf("got %+v", m)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := f.At(time.Hour); err != ErrNoState {
		t.Errorf("the state was read: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("reading it took %d MB", took>>20)
	}
}

// TestBlocksThatUnpackToFarMoreAreLeftOut reads a small file that claims an uncompressed size of 1 GB.
func TestBlocksThatUnpackToFarMoreAreLeftOut(t *testing.T) {
	b := forged(t, slices.Repeat([][]byte{make([]byte, 8<<20)}, 128)...)
	f := read(t, b)
	if limit := int64(maxUnpacked + unpackedRatio*len(b)); int64(len(f.blocks))*8<<20 > limit || len(f.blocks) == 0 {
		t.Errorf("%d blocks of 8 MB are read, of a file of %d bytes", len(f.blocks), len(b))
	}
	if gaps := f.Missing(); len(gaps) != 1 || gaps[0].Offset+gaps[0].Bytes != f.Size() {
		t.Errorf("the gaps are %+v", gaps)
	}
}

// counted counts the bytes that are read.
type counted struct {
	*bytes.Reader
	bytes int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.bytes += n
	return n, err
}

// TestManyGapsAreReadOnce reads a file with a byte of damage between each two blocks.
func TestManyGapsAreReadOnce(t *testing.T) {
	whole := forged(t, slices.Repeat([][]byte{{}}, 20_000)...)
	var b []byte
	for i, part := range bytes.SplitAfter(whole, []byte(magic)) { // the magic of the next block ends a part
		if i > 1 {
			part = slices.Insert(slices.Clone(part), len(part)-len(magic), 'x')
		}
		b = append(b, part...)
	}
	in := &counted{Reader: bytes.NewReader(b)}
	f, err := Read(in, int64(len(b)))
	must(t, err)
	if gaps := f.Missing(); len(gaps) != maxGaps || gaps[maxGaps-1].Offset+gaps[maxGaps-1].Bytes < f.Size()*9/10 {
		t.Errorf("%d gaps are told", len(gaps))
	}
	if in.bytes > 5*len(b) {
		t.Errorf("%d bytes of %d were read", in.bytes, len(b))
	}
}

func TestOpeningEndsWithItsContext(t *testing.T) {
	r := record(t, recordingtest.NewPage(1, 50), 100, time.Second, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range read(t, r.bytes).Marks(ctx) {
		t.Fatal("a mark was read")
	}
}
