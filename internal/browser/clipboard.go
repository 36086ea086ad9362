package browser

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/clipboard"
	"github.com/domtap/domtap/internal/browser/input"
)

// Chromium has one clipboard for all its browser contexts, and does not say who wrote to it. A page may write to it, by
// a script too, for 5 s after somebody acted on it; it reads it when somebody pastes, or when its session was granted
// clipboard-read. So it is known who may have written: the sessions that were acted on. Before a session pastes what another
// one may have copied, it gets what it has copied itself by keys, or nothing; and of the sessions that are granted
// clipboard-read only one has it at a time, while nobody else acts.

// activation is how long after an action a page is counted among those that may write. Chromium's own limit is 5 s.
const activation = 10 * time.Second

// clipboardLimit bounds each step of what is done with the clipboard while others wait.
const clipboardLimit = 2 * time.Second

// clipboardRead and clipboardWrite are the permissions to read, and to write without an action.
const (
	clipboardRead  = "clipboard-read"
	clipboardWrite = "clipboard-write"
)

// clipboardUse says whose what is on the clipboard may be.
type clipboardUse struct {
	// turn holds a token while somebody copies, pastes, or changes who may read; keeper is for who holds it.
	turn   chan struct{}
	keeper *clipboard.Keeper

	mu sync.Mutex
	// acting counts what is being done in each session. acted is when each was acted on last, and closed the latest of those
	// that are closed.
	acting map[*Context]int
	acted  map[*Context]time.Time
	closed time.Time
	// owner is whose content was put there, at since; nil: nobody's was, so it was empty when the browser began.
	owner *Context
	since time.Time
	// readers are the sessions that were granted clipboard-read; true: it is in force. writers may write at any time.
	readers map[*Context]bool
	writers map[*Context]bool
}

func newClipboardUse() clipboardUse {
	return clipboardUse{turn: make(chan struct{}, 1), acting: map[*Context]int{}, acted: map[*Context]time.Time{},
		readers: map[*Context]bool{}, writers: map[*Context]bool{}}
}

// take waits for the turn.
func (u *clipboardUse) take(ctx context.Context) (release func(), err error) {
	select {
	case u.turn <- struct{}{}:
		return func() { <-u.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// begin notes that a session is acted on, until done is called. It returns the other sessions that may read now, and
// whether this one may not, although it was granted that.
func (u *clipboardUse) begin(c *Context) (reading []*Context, withheld bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.acting[c]++
	for r, inForce := range u.readers {
		if r != c && inForce {
			reading = append(reading, r)
		}
	}
	inForce, granted := u.readers[c]
	return reading, granted && !inForce
}

// done ends what began.
func (u *clipboardUse) done(c *Context) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.acting[c]--; u.acting[c] <= 0 {
		delete(u.acting, c)
	}
	if c.gone {
		u.closed = time.Now()
		return
	}
	u.acted[c] = time.Now()
}

// foreign reports whether the clipboard may hold what another session copied.
func (u *clipboardUse) foreign(c *Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.owner != nil && u.owner != c || u.others(c, u.since.Add(-activation))
}

// others reports whether another session may have written after a moment; mu is held.
func (u *clipboardUse) others(c *Context, after time.Time) bool {
	for x := range u.writers {
		if x != c {
			return true
		}
	}
	for x := range u.acting {
		if x != c {
			return true
		}
	}
	for x, at := range u.acted {
		if x != c && at.After(after) {
			return true
		}
	}
	return !u.closed.IsZero() && u.closed.After(after)
}

// own notes that the clipboard holds what is a session's own.
func (u *clipboardUse) own(c *Context) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.owner, u.since = c, time.Now()
}

// mayRead puts the permission to read in force, unless another session may write, or its content may be there; the
// turn is held.
func (u *clipboardUse) mayRead(c *Context) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for r, inForce := range u.readers {
		if r != c && inForce {
			return false
		}
	}
	ok := !c.gone && (u.owner == nil || u.owner == c) && !u.others(c, u.since.Add(-activation))
	if ok {
		u.readers[c] = true
	}
	return ok
}

// grant notes what a session is granted. The turn is held.
func (u *clipboardUse) grant(c *Context, read, write bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readers[c] {
		u.acted[c] = time.Now()
	}
	delete(u.readers, c)
	delete(u.writers, c)
	if read && !c.gone {
		u.readers[c] = false
	}
	if write && !c.gone {
		u.writers[c] = true
	}
}

// end forgets a session that is closed; what it copied may still be there.
func (u *clipboardUse) end(c *Context) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.gone = true
	at := u.acted[c]
	if u.readers[c] || u.writers[c] {
		at = time.Now()
	}
	if at.After(u.closed) {
		u.closed = at
	}
	delete(u.acted, c)
	delete(u.readers, c)
	delete(u.writers, c)
}

// acts notes that the session is acted on, until done is called. Sessions that may read the clipboard may not any more.
func (c *Context) acts(ctx context.Context) (done func(), err error) {
	u := &c.browser.clipboard
	reading, withheld := u.begin(c)
	for _, r := range reading {
		if err := r.stopReading(ctx); err != nil {
			u.done(c)
			return nil, c.browser.failed("keeping another session from the clipboard", err)
		}
	}
	if withheld {
		if err := c.readAgain(ctx); err != nil {
			u.done(c)
			return nil, c.browser.failed("letting the session read the clipboard", err)
		}
	}
	return func() { u.done(c) }, nil
}

// stopReading takes the permission to read the clipboard out of force.
func (c *Context) stopReading(ctx context.Context) error {
	u := &c.browser.clipboard
	release, err := u.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	u.mu.Lock()
	inForce := u.readers[c]
	u.mu.Unlock()
	if !inForce {
		return nil
	}
	if err := c.setReading(ctx, cdpbrowser.PermissionSettingDenied); err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.readers[c] {
		u.readers[c] = false
		u.acted[c] = time.Now() // who may read may write without being acted on
	}
	return nil
}

// readAgain puts the permission in force again once no other session may write, with the session's own content there.
func (c *Context) readAgain(ctx context.Context) error {
	u := &c.browser.clipboard
	release, err := u.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	u.mu.Lock()
	busy := u.others(c, time.Now().Add(-activation))
	u.mu.Unlock()
	if busy {
		return nil
	}
	if u.foreign(c) {
		if _, err := c.loadCopied(ctx); err != nil {
			return err
		}
	}
	if !u.mayRead(c) {
		return nil
	}
	return c.setReading(ctx, cdpbrowser.PermissionSettingGranted)
}

// setReading sets the permission to read in the browser.
func (c *Context) setReading(ctx context.Context, setting cdpbrowser.PermissionSetting) error {
	_, err := cdp.Call(ctx, c.browser.root, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
		Permission: &cdpbrowser.PermissionDescriptor{Name: clipboardRead, AllowWithoutSanitization: true}, Setting: setting, BrowserContextID: c.id})
	var gone *cdproto.Error
	if errors.As(err, &gone) && strings.Contains(gone.Message, "Failed to find") { // it was closed meanwhile
		return nil
	}
	return err
}

// errForeign says that nothing can be pasted.
var errForeign = apierr.Errorf(apierr.NotActionable, "the clipboard may hold what another session copied, and cannot be emptied: fill the text instead, or use the default session alone")

// loadCopied puts what the session has copied by keys on the clipboard, or nothing. The turn is held.
func (c *Context) loadCopied(ctx context.Context) (loaded bool, err error) {
	err = c.browser.keepCopied(ctx, func(ctx context.Context, k *clipboard.Keeper) (err error) {
		loaded, err = k.Load(ctx, string(c.id))
		return err
	})
	if err != nil {
		c.browser.logger.Warn("the clipboard could not be emptied", "session", c.name, "error", err)
		return false, errForeign
	}
	c.browser.clipboard.own(c)
	return loaded, nil
}

// keepCopied calls the page that keeps what was copied, which it opens when there is none. The turn is held.
func (b *Browser) keepCopied(ctx context.Context, do func(context.Context, *clipboard.Keeper) error) (err error) {
	if !b.process.Owned() {
		return errors.New("the browser, and with it the clipboard, is somebody else's")
	}
	ctx, cancel := context.WithTimeout(ctx, clipboardLimit)
	defer cancel()
	k := b.clipboard.keeper
	if k == nil {
		if k, err = clipboard.Open(ctx, b.root); err != nil {
			return err
		}
		b.clipboard.keeper = k
	}
	if err = do(ctx, k); err != nil { // whatever is wrong with the page, the next one begins anew
		k.Close(ctx)
		b.clipboard.keeper = nil
	}
	return err
}

// withClipboard does what copies or pastes by keys.
func (c *Context) withClipboard(ctx context.Context, use input.ClipboardUse, do func() (driver.DoResult, error)) (driver.DoResult, error) {
	u := &c.browser.clipboard
	release, err := u.take(ctx)
	if err != nil {
		return driver.DoResult{}, err
	}
	release = sync.OnceFunc(release)
	defer release()
	note, err := c.ownClipboard(ctx, use)
	if err != nil {
		return driver.DoResult{}, err
	}
	hangs := time.AfterFunc(clipboardLimit, release) // a page that hangs is in nobody's way
	deed, err := do()
	if err == nil && note != "" {
		deed.Note = cmp.Or(deed.Note, "ok") + ", " + note
	}
	if hangs.Stop() && use.Copies && c.browser.shares() {
		kept := c.browser.keepCopied(ctx, func(ctx context.Context, k *clipboard.Keeper) error {
			_, err := k.Save(ctx, string(c.id))
			return err
		})
		if kept != nil {
			c.browser.logger.Debug("what a session copied is not kept", "session", c.name, "error", kept)
		}
	}
	return deed, err
}

// ownClipboard sees to it that the clipboard holds nothing of another session, and says so to who pastes. The turn is held.
func (c *Context) ownClipboard(ctx context.Context, use input.ClipboardUse) (note string, err error) {
	if !c.browser.clipboard.foreign(c) {
		return "", nil
	}
	loaded, err := c.loadCopied(ctx)
	switch {
	case err != nil && !use.Pastes: // what it copies replaces what is there
		return "", nil
	case err != nil || !use.Pastes:
		return "", err
	case loaded:
		return "with what this session copied last by keys, for other sessions were acted on since", nil
	}
	return "but the clipboard was emptied, for it may have held what another session copied: copy again right before, or fill the text", nil
}

// shares reports whether there is more than one session.
func (b *Browser) shares() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.contexts) > 1
}

// forgetCopied forgets what a session that is closed has copied.
func (c *Context) forgetCopied(ctx context.Context) {
	u := &c.browser.clipboard
	u.end(c)
	release, err := u.take(ctx)
	if err != nil {
		return
	}
	defer release()
	if u.keeper == nil {
		return
	}
	if err := c.browser.keepCopied(ctx, func(ctx context.Context, k *clipboard.Keeper) error { return k.Forget(ctx, string(c.id)) }); err != nil {
		c.browser.logger.Debug("what sessions copied was forgotten", "error", err)
	}
}
