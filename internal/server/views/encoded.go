package views

import (
	"sync"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/wire"
)

// maxEncoded is how many messages of one view, or of one change, are kept for sharing. Readers that
// keep up need one.
const maxEncoded = 4

// encodings has encoded messages of streams that readers share. The zero value is empty.
type encodings struct {
	mu   sync.Mutex
	made map[Sending]*wire.Shared
}

// Sending distinguishes the messages about one view, or one change.
type Sending struct {
	// Last is the revision of the reader's last message; 0 where it makes no difference.
	Last uint64
	// Reason is the reason of a resync; empty for other messages.
	Reason string
	// Text is the format of the text that the message has, too; unspecified: none.
	Text domtapv1.Format
}

// get returns the message that was made for another reader, or makes it.
func (e *encodings) get(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m := e.made[key]; m != nil {
		return m, nil
	}
	m, err := wire.Encode(make())
	if err != nil {
		return nil, err
	}
	if e.made == nil || len(e.made) >= maxEncoded {
		e.made = map[Sending]*wire.Shared{}
	}
	e.made[key] = m
	return m, nil
}

// forget drops all messages.
func (e *encodings) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made = nil
}

// Encoded returns the message with the change; make makes it if no reader needed it before.
func (c *Change) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return c.encoded.get(key, make)
}

// Encoded returns the message with the whole view; make makes it if no reader needed it before. It is
// kept until there is a newer view of the same selection.
func (v *View) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return v.encoded.get(key, make)
}
