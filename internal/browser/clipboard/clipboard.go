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
	// hangLimit is how long a page that copies or pastes, and hangs, keeps others from the clipboard.
	hangLimit = 2 * time.Second
	// keepLimit bounds a call of the page that keeps what was copied, and making that page. It hangs only with the browser, but on a
	// machine with much else to do it takes seconds.
	keepLimit = 10 * time.Second
)

// Read and Write are the permissions to read, and to write without an action.
const (
	Read  = "clipboard-read"
	Write = "clipboard-write"
)

// Clipboard is the clipboard of a browser, which all its sessions share.
//
// Chromium does not say who wrote to it. A page may write to it, by a script too, for 5 s after somebody acted on it; it reads
// it when somebody pastes, or when its session was granted clipboard-read. So it is known who may have written: the sessions
// that were acted on. Before a session pastes what another one may have copied, it gets what it has copied itself by keys, or
// nothing; and of the sessions that are granted clipboard-read only one has it at a time, while nobody else acts.
type Clipboard struct {
	browser devtools.Session
	logger  *slog.Logger
	// owned says that the browser is ours, and with it the clipboard.
	owned bool
	// shared reports whether the browser has more than one session.
	shared func() bool

	// turn holds a token while somebody copies, pastes, or changes who may read; keeper is for who holds it.
	turn   chan struct{}
	keeper *Keeper

	mu    sync.Mutex
	state state
}

// New makes the clipboard of a browser; owned says that nobody else uses the browser, and shared reports whether the browser
// has more than one session.
func New(browser devtools.Session, logger *slog.Logger, owned bool, shared func() bool) *Clipboard {
	return &Clipboard{browser: browser, logger: logger, owned: owned, shared: shared, turn: make(chan struct{}, 1), state: newState()}
}

// Session is what one session of the browser does with the clipboard.
type Session struct {
	clipboard *Clipboard
	context   cdp.BrowserContextID
	// closed says that the session is closed; the clipboard's mutex guards it.
	closed bool
}

// Session makes the session of a browser context.
func (b *Clipboard) Session(context cdp.BrowserContextID) *Session {
	return &Session{clipboard: b, context: context}
}

// locked runs f with the state.
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

// Act notes that the session is acted on, until done is called. Sessions that may read the clipboard may not any more.
func (s *Session) Act(ctx context.Context) (done func(), err error) {
	var reading []*Session
	var withheld bool
	s.clipboard.locked(func(st *state) { reading, withheld = st.begin(s) })
	done = func() { s.clipboard.locked(func(st *state) { st.done(s, time.Now()) }) }
	for _, other := range reading {
		if err := other.setReading(ctx, false); err != nil {
			done()
			return nil, fmt.Errorf("keeping another session from the clipboard: %w", err)
		}
	}
	if withheld {
		if err := s.setReading(ctx, true); err != nil {
			done()
			return nil, fmt.Errorf("letting the session read the clipboard: %w", err)
		}
	}
	return done, nil
}

// setReading puts the permission to read in force, or takes it out of force, when that is due.
func (s *Session) setReading(ctx context.Context, on bool) error {
	release, err := s.clipboard.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	if on {
		due, err := s.regain(ctx)
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

// regain reports whether the permission to read may be in force again: once no other session may write, with the session's
// own content on the clipboard. The turn is held.
func (s *Session) regain(ctx context.Context) (due bool, err error) {
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
	if gone, ok := errors.AsType[*cdproto.Error](err); ok && strings.Contains(gone.Message, "Failed to find") { // it was closed meanwhile
		return nil
	}
	return err
}

// Grant notes what the session is granted, and runs set, which is to set the permissions in the browser, meanwhile: mayRead
// reports whether the permission to read is to be in force at once. It is in force later otherwise, when the session is acted
// on.
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

// errForeign says that nothing can be pasted.
var errForeign = apierr.Errorf(apierr.NotActionable, "the clipboard may hold what another session copied, and cannot be emptied: fill the text instead, or use the default session alone")

// load puts what the session has copied by keys on the clipboard, or nothing. The turn is held.
func (s *Session) load(ctx context.Context) (loaded bool, err error) {
	err = s.clipboard.keep(ctx, func(ctx context.Context, k *Keeper) (err error) {
		loaded, err = k.Load(ctx, string(s.context))
		return err
	})
	if err != nil {
		s.clipboard.logger.Warn("the clipboard could not be emptied", "context", s.context, "error", err)
		return false, errForeign
	}
	s.clipboard.locked(func(st *state) { st.own(s, time.Now()) })
	return loaded, nil
}

// keep calls the page that keeps what was copied, which it opens when there is none. The turn is held.
func (b *Clipboard) keep(ctx context.Context, do func(context.Context, *Keeper) error) (err error) {
	if !b.owned {
		return errors.New("the browser, and with it the clipboard, is somebody else's")
	}
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	k := b.keeper
	if k == nil {
		if k, err = Open(ctx, b.browser); err != nil {
			return err
		}
		b.keeper = k
	}
	if err = do(ctx, k); err != nil { // whatever is wrong with the page, the next one begins anew
		k.Close(ctx)
		b.keeper = nil
	}
	return err
}

// Do does what copies or pastes by keys. It returns what is worth knowing of what was on the clipboard; often nothing.
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
	hangs := time.AfterFunc(hangLimit, release) // a page that hangs is in nobody's way
	err = do()
	if hangs.Stop() && copies && s.clipboard.shared() {
		kept := s.clipboard.keep(ctx, func(ctx context.Context, k *Keeper) error {
			_, err := k.Save(ctx, string(s.context))
			return err
		})
		if kept != nil {
			s.clipboard.logger.Debug("what a session copied is not kept", "context", s.context, "error", kept)
		}
	}
	return note, err
}

// own sees to it that the clipboard holds nothing of another session, and says so to who pastes. The turn is held.
func (s *Session) own(ctx context.Context, pastes bool) (note string, err error) {
	foreign := false
	s.clipboard.locked(func(st *state) { foreign = st.foreign(s) })
	if !foreign {
		return "", nil
	}
	loaded, err := s.load(ctx)
	switch {
	case err != nil && !pastes: // what it copies replaces what is there
		return "", nil
	case err != nil || !pastes:
		return "", err
	case loaded:
		return "with what this session copied last by keys, for other sessions were acted on since", nil
	}
	return "but the clipboard was emptied, for it may have held what another session copied: copy again right before, or fill the text", nil
}

// Close forgets what a session that is closed has copied.
func (s *Session) Close(ctx context.Context) {
	b := s.clipboard
	b.locked(func(st *state) { st.end(s, time.Now()) })
	release, err := b.take(ctx)
	if err != nil {
		return
	}
	defer release()
	if b.keeper == nil {
		return
	}
	if err := b.keep(ctx, func(ctx context.Context, k *Keeper) error { return k.Forget(ctx, string(s.context)) }); err != nil {
		b.logger.Debug("what sessions copied was forgotten", "error", err)
	}
}
