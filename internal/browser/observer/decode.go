package observer

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
)

// Limits of a patch. The agent keeps within them. A patch that exceeds one is rejected.
const (
	MaxOps    = 400_000
	maxField  = 8 << 10
	maxWhole  = 4*10_000 + len("…")
	maxHeader = 16 << 10
	maxJoin   = 4095
)

// ErrMalformed is the error that every error of Decode wraps.
var ErrMalformed = errors.New("malformed patch")

// Message is a decoded message of an agent.
type Message struct {
	Patch dom.Patch
	// Unacknowledged reports that the agent waits for the refs of an earlier patch. All other fields are empty.
	Unacknowledged bool
	// Unprobed reports that the document has grown and must be probed before it is read. All other fields are empty.
	Unprobed bool
	// Brief reports that the patch omits the URL, the title and the scroll position. They have not changed since the document's last patch
	// that was not brief.
	Brief bool
	// Empty reports that nothing changed since the last patch. There are neither operations nor boxes.
	Empty bool
	// Selected contains the matches of selectors. If it is set, the patch is empty. It is nil in all other messages.
	Selected map[dom.Selector]dom.Selection
	// Notices is set if HasNotices is, and the patch is empty.
	Notices    []dom.Notice
	HasNotices bool
}

// Decode decodes one message of an agent. The result shares no memory with s. Otherwise each element would keep its whole message in memory
// for the life of its document.
func Decode(s string) (Message, error) {
	header, rest, more := strings.Cut(s, "\n")
	m, err := decodeHeader(header)
	if err != nil || !more {
		m.Empty = true
		return m, err
	}
	if m.Selected != nil {
		m.Empty = true
		return m, decodeSelected(m.Selected, rest)
	}
	if m.HasNotices {
		m.Empty = true
		m.Notices, err = decodeNotices(rest)
		return m, err
	}
	d := decoder{lines: rest}
	d.ops(&m.Patch)
	d.boxes(&m.Patch)
	if d.err != nil {
		return Message{}, d.err
	}
	return m, nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func decodeHeader(line string) (Message, error) {
	if len(line) > maxHeader {
		return Message{}, malformed("header of %d bytes, limit %d", len(line), maxHeader)
	}
	f := strings.Split(line, "\t")
	switch len(f) {
	case 4:
		return decodeBriefHeader(f)
	case 10, 11:
		return decodeFullHeader(f)
	}
	return Message{}, malformed("header with %d fields, want 4, 10 or 11", len(f))
}

// decodeBriefHeader decodes a header without the fields that have not changed since the previous patch.
func decodeBriefHeader(f []string) (Message, error) {
	m, err := decodeFullHeader([]string{"", f[0], f[1], f[2], "0", "0", "0", "0", "", "", f[3]})
	m.Brief = true
	if err == nil && f[1] != "" {
		return Message{}, malformed("flags %.20q in a brief header", f[1])
	}
	return m, err
}

func decodeFullHeader(f []string) (Message, error) {
	var m Message
	p := &m.Patch
	p.Document = strings.Clone(clean(f[0]))
	sequence, err := strconv.ParseUint(f[1], 10, 53)
	if err != nil {
		return Message{}, malformed("sequence number %q", f[1])
	}
	p.Sequence = sequence
	m.setFlags(f[2])
	ms, err := strconv.ParseFloat(f[3], 64)
	if err != nil || !(ms >= 0 && ms < 1e15) {
		return Message{}, malformed("time %q", f[3])
	}
	p.PageTime = time.UnixMicro(int64(ms * 1000))
	sides := [4]*float64{&p.Scroll.X, &p.Scroll.Y, &p.Scroll.Width, &p.Scroll.Height}
	for i, side := range sides {
		if *side, err = number(f[4+i]); err != nil {
			return Message{}, err
		}
	}
	p.URL, p.Title = strings.Clone(clean(f[8])), strings.Clone(clean(f[9]))
	if len(f) == 11 {
		took, err := strconv.ParseFloat(f[10], 64)
		if err != nil || !(took >= 0 && took < 1e9) {
			return Message{}, malformed("duration %.20q", f[10])
		}
		p.Took = time.Duration(took * float64(time.Millisecond))
	}
	return m, nil
}

// setFlags sets the fields that correspond to the flags of a header.
func (m *Message) setFlags(flags string) {
	m.Patch.Full = strings.Contains(flags, "f")
	m.Patch.Contexts = m.Patch.Full && strings.Contains(flags, "c")
	m.Patch.Measured = strings.Contains(flags, "m")
	m.Patch.Limited = strings.Contains(flags, "l")
	m.Unacknowledged = strings.Contains(flags, "u")
	m.Unprobed = strings.Contains(flags, "p")
	m.HasNotices = strings.Contains(flags, "o")
	if strings.Contains(flags, "s") {
		m.Selected = map[dom.Selector]dom.Selection{}
	}
}

// number parses a coordinate.
func number(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1e9 {
		return 0, malformed("number %.20q", s)
	}
	return v, nil
}

// decoder reads the lines of a message in order. It keeps the first error.
type decoder struct {
	lines string
	err   error
	adds  int
	// names holds the names of attributes, to share their strings.
	names map[string]string
}

// line returns the next line. Missing lines are empty.
func (d *decoder) line() string {
	line, rest, _ := strings.Cut(d.lines, "\n")
	d.lines = rest
	return line
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = malformed(format, args...)
	}
}

// column is a line of tab-separated values that are read in order.
type column struct {
	d     *decoder
	rest  string
	empty bool
}

func (d *decoder) column() column {
	line := d.line()
	return column{d: d, rest: line}
}

// next returns the next value. A missing value is an error.
func (c *column) next() string {
	if c.empty {
		c.d.fail("missing value in a column")
		return ""
	}
	value, rest, found := strings.Cut(c.rest, "\t")
	c.rest, c.empty = rest, !found
	return value
}

func (d *decoder) ref(s string) dom.Ref {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == uint64(dom.NoRef) {
		d.fail("invalid ref %.20q", s)
	}
	return dom.Ref(n)
}

// place parses a token of the form "^", "n5" or a ref. It returns empty for an empty token.
func (d *decoder) place(s string, empty dom.Place) dom.Place {
	switch {
	case s == "":
		return empty
	case s == "^":
		return dom.Place{Ref: dom.NoRef, New: -1}
	case s[0] == 'n':
		n, err := strconv.ParseUint(s[1:], 10, 31)
		if err != nil || int(n) >= d.adds {
			d.fail("place %.20q in a patch with %d additions", s, d.adds)
		}
		return dom.Place{Ref: dom.NoRef, New: int(n)}
	}
	return dom.Place{Ref: d.ref(s), New: -1}
}

var opKinds = map[byte]dom.OpKind{'+': dom.OpAdd, '*': dom.OpRestore, '>': dom.OpMove, '~': dom.OpChange, '-': dom.OpRemove}

func (d *decoder) ops(p *dom.Patch) {
	kinds := d.line()
	if len(kinds) > MaxOps {
		d.fail("%d operations, limit %d", len(kinds), MaxOps)
		return
	}
	refs, afters, masks := d.column(), d.column(), d.column()
	var fields [fieldCount]column
	for i := range fields {
		fields[i] = d.column()
	}
	if d.err != nil || kinds == "" {
		return
	}
	p.Ops = make([]dom.Op, len(kinds))
	last := dom.Place{Ref: dom.NoRef, New: -1}
	for i := range p.Ops {
		kind, known := opKinds[kinds[i]]
		if !known {
			d.fail("unknown operation %q", kinds[i])
		}
		op := &p.Ops[i]
		op.Kind = kind
		op.After, op.Parent = dom.Place{Ref: dom.NoRef, New: -1}, dom.Place{Ref: dom.NoRef, New: -1}
		self := dom.Place{Ref: dom.NoRef, New: d.adds}
		if kind != dom.OpAdd {
			op.Ref = d.ref(refs.next())
			self = dom.Place{Ref: op.Ref, New: -1}
		}
		switch kind {
		case dom.OpAdd, dom.OpRestore, dom.OpMove:
			op.After = d.place(afters.next(), last)
			last = self
		}
		if kind == dom.OpAdd {
			d.adds++
		}
		if kind == dom.OpAdd || kind == dom.OpRestore || kind == dom.OpChange {
			op.Mask = d.mask(masks.next())
			d.fields(op, &fields)
		}
		if kind != dom.OpChange && op.Mask != 0 {
			op.Mask = dom.AllFields // omitted fields are empty
		}
		if d.err != nil {
			return
		}
	}
}

func (d *decoder) mask(s string) dom.Field {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 || n > uint64(dom.AllFields) {
		d.fail("invalid mask %.20q", s)
	}
	return dom.Field(n)
}

// fieldCount is the number of columns of fields. Their order is the order of the dom.Field bits.
const fieldCount = 17

func (d *decoder) fields(op *dom.Op, fields *[fieldCount]column) {
	e := &op.Element
	for i := range fields {
		bit := dom.Field(1) << i
		if op.Mask&bit == 0 {
			continue
		}
		value := fields[i].next()
		if most := longest(bit); len(value) > most {
			value = value[:most]
		}
		switch bit {
		case dom.FieldKind:
			e.Kind = dom.Kind(d.small(value, uint64(dom.FrameHost)))
		case dom.FieldParent:
			op.Parent = d.place(value, dom.Place{Ref: dom.NoRef, New: -1})
		case dom.FieldLevel:
			e.Level = int(d.small(value, 999))
		case dom.FieldJoin:
			e.Join = int(d.small(value, maxJoin))
		case dom.FieldStates:
			e.States = states(d.small(value, 1<<18-1))
		case dom.FieldAttributes:
			e.Attributes = d.attributes(value)
		case dom.FieldChild:
			e.Child = dom.FrameID(clean(value))
		case dom.FieldWhole:
			e.Whole = clean(value)
			e.Left = max(0, utf8.RuneCountInString(e.Whole)-dom.MaxText)
		case dom.FieldValue:
			beginning, left, cut := strings.Cut(value, "\x1f")
			if e.Value = clean(beginning); cut {
				e.ValueLeft = int(d.small(left, uint64(maxWhole)))
			}
		case dom.FieldHints:
			e.Hints = hints(value)
		default:
			*text(e, bit) = clean(value)
		}
	}
	own(e)
}

// own copies the strings of an element into one allocation, so that the message can be freed.
func own(e *dom.Element) {
	texts := [...]*string{
		&e.Tag, &e.Role, &e.Text, &e.Href, &e.Name, &e.Type, &e.Value, &e.Placeholder, &e.Whole, &e.Hints, (*string)(&e.Child),
	}
	size := 0
	for _, t := range texts {
		size += len(*t)
	}
	var all strings.Builder
	all.Grow(size)
	for _, t := range texts {
		all.WriteString(*t)
	}
	rest := all.String()
	for _, t := range texts {
		n := len(*t)
		*t, rest = rest[:n], rest[n:]
	}
}

// The limits of hints.
const (
	maxHints = 4
	maxHint  = 48
)

// hints returns the valid words of a list of hints.
func hints(s string) string {
	if s == "" {
		return ""
	}
	var words []string
	for word := range strings.FieldsSeq(s) {
		if len(words) < maxHints && len(word) <= maxHint && 'a' <= word[0] && word[0] <= 'z' && !strings.ContainsFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
		}) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// longest returns the maximum number of bytes of a field.
func longest(bit dom.Field) int {
	if bit == dom.FieldWhole {
		return maxWhole
	}
	return maxField
}

// text returns a pointer to a text field of an element.
func text(e *dom.Element, bit dom.Field) *string {
	switch bit {
	case dom.FieldTag:
		return &e.Tag
	case dom.FieldRole:
		return &e.Role
	case dom.FieldText:
		return &e.Text
	case dom.FieldHref:
		return &e.Href
	case dom.FieldName:
		return &e.Name
	case dom.FieldType:
		return &e.Type
	case dom.FieldValue:
		return &e.Value
	}
	return &e.Placeholder
}

// small parses a number of at most limit. An empty string is 0.
func (d *decoder) small(s string, limit uint64) uint64 {
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > limit {
		d.fail("number %.20q, limit %d", s, limit)
	}
	return n
}

// states unpacks two bits for each state, in the order of dom.States.
func states(bits uint64) dom.States {
	at := func(i uint) dom.Tri { return dom.Tri(bits >> (2 * i) & 3) }
	return dom.States{
		Checked: at(0), Disabled: at(1), Expanded: at(2), Selected: at(3), Pressed: at(4),
		Required: at(5), Readonly: at(6), Focused: at(7), Invalid: at(8),
	}
}

// attributes parses name=value pairs that are separated by U+001F.
func (d *decoder) attributes(s string) map[string]string {
	if s == "" {
		return nil
	}
	m := map[string]string{}
	for pair := range strings.SplitSeq(s, "\x1f") {
		name, value, _ := strings.Cut(pair, "=")
		m[d.name(clean(name))] = strings.Clone(clean(value))
	}
	return m
}

// name returns the name of an attribute. All elements of a message share one string for it.
func (d *decoder) name(s string) string {
	if known, ok := d.names[s]; ok {
		return known
	}
	if d.names == nil {
		d.names = map[string]string{}
	}
	own := strings.Clone(s)
	d.names[own] = own
	return own
}

func (d *decoder) boxes(p *dom.Patch) {
	if !p.Measured || d.err != nil {
		return
	}
	places := d.column()
	var sides [4]column
	for i := range sides {
		sides[i] = d.column()
	}
	covered := column{d: d, rest: d.lastLine()}
	if places.rest == "" && sides[0].rest == "" {
		return
	}
	next := 0
	for !sides[0].empty && d.err == nil {
		if len(p.Boxes) >= MaxOps {
			d.fail("more than %d boxes", MaxOps)
			return
		}
		token := places.next()
		b := dom.PlacedBox{Place: d.place(token, dom.Place{Ref: dom.NoRef, New: next})}
		if token == "" {
			if next >= d.adds {
				d.fail("box for addition %d of %d", next, d.adds)
			}
			next++
		}
		for i, side := range [4]*float64{&b.Box.X, &b.Box.Y, &b.Box.Width, &b.Box.Height} {
			v, err := number(sides[i].next())
			if err != nil && d.err == nil {
				d.err = err
			}
			*side = v
		}
		b.Covered = d.small(covered.next(), 1) == 1
		p.Boxes = append(p.Boxes, b)
	}
}

// lastLine returns the last line of a message, or "" if it is missing.
func (d *decoder) lastLine() string {
	line := d.lines
	d.lines = ""
	return strings.TrimSuffix(line, "\n")
}

// clean returns a string as valid UTF-8 without control characters. An intact agent sends only such strings.
func clean(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == 0x7f || c >= utf8.RuneSelf {
			return cleanSlow(s)
		}
	}
	return s
}

func cleanSlow(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, isControl) {
		return s
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s), "\uFFFD")
}

func isControl(r rune) bool {
	return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x2028 || r == 0x2029
}
