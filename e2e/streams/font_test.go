package streams

import (
	"bytes"
	"encoding/binary"
)

// tinyFont returns a minimal TrueType font that a browser accepts, with one empty glyph.
func tinyFont() []byte {
	tables := []struct {
		tag  string
		data []byte
	}{
		{"OS/2", words(4, 500, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 250, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2020, 0x2020,
			0x40, 65, 90, 800, -200, 0, 800, 200, 0, 0, 0, 0, 500, 700, 0, 32, 0)},
		{"cmap", words(0, 1, 3, 1, 0, 12, 4, 24, 0, 2, 2, 0, 0, -1, 0, -1, 1, 0)},
		{"glyf", words(0)},
		{"head", words(1, 0, 1, 0, 0, 0, 0x5f0f, 0x3cf5, 11, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0)},
		{"hhea", words(1, 0, 800, -200, 0, 500, 0, 0, 500, 1, 0, 0, 0, 0, 0, 0, 0, 1)},
		{"hmtx", words(500, 0)},
		{"loca", words(0, 0)},
		{"maxp", words(1, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)},
		{"name", words(0, 0, 6)},
		{"post", words(3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
	}
	var head, body bytes.Buffer
	head.Write([]byte{0, 1, 0, 0})
	head.Write(words(len(tables), 128, 3, 32))
	for _, t := range tables {
		padded := append(bytes.Clone(t.data), make([]byte, (4-len(t.data)%4)%4)...)
		head.WriteString(t.tag)
		var sum uint32
		for i := 0; i < len(padded); i += 4 {
			sum += binary.BigEndian.Uint32(padded[i:])
		}
		for _, n := range []int{int(sum), 12 + 16*len(tables) + body.Len(), len(t.data)} {
			head.Write(binary.BigEndian.AppendUint32(nil, uint32(n)))
		}
		body.Write(padded)
	}
	return append(head.Bytes(), body.Bytes()...)
}

// words encodes 16-bit numbers.
func words(numbers ...int) []byte {
	var out []byte
	for _, n := range numbers {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	return out
}
