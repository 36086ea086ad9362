package tabpool

import (
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// uses knows which tabs are in use, and since when the others are not, by tab id. The pool's lock
// guards it, which decides between a call that comes and a tab that is about to be closed because
// nobody uses it: the call either keeps the tab, or gets the reason.
type uses map[string]*use

// use is the use of one tab.
type use struct {
	users int
	// last is when the last use ended, or the tab began.
	last time.Time
	// expired is why the tab is closed when nobody used it; nil until then.
	expired *apierr.Error
	// frozen says that the tab is to be frozen until it is used.
	frozen bool
}

// add begins with a tab that nobody uses yet.
func (u uses) add(id string, now time.Time) { u[id] = &use{last: now} }

// remove forgets a tab that has ended.
func (u uses) remove(id string) { delete(u, id) }

// hold keeps a tab from being closed as idle until release is called. The caller of hold holds the
// lock, the caller of release does not.
func (u uses) hold(id string, lock sync.Locker) (release func()) {
	one := u[id]
	if one == nil { // the tab has ended
		return func() {}
	}
	one.users++
	return func() {
		lock.Lock()
		defer lock.Unlock()
		one.users--
		one.last = time.Now()
	}
}

// expire notes that a tab is closed because nobody used it, and returns the error that says so.
func (u uses) expire(id, message string) *apierr.Error {
	why := &apierr.Error{Kind: apierr.NotFound, Message: message, Err: actor.ErrIdle}
	if one := u[id]; one != nil {
		one.expired = why
	}
	return why
}

// expired is why a tab is closed as idle; nil when it is not.
func (u uses) expired(id string) *apierr.Error {
	if one := u[id]; one != nil {
		return one.expired
	}
	return nil
}

// idleSince is when the last use of a tab ended; idle is false while the tab is in use, and when it is
// closed as idle already.
func (u uses) idleSince(id string) (since time.Time, idle bool) {
	one := u[id]
	if one == nil || one.users > 0 || one.expired != nil {
		return time.Time{}, false
	}
	return one.last, true
}

// latest is when the last use of any of the tabs ended: now while one is in use, zero for no tabs.
func (u uses) latest(ids []string, now time.Time) (last time.Time) {
	for _, id := range ids {
		one := u[id]
		switch {
		case one == nil:
		case one.users > 0:
			return now
		case one.last.After(last):
			last = one.last
		}
	}
	return last
}

// freeze notes that a tab is to be frozen from now on; false: it is already.
func (u uses) freeze(id string) bool {
	one := u[id]
	if one == nil || one.frozen {
		return false
	}
	one.frozen = true
	return true
}

// thaw notes that a tab is not to be frozen any more; false: it was not.
func (u uses) thaw(id string) bool {
	one := u[id]
	if one == nil || !one.frozen {
		return false
	}
	one.frozen = false
	return true
}
