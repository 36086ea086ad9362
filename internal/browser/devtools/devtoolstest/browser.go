// Package devtoolstest plays the browser at the other end of a devtools.Conn, for tests that need none to run.
package devtoolstest

import (
	"context"
	"io"
	"sync"

	"github.com/chromedp/cdproto"
)

// room is how many messages a browser says before anybody reads them.
const room = 128

// Browser is a browser whose answers a test gives. It implements chromedp.Transport.
type Browser struct {
	answer func(command *cdproto.Message) *cdproto.Message
	said   chan *cdproto.Message
	closed chan struct{}
	once   sync.Once
}

// New makes a browser. Each command is given to answer, on the goroutine that sends it; the answer gets the id and the session
// of the command. A command has no answer where answer, or what it returns, is nil.
func New(answer func(command *cdproto.Message) *cdproto.Message) *Browser {
	return &Browser{answer: answer, said: make(chan *cdproto.Message, room), closed: make(chan struct{})}
}

// Say sends a message of the browser.
func (b *Browser) Say(m *cdproto.Message) { b.said <- m }

// Write implements chromedp.Transport.
func (b *Browser) Write(_ context.Context, command *cdproto.Message) error {
	if b.answer == nil {
		return nil
	}
	if m := b.answer(command); m != nil {
		m.ID, m.SessionID = command.ID, command.SessionID
		b.Say(m)
	}
	return nil
}

// Read implements chromedp.Transport.
func (b *Browser) Read(_ context.Context, m *cdproto.Message) error {
	select {
	case next := <-b.said:
		*m = *next
		return nil
	case <-b.closed:
		return io.EOF
	}
}

// Close implements chromedp.Transport.
func (b *Browser) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}
