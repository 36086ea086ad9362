package browser

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWhoMayHaveWrittenToTheClipboard follows two sessions that are acted on, one of which writes late.
func TestWhoMayHaveWrittenToTheClipboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newClipboardUse()
		a, b := new(Context), new(Context)
		foreign := func(when string, c *Context, want bool) {
			t.Helper()
			if got := u.foreign(c); got != want {
				t.Errorf("%s: foreign is %v, want %v", when, got, want)
			}
		}
		act := func(c *Context) {
			u.begin(c)
			u.done(c)
		}
		act(a)
		foreign("alone", a, false)
		foreign("after another", b, true)
		u.own(b)
		act(b)
		foreign("when the other may still write", b, true)
		foreign("when it was emptied for another", a, true)
		time.Sleep(activation)
		foreign("emptied before the other had ended", b, true)
		u.own(b)
		foreign("emptied after that", b, false)
		u.begin(a)
		time.Sleep(2 * activation)
		u.own(b)
		foreign("while the other is acted on for long", b, true)
		u.end(a)
		foreign("closed while it is acted on", b, true)
		u.done(a)
		foreign("after a session that is closed", b, true)
		time.Sleep(activation + 1)
		u.own(b)
		foreign("long after a session that is closed", b, false)
		if len(u.acted) != 1 {
			t.Errorf("%d sessions are remembered", len(u.acted))
		}
	})
}

// TestOneSessionReadsTheClipboard has sessions that may read and write without being acted on.
func TestOneSessionReadsTheClipboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newClipboardUse()
		a, b := new(Context), new(Context)
		u.grant(a, true, false)
		u.grant(b, true, false)
		if !u.mayRead(a) || u.mayRead(b) {
			t.Fatal("not the first one alone may read")
		}
		if reading, withheld := u.begin(b); len(reading) != 1 || reading[0] != a || !withheld {
			t.Errorf("when the other is acted on, %v may read, and that is withheld: %v", reading, withheld)
		}
		u.grant(a, true, false) // it writes to the last
		u.own(b)
		if u.mayRead(b) {
			t.Error("it may read what the other writes last")
		}
		time.Sleep(activation + 1)
		u.own(b)
		if !u.mayRead(b) {
			t.Error("it may not read although the other is not acted on")
		}
		u.grant(b, true, false)
		u.grant(a, false, true)
		time.Sleep(activation + 1)
		u.own(b)
		if u.mayRead(b) || !u.foreign(b) {
			t.Error("it may read although the other may write at any time")
		}
		u.end(a)
		time.Sleep(activation + 1)
		u.own(b)
		if !u.mayRead(b) {
			t.Error("it may not read although the other is closed")
		}
	})
}
