package clipboard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
)

const (
	// hangLimit is how long a hanging page that copies or pastes may block the clipboard for others.
	hangLimit = 2 * time.Second
	// keepLimit bounds a call of the Store's page, and its creation. Such a call hangs only if the browser hangs, but on a busy machine it
	// takes seconds.
	keepLimit = 10 * time.Second
)

// Read and Write are the permissions to read the clipboard, and to write it without a user action.
const (
	Read  = "clipboard-read"
	Write = "clipboard-write"
)

// Clipboard is the clipboard of a browser, which all its sessions share.
//
// Chromium does not report which page wrote to the clipboard. A page may write, also by a script, for 5 s after an action. It reads on a
// paste, or if its session was granted clipboard-read. So only sessions that were acted on may have written. If another session may have
// copied something, the clipboard is replaced before a paste: by the pasting session's own last copy, or by nothing. Of the sessions with
// clipboard-read, only one has the permission at a time, and only while no other session is acted on.
type Clipboard struct {
	browser devtools.Session
	logger  *slog.Logger
	// owned reports whether we started the browser, so that the clipboard is ours.
	owned bool
	// shared reports whether the browser has more than one session.
	shared func() bool

	// turn holds a token while a session copies or pastes, or while the permission to read changes. The holder may use store.
	turn  chan struct{}
	store *Store

	mu    sync.Mutex
	state state
}

// New returns the clipboard of a browser. owned reports that we started the browser. shared reports whether the browser has more than one
// session.
func New(browser devtools.Session, logger *slog.Logger, owned bool, shared func() bool) *Clipboard {
	return &Clipboard{browser: browser, logger: logger, owned: owned, shared: shared, turn: make(chan struct{}, 1), state: newState()}
}

// Session is one session's access to the clipboard.
type Session struct {
	clipboard *Clipboard
	context   cdp.BrowserContextID
	// closed is set when the session is closed. The clipboard's mutex guards it.
	closed bool
}

// Session returns the session of a browser context.
func (b *Clipboard) Session(context cdp.BrowserContextID) *Session {
	return &Session{clipboard: b, context: context}
}

// locked calls f with the state.
func (b *Clipboard) locked(f func(*state)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.state)
}

// take waits for the turn.
func (b *Clipboard) take(ctx context.Context) (release func(), err error) {
	select {
	case b.turn <- struct{}{}:
		return func() { <-b.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Act marks the session as being acted on until done is called. It withdraws the permission to read from other sessions.
func (s *Session) Act(ctx context.Context) (done func(), err error) {
	var reading []*Session
	var withheld bool
	s.clipboard.locked(func(st *state) { reading, withheld = st.begin(s) })
	done = func() { s.clipboard.locked(func(st *state) { st.done(s, time.Now()) }) }
	for _, other := range reading {
		if err := other.setReading(ctx, false); err != nil {
			done()
			return nil, fmt.Errorf("deny another session the clipboard: %w", err)
		}
	}
	if withheld {
		if err := s.setReading(ctx, true); err != nil {
			done()
			return nil, fmt.Errorf("allow the session to read the clipboard: %w", err)
		}
	}
	return done, nil
}

// setReading grants or withdraws the browser's permission to read, if the state requires it.
func (s *Session) setReading(ctx context.Context, on bool) error {
	release, err := s.clipboard.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if on {
		due, err := s.mayRegrant(ctx)
		if err != nil || !due {
			return err
		}
		return s.permit(ctx, cdpbrowser.PermissionSettingGranted)
	}
	inForce := false
	s.clipboard.locked(func(st *state) { inForce = st.readers[s] })
	if !inForce {
		return nil
	}
	if err := s.permit(ctx, cdpbrowser.PermissionSettingDenied); err != nil {
		return err
	}
	s.clipboard.locked(func(st *state) { st.withhold(s, time.Now()) })
	return nil
}

// mayRegrant reports whether the permission to read may be granted again. No other session may be able to write, and the clipboard must hold
// the session's own content. The caller holds the turn.
func (s *Session) mayRegrant(ctx context.Context) (due bool, err error) {
	busy, foreign := false, false
	s.clipboard.locked(func(st *state) { busy, foreign = st.others(s, time.Now().Add(-activation)), st.foreign(s) })
	if busy {
		return false, nil
	}
	if foreign {
		if _, err := s.load(ctx); err != nil {
			return false, err
		}
	}
	s.clipboard.locked(func(st *state) { due = st.mayRead(s) })
	return due, nil
}

// permit sets the permission to read in the browser.
func (s *Session) permit(ctx context.Context, setting cdpbrowser.PermissionSetting) error {
	_, err := cdp.Call(ctx, s.clipboard.browser, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: Read, AllowWithoutSanitization: true}, Setting: setting, BrowserContextID: s.context})
	if gone, ok := errors.AsType[*cdproto.Error](err); ok && strings.Contains(gone.Message, "Failed to find") { // the session was closed
		return nil
	}
	return err
}

// Grant records the session's permissions and calls set, which must set them in the browser. mayRead reports whether the permission to read
// takes effect immediately. If not, it takes effect when the session is acted on.
func (s *Session) Grant(ctx context.Context, read, write bool, set func(mayRead func() bool) error) error {
	release, err := s.clipboard.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	s.clipboard.locked(func(st *state) { st.grant(s, read, write, time.Now()) })
	return set(func() (ok bool) {
		s.clipboard.locked(func(st *state) { ok = st.mayRead(s) })
		return ok
	})
}

// errForeign reports that pasting is not possible.
var errForeign = apierr.Errorf(apierr.NotActionable, "the clipboard may hold text from another session and cannot be cleared: fill the text instead, or use only the default session")

// load puts the session's own last copy on the clipboard, or clears it. The caller holds the turn.
func (s *Session) load(ctx context.Context) (loaded bool, err error) {
	err = s.clipboard.withStore(ctx, func(ctx context.Context, k *Store) (err error) {
		loaded, err = k.Load(ctx, string(s.context))
		return err
	})
	if err != nil {
		s.clipboard.logger.Warn("the clipboard could not be cleared", "context", s.context, "error", err)
		return false, errForeign
	}
	s.clipboard.locked(func(st *state) { st.own(s, time.Now()) })
	return loaded, nil
}

// withStore calls do with the page of the Store, which it opens if necessary. The caller holds the turn.
func (b *Clipboard) withStore(ctx context.Context, do func(context.Context, *Store) error) (err error) {
	if !b.owned {
		return errors.New("the browser and its clipboard belong to another program")
	}
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	k := b.store
	if k == nil {
		if k, err = Open(ctx, b.browser); err != nil {
			return err
		}
		b.store = k
	}
	if err = do(ctx, k); err != nil { // discard a broken page; the next call opens a new one
		k.Close(ctx)
		b.store = nil
	}
	return err
}

// Do runs an action that copies or pastes by keys. note describes what was pasted, if the caller should know; it is often empty.
func (s *Session) Do(ctx context.Context, copies, pastes bool, do func() error) (note string, err error) {
	release, err := s.clipboard.take(ctx)
	if err != nil {
		return "", err
	}
	release = sync.OnceFunc(release)
	defer release()
	if note, err = s.own(ctx, pastes); err != nil {
		return "", err
	}
	hangs := time.AfterFunc(hangLimit, release) // a hanging page must not block others
	err = do()
	if hangs.Stop() && copies && s.clipboard.shared() {
		kept := s.clipboard.withStore(ctx, func(ctx context.Context, k *Store) error {
			_, err := k.Save(ctx, string(s.context))
			return err
		})
		if kept != nil {
			s.clipboard.logger.Debug("a session's clipboard content was not saved", "context", s.context, "error", kept)
		}
	}
	return note, err
}

// own ensures that the clipboard holds no content of another session. For a paste, note reports a replaced clipboard. The caller holds the
// turn.
func (s *Session) own(ctx context.Context, pastes bool) (note string, err error) {
	foreign := false
	s.clipboard.locked(func(st *state) { foreign = st.foreign(s) })
	if !foreign {
		return "", nil
	}
	loaded, err := s.load(ctx)
	switch {
	case err != nil && !pastes: // copying replaces the content anyway
		return "", nil
	case err != nil || !pastes:
		return "", err
	case loaded:
		return "with the text that this session last copied with keys, because other sessions used the clipboard since", nil
	}
	return "but the clipboard was cleared, because it may have held text from another session: copy again directly before pasting, or fill the text", nil
}

// Close deletes the copies of a closed session.
func (s *Session) Close(ctx context.Context) {
	b := s.clipboard
	b.locked(func(st *state) { st.end(s, time.Now()) })
	release, err := b.take(ctx)
	if err != nil {
		return
	}
	defer release()
	if b.store == nil {
		return
	}
	if err := b.withStore(ctx, func(ctx context.Context, k *Store) error { return k.Forget(ctx, string(s.context)) }); err != nil {
		b.logger.Debug("the saved clipboard contents were dropped", "error", err)
	}
}
