package tabpool

import (
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// uses records by tab ID which tabs are in use, and since when the others have been idle. The pool's lock guards it. The lock decides
// between a new call and the closing of an idle tab: the call either keeps the tab open, or gets the reason why it is closed.
type uses map[string]*use

// use is the use of one tab.
type use struct {
	users int
	// last is when the last use ended, or when the tab was opened.
	last time.Time
	// expired is the reason why the idle tab is closed, or nil.
	expired *apierr.Error
	// frozen reports whether the tab is to be frozen until it is used.
	frozen bool
}

// add adds a tab that is not in use yet.
func (u uses) add(id string, now time.Time) { u[id] = &use{last: now} }

// remove removes a tab that has ended.
func (u uses) remove(id string) { delete(u, id) }

// hold keeps a tab from being closed as idle until release is called. The caller of hold must hold the lock; the caller of release must
// not.
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

// expire records that a tab is closed because it was idle, and returns the corresponding error.
func (u uses) expire(id, message string) *apierr.Error {
	why := &apierr.Error{Kind: apierr.NotFound, Message: message, Err: actor.ErrIdle}
	if one := u[id]; one != nil {
		one.expired = why
	}
	return why
}

// expired returns the reason why a tab is closed as idle, or nil if it is not.
func (u uses) expired(id string) *apierr.Error {
	if one := u[id]; one != nil {
		return one.expired
	}
	return nil
}

// idleSince returns when the last use of a tab ended. idle is false if the tab is in use or is already being closed as idle.
func (u uses) idleSince(id string) (since time.Time, idle bool) {
	one := u[id]
	if one == nil || one.users > 0 || one.expired != nil {
		return time.Time{}, false
	}
	return one.last, true
}

// latest returns when the last use of any of the tabs ended: now if one is in use, and zero for no tabs.
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

// freeze records that a tab is to be frozen. It returns false if that was already recorded.
func (u uses) freeze(id string) bool {
	one := u[id]
	if one == nil || one.frozen {
		return false
	}
	one.frozen = true
	return true
}

// thaw records that a tab is not to be frozen any more. It returns false if it was not to be frozen.
func (u uses) thaw(id string) bool {
	one := u[id]
	if one == nil || !one.frozen {
		return false
	}
	one.frozen = false
	return true
}
