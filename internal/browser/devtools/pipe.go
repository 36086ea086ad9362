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

// Pipe is the connection to a browser that we started: messages end with a zero byte. It writes as
// chromedp does, but reads by itself, because the answer of a read can have hundreds of kilobytes, and
// every pass over it counts: an answer to one of our commands is handed on as it came.
type Pipe struct {
	*chromedp.PipeConn
	in  *bufio.Reader
	out *outlet
	// received counts bytes.
	received atomic.Uint64
}

// NewPipe reads what the browser writes from r, and writes commands for it to w.
func NewPipe(r, w *os.File) *Pipe {
	out := &outlet{file: w}
	return &Pipe{PipeConn: chromedp.NewPipeConn(r, out), in: bufio.NewReaderSize(r, 1<<16), out: out}
}

// together writes the commands that send writes, and those of others meanwhile, at once.
func (p *Pipe) together(send func() error) error {
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

// outlet is the end of a pipe that can hold what is written for a moment, so that the browser receives it at once: a press that
// follows a movement must not come later because something else runs between two writes.
type outlet struct {
	file *os.File

	mu sync.Mutex
	// holds counts who holds what is written.
	holds int
	held  []byte
	// guarded are the parts of held that may have to be left out.
	guarded []guardedPart
}

// guardedPart is a message within what is held.
type guardedPart struct {
	from, to int
	allowed  func() error
	refuse   func(error)
}

func (o *outlet) hold() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.holds++
}

// release writes what was held, unless others still hold it.
func (o *outlet) release() error {
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

// leaveOut takes from what is held what is not allowed any more; the caller holds the lock.
func (o *outlet) leaveOut() {
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

// writeIf writes a message if that is allowed when it is written, and says else why not.
func (o *outlet) writeIf(b []byte, allowed func() error, refuse func(error)) error {
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
func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.holds > 0 {
		o.held = append(o.held, b...)
		return len(b), nil
	}
	return o.file.Write(b)
}

// Close implements io.Closer. A write that the browser does not take ends.
func (o *outlet) Close() error { return o.file.Close() }

// Received counts the bytes that the browser has sent.
func (p *Pipe) Received() uint64 { return p.received.Load() }

// reply is the answer to a command, decoded or as it came, or why it was not sent.
type reply struct {
	msg *cdproto.Message
	raw []byte
	err error
}

// next reads the next message: either the answer to one of our commands, as it came, or any other
// message, decoded.
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
		if len(bytes.TrimSpace(raw)) == 0 || unheard(raw) {
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

// network is how Chromium begins an event of the network, and needless are those that nobody listens to: with all
// their headers they are most of what the browser says of a request, and decoding them half of what a request costs
// us.
var (
	network  = []byte(`{"method":"Network.`)
	needless = [][]byte{
		[]byte(`requestWillBeSentExtraInfo"`), []byte(`responseReceivedExtraInfo"`), []byte(`dataReceived"`),
		[]byte(`resourceChangedPriority"`), []byte(`requestServedFromCache"`), []byte(`policyUpdated"`),
		[]byte(`webSocketFrameReceived"`), []byte(`eventSourceMessageReceived"`),
	}
)

// unheard tells the messages that are dropped unread.
func unheard(raw []byte) bool {
	rest, found := bytes.CutPrefix(raw, network)
	return found && slices.ContainsFunc(needless, func(name []byte) bool { return bytes.HasPrefix(rest, name) })
}

// sent is how Chromium begins the event of a message that a page sends over a web socket.
var sent = []byte(`{"method":"Network.webSocketFrameSent"`)

// sentFrame returns the event without its parameters, which may be long: that there is one is all that counts; or nil.
func sentFrame(raw []byte) *cdproto.Message {
	if !bytes.HasPrefix(raw, sent) {
		return nil
	}
	msg := &cdproto.Message{Method: "Network.webSocketFrameSent"}
	// Quotes in the parameters are escaped.
	if at := bytes.LastIndex(raw, []byte(`"sessionId":"`)); at >= 0 {
		id, _, _ := bytes.Cut(raw[at+len(`"sessionId":"`):], []byte(`"`))
		msg.SessionID = target.SessionID(id)
	}
	return msg
}

func decodeMessage(raw []byte) (*cdproto.Message, error) {
	msg := new(cdproto.Message)
	if err := jsonv2.Unmarshal(raw, msg, chromedp.DefaultUnmarshalOptions); err != nil {
		return nil, fmt.Errorf("a message of the browser is not understood: %w", err)
	}
	return msg, nil
}

// message decodes the answer, if it was not.
func (r reply) message() (*cdproto.Message, error) {
	if r.msg != nil || r.err != nil {
		return r.msg, r.err
	}
	return decodeMessage(r.raw)
}

// leadingID is the id that a message begins with, or 0.
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

// stringAnswer is how Chromium writes the answer of an evaluation whose result is a string.
const stringAnswer = `"result":{"result":{"type":"string","value":"`

// text returns the string that an evaluation answered, in one pass, when the answer has the form that
// Chromium gives it; ok is false for any other form, which is then to be decoded as JSON.
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

// unquote decodes a JSON string from behind its opening quote and returns what follows its closing one.
// Lone surrogates become U+FFFD.
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

// unicodeEscape reads \uXXXX, or a pair of them, and says how many bytes it took.
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
