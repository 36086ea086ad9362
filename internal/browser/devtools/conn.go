// Package devtools shares one connection to a browser between chromedp and our own sessions.
//
// A response reaches only its caller. Our messages never wait behind chromedp's queues or listeners. A call ends when its context or the
// connection ends. Handlers must neither block nor make calls. Callers must call Close, which waits until all goroutines have ended.
package devtools

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// firstID is the first ID of our own commands. chromedp counts from 1 and stays below it.
const firstID = 1 << 30

// ErrLost is the error of a call in flight when the connection ends.
var ErrLost = errors.New("the connection to the browser is lost")

// Conn shares one connection to a browser between chromedp, which starts and stops the browser, and our own sessions. It routes responses
// by ID and events by session. Our messages never enter chromedp's queues and never wait behind its listeners (limits.md, section 4). One
// goroutine reads from the browser and one forwards chromedp's messages. Close ends both and waits for them.
type Conn struct {
	browser  chromedp.Transport
	chromedp chromedp.Transport

	mu       sync.Mutex
	next     int64
	sent     uint64
	pending  map[int64]chan reply
	handlers map[target.SessionID]func(*cdproto.Message)

	done chan struct{}
	wg   sync.WaitGroup
}

// New starts to route messages. root handles the events that belong to no session. Like every handler, it runs on the reading goroutine, so
// it must neither block nor make calls.
func New(ctx context.Context, browser, toChromedp chromedp.Transport, root func(*cdproto.Message)) *Conn {
	c := &Conn{
		browser:  browser,
		chromedp: toChromedp,
		pending:  map[int64]chan reply{},
		handlers: map[target.SessionID]func(*cdproto.Message){"": root},
		done:     make(chan struct{}),
	}
	c.wg.Go(func() { c.readBrowser(ctx) })
	c.wg.Go(func() { c.readChromedp(ctx) })
	return c
}

// Close ends the connection and waits until all goroutines have ended.
func (c *Conn) Close() {
	c.Cut()
	c.wg.Wait()
}

// source is a transport that returns responses to our commands undecoded; see Pipe.
type source interface {
	next() (id int64, r reply, err error)
}

// Cut ends the connection, even during a write that the browser does not read. It does not wait. Close must still be called.
func (c *Conn) Cut() {
	_ = c.browser.Close()
	_ = c.chromedp.Close()
}

func (c *Conn) readBrowser(ctx context.Context) {
	defer func() {
		c.mu.Lock() // see Go
		defer c.mu.Unlock()
		close(c.done)
	}()
	defer c.chromedp.Close()
	quick, isQuick := c.browser.(source)
	for {
		var id int64
		var r reply
		var err error
		if isQuick {
			id, r, err = quick.next()
		} else {
			r.msg = new(cdproto.Message)
			err = c.browser.Read(ctx, r.msg)
			id = r.msg.ID
		}
		if err != nil {
			return
		}
		if id >= firstID {
			c.answer(id, r)
		} else {
			c.route(ctx, r.msg)
		}
	}
}

// answer delivers a response to its caller, if the caller still waits.
func (c *Conn) answer(id int64, r reply) {
	c.mu.Lock()
	waiting := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if waiting != nil {
		waiting <- r // buffered for the single response
	}
}

// route delivers an event to its handler, or a message to chromedp.
func (c *Conn) route(ctx context.Context, msg *cdproto.Message) {
	c.mu.Lock()
	handler := c.handlers[msg.SessionID]
	c.mu.Unlock()
	if msg.ID != 0 || handler == nil {
		_ = c.chromedp.Write(ctx, msg)
		return
	}
	handler(msg)
}

func (c *Conn) readChromedp(ctx context.Context) {
	for {
		msg := new(cdproto.Message)
		if err := c.chromedp.Read(ctx, msg); err != nil {
			return
		}
		if err := c.browser.Write(ctx, msg); err != nil {
			return
		}
	}
}

// Call is a command in flight.
type Call struct {
	conn   *Conn
	id     int64
	method string
	reply  chan reply
}

// Send writes a command. The caller must call Wait or Forget.
func (s Session) Send(ctx context.Context, method string, params any) (*Call, error) {
	return s.Conn.send(ctx, s.ID, method, params, s.Guard.of(method, params))
}

// send writes a command. If allowed is not nil, send calls it right before the write and writes only if it returns nil.
func (c *Conn) send(ctx context.Context, session target.SessionID, method string, params any, allowed func() error) (*Call, error) {
	raw, err := jsonv2.Marshal(params, chromedp.DefaultMarshalOptions)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", method, err)
	}
	k := &Call{conn: c, method: method, reply: make(chan reply, 1)}
	c.mu.Lock()
	k.id = firstID + c.next
	c.next = (c.next + 1) % firstID
	c.pending[k.id] = k.reply
	c.sent++
	c.mu.Unlock()
	msg := &cdproto.Message{ID: k.id, SessionID: session, Method: cdproto.MethodType(method), Params: raw}
	if allowed == nil {
		err = c.browser.Write(ctx, msg)
	} else {
		err = c.writeIf(ctx, msg, allowed)
	}
	if err != nil {
		k.forget()
		return nil, fmt.Errorf("%s: %w: %w", method, ErrLost, err)
	}
	return k, nil
}

// batch combines the commands that the function send writes into one write, if the transport supports that.
func (c *Conn) batch(send func() error) error {
	if b, ok := c.browser.(batcher); ok {
		return b.batch(send)
	}
	return send()
}

// batcher is a transport that can combine the commands of a function into one write.
type batcher interface {
	batch(send func() error) error
}

var _ batcher = (*Pipe)(nil)

// Wait waits for the reply and decodes it into result, unless result is nil. If ctx ends first, a late reply is dropped.
func (k *Call) Wait(ctx context.Context, result any) error {
	r, err := k.receive(ctx)
	if err != nil {
		return err
	}
	return k.decode(r, result)
}

// receive waits for the reply.
func (k *Call) receive(ctx context.Context) (reply, error) {
	select {
	case r := <-k.reply:
		return r, nil
	case <-ctx.Done():
		k.forget()
		return reply{}, fmt.Errorf("%s: %w", k.method, context.Cause(ctx))
	case <-k.conn.done:
		select {
		case r := <-k.reply:
			return r, nil
		default:
		}
		k.forget()
		return reply{}, fmt.Errorf("%s: %w", k.method, ErrLost)
	}
}

// Text waits for the reply to an evaluation that returns a string.
func (k *Call) Text(ctx context.Context) (string, error) {
	r, err := k.receive(ctx)
	if err != nil {
		return "", err
	}
	if text, ok := r.text(); ok {
		return text, nil
	}
	var answer Evaluation
	if err := k.decode(r, &answer); err != nil {
		return "", err
	}
	var text string
	return text, answer.Decode(&text)
}

// Arrived reports whether the reply has arrived, so that Wait returns immediately.
func (k *Call) Arrived() bool { return len(k.reply) > 0 }

// Forget drops the reply. A caller that does not call Wait must call Forget.
func (k *Call) Forget() { k.forget() }

func (k *Call) forget() {
	k.conn.mu.Lock()
	delete(k.conn.pending, k.id)
	k.conn.mu.Unlock()
}

func (k *Call) decode(r reply, result any) error {
	msg, err := r.message()
	if err != nil {
		return err
	}
	if msg.Error != nil {
		return fmt.Errorf("%s: %w", k.method, msg.Error)
	}
	if result == nil {
		return nil
	}
	if err := jsonv2.Unmarshal(msg.Result, result, chromedp.DefaultUnmarshalOptions); err != nil {
		return fmt.Errorf("decoding the answer of %s: %w", k.method, err)
	}
	return nil
}

// Session is one of our own flat CDP sessions. It implements cdp.Session except for Subscribe, because events go to the session's handler.
type Session struct {
	Conn *Conn
	ID   target.SessionID
	// Guard decides whether the session may act on its page. If nil, it may.
	Guard *Guard
}

// Call implements cdp.Session.
func (s Session) Call(ctx context.Context, method string, params, result any) error {
	k, err := s.Send(ctx, method, params)
	if err != nil {
		return err
	}
	return k.Wait(ctx, result)
}

// Subscribe implements cdp.Session. It must not be called, because events go to the session's handler.
func (s Session) Subscribe(string) (<-chan jsonv2.Value, func()) {
	closed := make(chan jsonv2.Value)
	close(closed)
	return closed, func() {}
}

// Attach attaches to a target with a new session.
func (s Session) Attach(ctx context.Context, id target.ID) (Session, error) {
	flat := true
	res, err := cdp.Call(ctx, s, target.AttachToTarget, target.AttachToTargetParams{TargetID: id, Flatten: &flat})
	return Session{Conn: s.Conn, ID: res.SessionID}, err
}

// Step is one command of a sequence.
type Step struct {
	Method string
	Params any
	// Optional means that an error of the command is ignored, because older or smaller browsers reject it.
	Optional bool
}

// Run sends commands in order without waiting in between, then waits for all of them.
func (s Session) Run(ctx context.Context, steps ...Step) error {
	calls := make([]*Call, len(steps))
	if err := s.Conn.batch(func() (err error) {
		for i, st := range steps {
			if calls[i], err = s.Send(ctx, st.Method, st.Params); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	var first error
	for i, k := range calls {
		if err := k.Wait(ctx, nil); err != nil && first == nil && !steps[i].Optional {
			first = err
		}
	}
	return first
}

// Post sends a command and ignores its response.
func (s Session) Post(ctx context.Context, method string, params any) {
	if k, err := s.Send(ctx, method, params); err == nil {
		k.forget()
	}
}

// PostAll sends commands in order and ignores their responses.
func (s Session) PostAll(ctx context.Context, steps ...Step) {
	for _, st := range steps {
		s.Post(ctx, st.Method, st.Params)
	}
}

// Listen sets the handler of a session's events. A nil handler removes it.
func (c *Conn) Listen(id target.SessionID, handler func(*cdproto.Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if handler == nil {
		delete(c.handlers, id)
		return
	}
	c.handlers[id] = handler
}

// Done returns a channel that is closed when the browser's side of the connection is gone.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Received returns the number of bytes that the browser has sent, or 0 if the transport does not count them.
func (c *Conn) Received() uint64 {
	if counter, ok := c.browser.(interface{ Received() uint64 }); ok {
		return counter.Received()
	}
	return 0
}

// Sent returns the number of commands sent to the browser, without chromedp's own.
func (c *Conn) Sent() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}
