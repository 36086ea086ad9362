package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/domtap/domtap/internal/browser/discovery"
)

// autoRemote is the value of Config.Remote that finds a running browser of this machine. After a colon, it names which one; see
// discovery.Finder.Choose.
const autoRemote = "auto"

// SearchedRemote reports whether an address asks to find a running browser, and returns which one.
func SearchedRemote(address string) (choice string, ok bool) {
	scheme, choice, _ := strings.Cut(address, ":")
	return choice, scheme == autoRemote
}

// search finds a running browser each time a connection is made, because a browser that was started again has another address.
type search struct {
	choice string
	find   func(ctx context.Context, choice string) (discovery.Browser, error)
	// asks is set if the browser that was found asks the user about the connection.
	asks bool
	// refusals is nil if refusals are not remembered.
	refusals *Refusals
	address  string
}

func newSearch(choice string) *search {
	return &search{choice: choice, find: func(ctx context.Context, choice string) (discovery.Browser, error) {
		return discovery.ForThisMachine(os.Getenv).Choose(ctx, choice)
	}}
}

// socket returns the WebSocket URL of the browser that it finds. It fails if the user of that browser was asked before and did not allow the
// connection.
func (s *search) socket(ctx context.Context) (string, error) {
	b, err := s.find(ctx, s.choice)
	if err != nil {
		return "", err
	}
	s.asks, s.address = b.Asks, b.Address
	if b.Asks && s.refusals.has(b.Address) {
		return "", errNotAsked
	}
	return b.Address, nil
}

// errNotAsked reports that the user of a browser is not asked again.
var errNotAsked = errors.New("its user was asked before and did not allow the connection, and is not asked again: run domtap stop and then domtap attach")

// failed returns the error of a connection that failed.
func (s *search) failed(err error) error {
	if e, ok := errors.AsType[*discovery.Error](err); ok {
		shown := *e
		shown.Remedy = strings.ReplaceAll(e.Remedy, "--browser ", "--remote "+autoRemote+":")
		return fmt.Errorf("--remote %s: %w", autoRemote, &shown)
	}
	if s.asks && !errors.Is(err, errNotAsked) {
		s.refusals.add(s.address)
		return fmt.Errorf("the browser asks in its window whether to allow remote debugging, and nobody chose Allow in time (%w): try again and choose Allow", err)
	}
	return fmt.Errorf("attaching to the browser that was found: %w", err)
}

// Refusals remembers the browsers whose users did not allow a connection, so that they are asked once and not at every attempt to connect
// again. A browser has another address after each start. The zero value remembers none; a nil *Refusals never remembers any.
type Refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

func (r *Refusals) has(address string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[address]
}

func (r *Refusals) add(address string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]bool{}
	}
	r.all[address] = true
}
