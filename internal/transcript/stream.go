package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxMessage limits the size of a message, in bytes.
const maxMessage = 256 << 20

// pruner copies a transcript, message by message.
type pruner struct {
	o     Options
	in    *source
	out   *sink
	know  reader
	stats Stats
	// held holds the pieces that wait for a decision on an earlier finding, oldest first. undecided holds the findings in them. snapshots
	// counts the snapshots among these findings.
	held      []*piece
	undecided []*finding
	snapshots int
}

// piece is a message, or the text between messages.
type piece struct {
	raw []byte
	// findings lists the findings in the message. open counts the undecided ones.
	findings []*finding
	open     int
}

// finding is a snapshot or a diff.
type finding struct {
	in      *piece
	result  *result
	kind    kind
	removed bool
}

func newPruner(w io.Writer, r io.Reader, o Options) *pruner {
	return &pruner{
		o: o, in: &source{r: bufio.NewReaderSize(r, 64<<10)}, out: &sink{w: bufio.NewWriterSize(w, 64<<10)},
		know: reader{placeholder: o.Placeholder, tools: map[string]string{}},
	}
}

// transcript copies the whole transcript.
func (p *pruner) transcript() error {
	c, err := p.next()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the transcript is empty: give a JSON array of messages")
	case err != nil:
		return err
	case c == '[':
		err = p.messages()
	case c == '{':
		err = p.object()
	default:
		return fmt.Errorf("byte %d: a transcript is a JSON array of messages, or an object with one under \"messages\" or \"input\"", p.in.offset)
	}
	if err != nil {
		return unexpected(err)
	}
	if _, err = p.next(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = fmt.Errorf("byte %d: unexpected data after the transcript", p.in.offset)
		}
		return err
	}
	for _, h := range p.held {
		p.write(h)
	}
	return p.out.flush()
}

// unexpected returns the error for a text that ends too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the transcript is incomplete: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// next copies white space and returns the next byte, without consuming it.
func (p *pruner) next() (byte, error) {
	space, err := p.in.space()
	p.pass(space)
	if err != nil {
		return 0, err
	}
	return p.in.peek()
}

// take copies one byte.
func (p *pruner) take() {
	p.pass([]byte{p.in.byte()})
}

// pass copies bytes that belong to no message.
func (p *pruner) pass(raw []byte) {
	if len(raw) > 0 {
		p.hold(&piece{raw: raw})
	}
}

// sequence copies a pair of brackets and the comma-separated items between them. one copies one item.
func (p *pruner) sequence(closing byte, one func() error) error {
	p.take()
	for first := true; ; first = false {
		c, err := p.next()
		if err != nil {
			return err
		}
		if c == closing && first {
			p.take()
			return nil
		}
		if err := one(); err != nil {
			return err
		}
		if c, err = p.next(); err != nil {
			return err
		}
		p.take()
		switch c {
		case closing:
			return nil
		case ',':
		default:
			return fmt.Errorf("byte %d: want a comma or %q", p.in.offset, closing)
		}
	}
}

// object copies an object that holds the messages.
func (p *pruner) object() error {
	return p.sequence('}', func() error {
		raw, err := p.in.value()
		if err != nil {
			return err
		}
		var key string
		if json.Unmarshal(raw, &key) != nil {
			return fmt.Errorf("byte %d: want the name of a field", p.in.offset)
		}
		p.pass(raw)
		if c, err := p.next(); err != nil {
			return err
		} else if c != ':' {
			return fmt.Errorf("byte %d: want a colon", p.in.offset)
		}
		p.take()
		c, err := p.next()
		if err != nil {
			return err
		}
		if c == '[' && (key == "messages" || key == "input") {
			return p.messages()
		}
		raw, err = p.in.value()
		p.pass(raw)
		return err
	})
}

func (p *pruner) messages() error {
	return p.sequence(']', func() error {
		raw, err := p.in.value()
		if err != nil {
			return err
		}
		p.message(raw)
		return nil
	})
}

// message processes a message. A snapshot stays undecided until the number of newer snapshots reaches Keep, and so do the reports that
// follow it.
func (p *pruner) message(raw []byte) {
	p.stats.Messages++
	m := &piece{raw: raw}
	for _, r := range p.know.message(parse(raw)) {
		f := &finding{in: m, result: r, kind: p.o.kindOf(r.tool, r)}
		if f.kind == other {
			continue
		}
		if f.kind == snapshot {
			p.snapshots++
		}
		p.stats.Snapshots++
		m.findings = append(m.findings, f)
		m.open++
		p.undecided = append(p.undecided, f)
	}
	p.hold(m)
	for len(p.undecided) > 0 && p.outdated(p.undecided[0]) {
		old := p.undecided[0]
		p.undecided = p.undecided[1:]
		old.removed = true
		old.in.open--
		p.stats.Removed++
	}
	for len(p.held) > 0 && p.held[0].open == 0 {
		p.write(p.held[0])
		p.held = p.held[1:]
	}
}

// outdated reports whether at least Keep newer snapshots follow the oldest finding, so that it can be replaced.
func (p *pruner) outdated(oldest *finding) bool {
	if oldest.kind == report {
		return p.snapshots >= p.o.Keep
	}
	if p.snapshots <= p.o.Keep {
		return false
	}
	p.snapshots--
	return true
}

// hold writes a piece, or queues it behind a waiting piece.
func (p *pruner) hold(h *piece) {
	if len(p.held) == 0 && h.open == 0 {
		p.write(h)
		return
	}
	p.held = append(p.held, h)
}

// write writes a piece with its placeholders.
func (p *pruner) write(h *piece) {
	var gone []payload
	for _, f := range h.findings {
		if f.removed {
			gone = append(gone, f.result.payloads...)
		}
	}
	slices.SortFunc(gone, func(a, b payload) int { return a.start - b.start })
	at := 0
	for _, part := range gone {
		p.out.write(h.raw[at:part.start])
		p.out.write(part.replacement)
		at = part.end
	}
	p.out.write(h.raw[at:])
}

// sink counts the written bytes and keeps the first error.
type sink struct {
	w *bufio.Writer
	n int64
}

func (s *sink) write(b []byte) {
	n, _ := s.w.Write(b) // Flush reports the error
	s.n += int64(n)
}

func (s *sink) flush() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	return nil
}

// source reads JSON values one by one.
type source struct {
	r      *bufio.Reader
	offset int64
}

func (s *source) peek() (byte, error) {
	b, err := s.r.Peek(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// byte consumes the byte that peek returned.
func (s *source) byte() byte {
	c, _ := s.r.ReadByte()
	s.offset++
	return c
}

// space consumes white space.
func (s *source) space() ([]byte, error) {
	var space []byte
	for {
		c, err := s.peek()
		if err != nil {
			return space, err
		}
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return space, nil
		}
		space = append(space, s.byte())
	}
}

// value consumes one value.
func (s *source) value() ([]byte, error) {
	var raw []byte
	var scan valueScan
	begin := s.offset
	for !scan.over {
		if _, err := s.peek(); err != nil {
			return nil, err
		}
		ahead, _ := s.r.Peek(s.r.Buffered())
		n := scan.feed(ahead)
		raw = append(raw, ahead[:n]...)
		_, _ = s.r.Discard(n)
		s.offset += int64(n)
		if len(raw) > maxMessage {
			return nil, fmt.Errorf("byte %d: a value is larger than %d MiB", begin, maxMessage>>20)
		}
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("byte %d: this is not JSON", begin)
	}
	return raw, nil
}

// valueScan finds the end of a value without validating it.
type valueScan struct {
	begun, quoted, escaped, over bool
	depth                        int
}

// feed scans the next bytes and returns how many of them belong to the value.
func (v *valueScan) feed(text []byte) int {
	for i, c := range text {
		switch {
		case v.escaped:
			v.escaped = false
		case v.quoted:
			v.escaped = c == '\\'
			if c == '"' {
				v.quoted = false
				if v.over = v.depth == 0; v.over {
					return i + 1
				}
			}
		case v.depth == 0 && v.begun && (delimits(c) || c == '"' || c == '{' || c == '['):
			v.over = true
			return i
		case c == '"':
			v.quoted = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']' || v.depth == 0 && delimits(c):
			if v.depth--; v.depth <= 0 {
				v.over = true
				return i + 1
			}
		}
		v.begun = true
	}
	return len(text)
}
