package views

import (
	"sync"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/wire"
)

// maxEncoded is how many messages of one view, or of one way to it, are kept for sharing. Readers that keep up
// need one.
const maxEncoded = 4

// encodings keeps messages of streams in the form that all readers share. The zero value is empty.
type encodings struct {
	mu   sync.Mutex
	made map[Sending]*wire.Shared
}

// Sending tells the messages about one view, or one way to it, apart.
type Sending struct {
	// Told is the revision that the reader was told of before; 0 where that makes no difference.
	Told uint64
	// Reason is that of a resync; empty for others.
	Reason string
	// Text says that the message has the text form, too.
	Text bool
}

// get returns a message that was made for another reader, or makes it.
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

// forget lets go of all.
func (e *encodings) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made = nil
}

// Encoded returns a message that tells of the change, which make makes when no reader needed it before.
func (c *Change) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return c.encoded.get(key, make)
}

// Encoded returns a message with the whole view, which make makes when no reader needed it before. It is kept
// until a newer view of the same selection is there.
func (v *View) Encoded(key Sending, make func() *domtapv1.WatchDomResponse) (*wire.Shared, error) {
	return v.encoded.get(key, make)
}
