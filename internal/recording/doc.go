// Package recording writes the states and actions of a tab to a file and reads them back. A recording contains every state of the DOM, and
// small pictures. domtap/recording/v1/file.proto describes the file.
//
// A file is a sequence of blocks, each compressed and checksummed separately. States are stored as keyframes and deltas. A keyframe
// contains the whole DOM and starts a block; a delta contains the changes from one state to the next (package tablog). To read any time,
// start at the last keyframe before it.
//
// What the package guarantees:
//
//   - A file that is truncated or damaged anywhere can be opened, and its intact parts can be read. File.Missing lists the missing parts.
//   - Reading takes bounded memory and returns states or an error, whatever the file contains.
//   - Each block is written by one call, so a killed process loses only entries that were not flushed.
//
// The package writes its input unchanged: callers must mask secrets first. Types are not safe for concurrent use unless documented
// otherwise.
package recording

import (
	"encoding/binary"
	"hash/crc32"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Version is the format version that Writer writes.
const Version = 1

// preamble starts every file.
const preamble = "DOMTAPR\x01"

// magic starts every block. It is a string, so byte order does not matter.
const magic = "dtb\x1e"

// kind is the kind of a block's contents.
type kind uint8

const (
	// headerBlock contains one Header message. It is the first block of a file.
	headerBlock kind = 1
	// entryBlock contains Entry messages, each preceded by its length as a varint.
	entryBlock kind = 2
)

// Flags of a block.
const (
	// hasKeyframe means that the first entry is a keyframe.
	hasKeyframe = 1 << iota
	// hasPictures means that at least one entry is a picture.
	hasPictures
	// hasEnd means that the last entry is the end of the recording.
	hasEnd
)

const (
	// headBytes is the size of a block's head, which precedes its contents.
	headBytes = 44
	// maxRaw limits the uncompressed contents of a block. A state that is larger ends the recording.
	maxRaw = 64 << 20
	// maxStored limits the compressed contents. Data that cannot be compressed grows slightly.
	maxStored = maxRaw + maxRaw/128 + 1024
)

// head precedes the contents of a block: magic, kind, flags, two zero bytes, the uncompressed and compressed sizes of the contents, the
// times of the first and last entries, the checksum of the compressed contents, four zero bytes, and the checksum of the preceding fields.
// Numbers are little-endian; checksums are CRC-32C.
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

// parseHead parses a head from headBytes bytes. It returns false if they are not a head.
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

// maxMicros is the latest time of an entry, about 34 years after the start.
const maxMicros = 1 << 50

// micros converts a duration to the time of an entry.
func micros(d time.Duration) uint64 { return uint64(max(0, d.Microseconds())) }

// since converts the time of an entry to a duration.
func since(at uint64) time.Duration { return time.Duration(at) * time.Microsecond }

// window is the compression window in bytes. It bounds the memory of a Writer.
const window = 512 << 10

// newEncoder returns the compressor for the blocks of one Writer. Blocks are small, and the changes of a page resemble each other.
func newEncoder() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
}

// newDecoder returns the decompressor for the blocks of one File. It is safe for concurrent use.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxRaw))
}
