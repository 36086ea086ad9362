package tabview

import (
	"sync"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/tabview/wire"
)

// maxEncoded limits the messages of one view or change that are kept for sharing. Readers that keep up need one.
const maxEncoded = 4

// encodings holds encoded stream messages that readers share. The zero value is empty.
type encodings struct {
	mu   sync.Mutex
	made map[Sending]*wire.Shared
}

// Sending identifies a message about one view or change.
type Sending struct {
	// Last is the revision of the reader's last message. It is 0 where it makes no difference.
	Last uint64
	// Reason is the reason for a resync. It is empty for other messages.
	Reason string
	// Text is the format of the message's text. FORMAT_UNSPECIFIED means no text.
	Text domtapv1.Format
}

// get returns the message that was encoded for another reader, or encodes the result of make.
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

// Encoded returns the encoded message with the change. It calls make only for the first reader that needs the message.
func (c *Change) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return c.encoded.get(key, make)
}

// Encoded returns the encoded message with the whole view. It calls make only for the first reader that needs the message. The message is kept
// until there is a newer view of the same selection.
func (v *View) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return v.encoded.get(key, make)
}
