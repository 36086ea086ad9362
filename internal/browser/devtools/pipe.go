package devtools

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/chromedp/cdproto"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Pipe is the connection to a browser that we started. Each message ends with a zero byte. Pipe writes as chromedp does, but reads by
// itself: the response to a read may have hundreds of kilobytes, so each pass over it is expensive. It returns responses to our commands
// undecoded.
type Pipe struct {
	*chromedp.PipeConn
	in  *bufio.Reader
	out *batchWriter
	// received counts bytes.
	received atomic.Uint64
}

// NewPipe returns a Pipe that reads the browser's messages from r and writes commands to w.
func NewPipe(r, w *os.File) *Pipe {
	out := &batchWriter{file: w}
	return &Pipe{PipeConn: chromedp.NewPipeConn(r, out), in: bufio.NewReaderSize(r, 1<<16), out: out}
}

// batch combines the commands that the function send writes into one write, together with commands that other goroutines write meanwhile.
func (p *Pipe) batch(send func() error) error {
	p.out.hold()
	err := send()
	if lost := p.out.release(); lost != nil {
		return fmt.Errorf("%w: %w", ErrLost, lost)
	}
	return err
}

// writeIf implements guarded.
func (p *Pipe) writeIf(msg *cdproto.Message, allowed func() error, refuse func(error)) error {
	b, err := jsonv2.Marshal(msg, chromedp.DefaultMarshalOptions)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", msg.Method, err)
	}
	return p.out.writeIf(append(b, 0), allowed, refuse)
}

// batchWriter is the write end of a pipe that can hold messages, so that the browser receives them in one write. A press that follows a
// mouse movement must not be delayed because the scheduler ran something else between two writes.
type batchWriter struct {
	file *os.File

	mu sync.Mutex
	// holds counts the active holders.
	holds int
	held  []byte
	// guarded lists the parts of held that need a check before they are written.
	guarded []guardedPart
}

// guardedPart is a message within held.
type guardedPart struct {
	from, to int
	allowed  func() error
	refuse   func(error)
}

func (o *batchWriter) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds++
}

// release ends a hold. The last release writes the held messages.
func (o *batchWriter) release() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holds--; o.holds > 0 || len(o.held) == 0 {
		return nil
	}
	o.leaveOut()
	_, err := o.file.Write(o.held)
	o.held = o.held[:0]
	return err
}

// leaveOut removes held messages that are no longer allowed. The caller holds the lock.
func (o *batchWriter) leaveOut() {
	if len(o.guarded) == 0 {
		return
	}
	kept, at := o.held[:0], 0
	for _, part := range o.guarded {
		kept = append(kept, o.held[at:part.from]...)
		if err := part.allowed(); err != nil {
			part.refuse(err)
		} else {
			kept = append(kept, o.held[part.from:part.to]...)
		}
		at = part.to
	}
	o.held = append(kept, o.held[at:]...)
	clear(o.guarded)
	o.guarded = o.guarded[:0]
}

// writeIf writes a message if allowed returns nil right before the write. Otherwise it passes the error to refuse.
func (o *batchWriter) writeIf(b []byte, allowed func() error, refuse func(error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holds > 0 {
		o.guarded = append(o.guarded, guardedPart{len(o.held), len(o.held) + len(b), allowed, refuse})
		o.held = append(o.held, b...)
		return nil
	}
	if err := allowed(); err != nil {
		refuse(err)
		return nil
	}
	_, err := o.file.Write(b)
	return err
}

// Write implements io.Writer.
func (o *batchWriter) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holds > 0 {
		o.held = append(o.held, b...)
		return len(b), nil
	}
	return o.file.Write(b)
}

// Close implements io.Closer. It ends a blocked write.
func (o *batchWriter) Close() error { return o.file.Close() }

// Received returns the number of bytes that the browser has sent.
func (p *Pipe) Received() uint64 { return p.received.Load() }

// reply is the response to a command, decoded or raw, or the reason why the command was not sent.
type reply struct {
	msg *cdproto.Message
	raw []byte
	err error
}

// next reads the next message. It returns a response to one of our commands raw, and any other message decoded.
func (p *Pipe) next() (id int64, r reply, err error) {
	for {
		raw, err := p.in.ReadBytes(0)
		if err != nil {
			if err == io.EOF && len(raw) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, reply{}, err
		}
		p.received.Add(uint64(len(raw)))
		raw = raw[:len(raw)-1]
		if len(bytes.TrimSpace(raw)) == 0 || ignorable(raw) {
			continue
		}
		if msg := sentFrame(raw); msg != nil {
			return 0, reply{msg: msg}, nil
		}
		if id := leadingID(raw); id >= firstID {
			return id, reply{raw: raw}, nil
		}
		if call := bindingMessage(raw); call != nil {
			return 0, reply{msg: call}, nil
		}
		msg, err := decodeMessage(raw)
		if err != nil {
			return 0, reply{}, err
		}
		return msg.ID, reply{msg: msg}, nil
	}
}

// network is the start of a Network event in Chromium's encoding. needless lists the Network events that no listener handles. With all
// their headers, they are most of the data about a request, and decoding them would be half of its cost for us.
var (
	network  = []byte(`{"method":"Network.`)
	needless = [][]byte{
		[]byte(`requestWillBeSentExtraInfo"`), []byte(`responseReceivedExtraInfo"`), []byte(`dataReceived"`),
		[]byte(`resourceChangedPriority"`), []byte(`requestServedFromCache"`), []byte(`policyUpdated"`),
		[]byte(`webSocketFrameReceived"`), []byte(`eventSourceMessageReceived"`),
	}
)

// ignorable reports whether a message can be dropped unread.
func ignorable(raw []byte) bool {
	rest, found := bytes.CutPrefix(raw, network)
	return found && slices.ContainsFunc(needless, func(name []byte) bool { return bytes.HasPrefix(rest, name) })
}

// sent is the start of the event for a WebSocket message that a page sends, in Chromium's encoding.
var sent = []byte(`{"method":"Network.webSocketFrameSent"`)

// sentFrame returns the event without its parameters, which may be long and are not needed. It returns nil for other messages.
func sentFrame(raw []byte) *cdproto.Message {
	if !bytes.HasPrefix(raw, sent) {
		return nil
	}
	msg := &cdproto.Message{Method: "Network.webSocketFrameSent"}
	// The field cannot occur in the parameters, where quotes are escaped.
	if at := bytes.LastIndex(raw, []byte(`"sessionId":"`)); at >= 0 {
		id, _, _ := bytes.Cut(raw[at+len(`"sessionId":"`):], []byte(`"`))
		msg.SessionID = target.SessionID(id)
	}
	return msg
}

func decodeMessage(raw []byte) (*cdproto.Message, error) {
	msg := new(cdproto.Message)
	if err := jsonv2.Unmarshal(raw, msg, chromedp.DefaultUnmarshalOptions); err != nil {
		return nil, fmt.Errorf("decoding a message from the browser: %w", err)
	}
	return msg, nil
}

// message returns the response, decoded if necessary.
func (r reply) message() (*cdproto.Message, error) {
	if r.msg != nil || r.err != nil {
		return r.msg, r.err
	}
	return decodeMessage(r.raw)
}

// leadingID returns the ID at the start of a message, or 0.
func leadingID(raw []byte) int64 {
	rest, found := bytes.CutPrefix(raw, []byte(`{"id":`))
	if !found {
		return 0
	}
	end := bytes.IndexAny(rest[:min(len(rest), 20)], ",}")
	if end < 0 {
		return 0
	}
	id, err := strconv.ParseInt(string(rest[:end]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// stringAnswer starts the response to an evaluation that returns a string, in Chromium's encoding.
const stringAnswer = `"result":{"result":{"type":"string","value":"`

// text returns the string that an evaluation returned. It parses a response in Chromium's usual form in one pass. For any other form, which
// must be decoded as JSON, ok is false.
func (r reply) text() (text string, ok bool) {
	_, rest, found := bytes.Cut(r.raw[:min(len(r.raw), 128)], []byte(stringAnswer))
	if !found {
		return "", false
	}
	body := r.raw[min(len(r.raw), 128)-len(rest):]
	out, rest, ok := unquote(body)
	if !ok || !bytes.HasPrefix(rest, []byte("}}")) {
		return "", false
	}
	return out, true
}

// unquote decodes a JSON string that starts after its opening quote. It returns the text and what follows the closing quote. Lone
// surrogates become U+FFFD.
func unquote(s []byte) (text string, rest []byte, ok bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"':
			return string(out), s[i+1:], true
		case c != '\\':
			out = append(out, c)
			i++
		case i+1 >= len(s):
			return "", nil, false
		case s[i+1] == 'u':
			r, n := unicodeEscape(s[i:])
			if n == 0 {
				return "", nil, false
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			e := bytes.IndexByte([]byte(`tnr"\/bf`), s[i+1])
			if e < 0 {
				return "", nil, false
			}
			out = append(out, "\t\n\r\"\\/\b\f"[e])
			i += 2
		}
	}
	return "", nil, false
}

// unicodeEscape decodes \uXXXX, or a surrogate pair, and returns the number of bytes it read.
func unicodeEscape(s []byte) (rune, int) {
	first, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if second, ok := hex4(s[6:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range s[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
