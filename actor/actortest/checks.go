package actortest

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/apierr"
)

// CheckPages fails a test if pages are still open or their callers broke the rules; see Page.Faults. The pool must be closed first.
func (b *Browser) CheckPages(t testing.TB) {
	t.Helper()
	for i := 0; b.Page(i) != nil; i++ {
		for _, fault := range b.Page(i).Faults() {
			t.Errorf("page %d: %s", i, fault)
		}
		select {
		case <-b.Page(i).Closed():
		default:
			t.Errorf("page %d is still open", i)
		}
	}
}

// Goroutines returns the stacks of goroutines that run code of package actor or a package below it, if they do not end soon.
func Goroutines() string {
	give := time.After(2 * time.Second)
	for {
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		var left []string
		for i, g := range strings.Split(string(buf), "\n\n") {
			if i > 0 && strings.Contains(g, "domtap/actor") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-give:
			return strings.Join(left, "\n\n")
		default:
			runtime.Gosched()
		}
	}
}

// WantKind ends the test unless err is an *apierr.Error of the given kind, and returns that error.
func WantKind(t testing.TB, err error, kind apierr.ErrorKind) *apierr.Error {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error is %v, want an *Error of kind %d", err, kind)
	}
	return e
}
