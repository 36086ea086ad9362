// Package recording writes what a tab showed and did to a file, and reads it back: every state of the DOM, and small
// pictures. docs/recording-format.md describes the file.
//
// A file is a sequence of blocks, each compressed and checksummed on its own. The states in it are keyframes, which have
// the whole DOM and begin a block, and deltas, which lead from one state to the next (package tablog). Therefore any time
// is read from the last keyframe before it.
//
// What the package guarantees:
//
//   - A file that is cut off anywhere, or damaged, opens, and is read as far as it goes. File.Missing says what is not there.
//   - Whatever the bytes of a file are, reading them takes bounded memory and returns states or an error.
//   - A block is written by one call, so that a process that is killed loses at most what was not flushed.
//
// The package writes what it is given: secrets are to be masked before. No type may be used from several goroutines at
// once, unless it says so.
package recording

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Version is that of the format that Writer writes.
const Version = 1

// preamble is how every file begins.
const preamble = "DOMTAPR\x01"

// magic is how every block begins, in a byte order that does not matter.
const magic = "dtb\x1e"

// kind is what a block has.
type kind uint8

const (
	// headerBlock has one message Header, and is the first block of a file.
	headerBlock kind = 1
	// entryBlock has messages Entry, each after its length as a varint.
	entryBlock kind = 2
)

// Flags of a block.
const (
	// hasKeyframe: the first entry is a keyframe.
	hasKeyframe = 1 << iota
	// hasPictures: an entry is a picture.
	hasPictures
	// hasEnd: the last entry is the end of the recording.
	hasEnd
)

const (
	// headBytes is the size of what stands before the contents of a block.
	headBytes = 44
	// maxRaw is how large the contents of a block may be, uncompressed. A state that is larger ends a recording.
	maxRaw = 64 << 20
	// maxStored bounds it compressed: what cannot be compressed grows a little.
	maxStored = maxRaw + maxRaw/128 + 1024
)

// head is what stands before the contents of a block: magic, kind, flags, two zero bytes, the sizes of the contents
// uncompressed and compressed, the times of the first and the last entry, the checksum of the compressed contents, four zero bytes
// and the checksum of all of that. Numbers are little-endian; checksums are CRC-32C.
type head struct {
	kind        kind
	flags       uint8
	raw, stored uint32
	first, last uint64
	sum         uint32
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// append appends the bytes of the head.
func (h head) append(b []byte) []byte {
	start := len(b)
	b = append(b, magic...)
	b = append(b, byte(h.kind), h.flags, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, h.raw)
	b = binary.LittleEndian.AppendUint32(b, h.stored)
	b = binary.LittleEndian.AppendUint64(b, h.first)
	b = binary.LittleEndian.AppendUint64(b, h.last)
	b = binary.LittleEndian.AppendUint32(b, h.sum)
	b = append(b, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// parseHead reads a head from headBytes bytes; false: they are none.
func parseHead(b []byte) (h head, ok bool) {
	if len(b) < headBytes || string(b[:len(magic)]) != magic {
		return h, false
	}
	n := binary.LittleEndian
	if crc32.Checksum(b[:headBytes-4], castagnoli) != n.Uint32(b[headBytes-4:]) {
		return h, false
	}
	h = head{
		kind: kind(b[4]), flags: b[5], raw: n.Uint32(b[8:]), stored: n.Uint32(b[12:]),
		first: n.Uint64(b[16:]), last: n.Uint64(b[24:]), sum: n.Uint32(b[32:]),
	}
	return h, h.raw <= maxRaw && h.stored <= maxStored && h.first <= h.last && h.last <= maxMicros
}

// maxMicros is the latest time of an entry: some 34 years after the start.
const maxMicros = 1 << 50

// micros is a time as entries have it.
func micros(d time.Duration) uint64 { return uint64(max(0, d.Microseconds())) }

// since is the duration of a time of an entry.
func since(at uint64) time.Duration { return time.Duration(at) * time.Microsecond }

// window is how far back a block refers to itself, in bytes. It bounds the memory of a Writer.
const window = 512 << 10

// newEncoder makes what compresses the blocks of one Writer. Blocks are small, and the changes of a page resemble each other.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
}

// newDecoder makes what decompresses the blocks of one File. It may be used from several goroutines.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxRaw))
}
