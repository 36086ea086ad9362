// Package devtoolstest provides a fake browser for the other end of a devtools.Conn, so that tests need no running browser.
package devtoolstest

import (
	"context"
	"io"
	"sync"

	"github.com/chromedp/cdproto"
)

// room is how many unread messages a browser can buffer.
const room = 128

// Browser is a fake browser whose responses a test provides. It implements chromedp.Transport.
type Browser struct {
	answer func(command *cdproto.Message) *cdproto.Message
	said   chan *cdproto.Message
	closed chan struct{}
	once   sync.Once
}

// New returns a browser. It calls answer for each command, on the goroutine that sends it. The response gets the ID and session of the
// command. If answer is nil or returns nil, there is no response.
func New(answer func(command *cdproto.Message) *cdproto.Message) *Browser {
	return &Browser{answer: answer, said: make(chan *cdproto.Message, room), closed: make(chan struct{})}
}

// Say sends a message from the browser.
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
