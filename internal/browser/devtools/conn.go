// Package devtools is one connection to a browser, shared by chromedp and our own sessions.
//
// It guarantees that an answer reaches who asked and nobody else, that what is ours never waits behind
// chromedp's queues or listeners, and that a call ends when its context or the connection does. Callers
// owe handlers that neither block nor call, and Close, which waits until nothing runs any more.
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

// firstID is where the ids of our own commands begin; chromedp counts from 1 and stays below.
const firstID = 1 << 30

// ErrLost is the cause of every call that the end of the connection cuts short.
var ErrLost = errors.New("the connection to the browser is lost")

// Conn shares one connection to a browser between chromedp, which starts and stops the browser, and
// our own sessions. Replies go by id, events by session: what is ours never enters chromedp's queues
// and never waits behind its listeners (limits.md, section 4). One goroutine reads from the browser,
// one forwards what chromedp writes; close ends and waits for both.
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

// New starts to route. root handles the events that belong to no session; like every handler
// it runs on the reading goroutine: it must not block, and must not call.
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

// Close ends the connection and waits until nothing runs any more.
func (c *Conn) Close() {
	c.Cut()
	c.wg.Wait()
}

// source is a transport that hands answers to our commands on as they came; see Pipe.
type source interface {
	next() (id int64, r reply, err error)
}

// Cut ends the connection, also under a write that the browser does not take. It does not wait as Close does, which is
// still owed.
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

// answer hands an answer to who waits for it, if anybody still does.
func (c *Conn) answer(id int64, r reply) {
	c.mu.Lock()
	waiting := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	if waiting != nil {
		waiting <- r // has room for the one answer it gets
	}
}

// route hands on an event, or an answer to chromedp.
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

// Call is a command under way.
type Call struct {
	conn   *Conn
	id     int64
	method string
	reply  chan reply
}

// Send writes a command. The caller waits for the call, or forgets it.
func (s Session) Send(ctx context.Context, method string, params any) (*Call, error) {
	return s.Conn.send(ctx, s.ID, method, params, s.Guard.of(method, params))
}

// send writes a command if that is allowed; nil: it is.
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

// together has the browser receive the commands that send sends at once, where the transport can do that.
func (c *Conn) together(send func() error) error {
	if batch, ok := c.browser.(interface{ together(func() error) error }); ok {
		return batch.together(send)
	}
	return send()
}

// Wait waits for the reply and decodes it into result, unless that is nil. When ctx ends first the
// reply is dropped when it comes.
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

// Text waits for the reply of an evaluation that answers a string.
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

// Arrived reports whether the reply has come, so that Wait returns at once.
func (k *Call) Arrived() bool { return len(k.reply) > 0 }

// Forget lets the reply be dropped when it comes. Whoever does not wait for a call owes it.
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

// Session is one flat CDP session of our own. It satisfies cdp.Session but for Subscribe: events
// go to the session's handler.
type Session struct {
	Conn *Conn
	ID   target.SessionID
	// Guard says whether the session may act on its page; nil: it may.
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

// Subscribe implements cdp.Session. Nobody may call it: events go to the session's handler.
func (s Session) Subscribe(string) (<-chan jsonv2.Value, func()) {
	closed := make(chan jsonv2.Value)
	close(closed)
	return closed, func() {}
}

// Attach attaches to a target, by a session of its own.
func (s Session) Attach(ctx context.Context, id target.ID) (Session, error) {
	flat := true
	res, err := cdp.Call(ctx, s, target.AttachToTarget, target.AttachToTargetParams{TargetID: id, Flatten: &flat})
	return Session{Conn: s.Conn, ID: res.SessionID}, err
}

// Step is one command of a sequence.
type Step struct {
	Method string
	Params any
	// Optional commands may be refused by older or smaller browsers.
	Optional bool
}

// Run sends commands in order without waiting in between, then waits for all of them.
func (s Session) Run(ctx context.Context, steps ...Step) error {
	calls := make([]*Call, len(steps))
	if err := s.Conn.together(func() (err error) {
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

// Post sends a command and does not care for its answer.
func (s Session) Post(ctx context.Context, method string, params any) {
	if k, err := s.Send(ctx, method, params); err == nil {
		k.forget()
	}
}

// PostAll sends commands in order and does not care for their answers.
func (s Session) PostAll(ctx context.Context, steps ...Step) {
	for _, st := range steps {
		s.Post(ctx, st.Method, st.Params)
	}
}

// Listen sets the handler of a session's events; nil removes it.
func (c *Conn) Listen(id target.SessionID, handler func(*cdproto.Message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if handler == nil {
		delete(c.handlers, id)
		return
	}
	c.handlers[id] = handler
}

// Done is closed when the browser's end of the connection is gone.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Received counts the bytes that the browser has sent; 0 when its transport does not count them.
func (c *Conn) Received() uint64 {
	if counter, ok := c.browser.(interface{ Received() uint64 }); ok {
		return counter.Received()
	}
	return 0
}

// Sent counts the commands that the browser was sent, chromedp's own aside.
func (c *Conn) Sent() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}
