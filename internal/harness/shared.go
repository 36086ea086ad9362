package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/domtap/domtap/actor/sessions"
	"github.com/domtap/domtap/browser"
)

// Starting a browser and ending it takes a second of a processor, which is more than most tests take besides. So the tests
// of a package that says so hand browsers on: the next test that asks for one with the same flags gets it, when all that
// a test can leave in it is gone. A browser that is not as new, for whatever reason, ends with its test.

// spares are the browsers that wait for the next test.
type spares struct {
	mu sync.Mutex
	// on is set by MainShared: somebody ends what is left.
	on bool
	// idle are those of one kind, which have the same flags.
	idle map[string][]idle
}

// idle is a browser that waits, and what ends it.
type idle struct {
	*Browser
	end func() error
}

var spare = spares{idle: map[string][]idle{}}

// MainShared is Main for a package whose tests hand browsers on.
func MainShared(m *testing.M) int {
	spare.on = true
	return Main(m)
}

// take returns a browser that waits, or nil.
func (s *spares) take(kind string) *Browser {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.idle[kind]
	if len(waiting) == 0 {
		return nil
	}
	last := len(waiting) - 1
	s.idle[kind] = waiting[:last]
	return waiting[last].Browser
}

// put lets a browser wait, until it is taken or ended.
func (s *spares) put(kind string, b idle) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle[kind] = append(s.idle[kind], b)
}

// end ends the browsers that wait.
func (s *spares) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, waiting := range s.idle {
		for _, b := range waiting {
			err = errors.Join(err, b.end())
		}
	}
	clear(s.idle)
	return err
}

// sharedBrowser is a browser of the package's.
func sharedBrowser(t testing.TB, cfg browser.Config) *Browser {
	t.Helper()
	kind := strings.Join(cfg.Flags, "\n")
	b := spare.take(kind)
	if b == nil {
		state, err := os.MkdirTemp("", "domtap")
		if err != nil {
			t.Fatal(err)
		}
		b = launch(t, cfg, state)
	}
	outlive := context.WithoutCancel(t.Context())
	end := func() error {
		ctx, cancel := context.WithTimeout(outlive, closeLimit)
		defer cancel()
		return errors.Join(b.end(ctx), os.RemoveAll(b.State))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(outlive, closeLimit)
		defer cancel()
		why := b.renew(ctx)
		if why == nil && !t.Failed() {
			spare.put(kind, idle{&Browser{Browser: b.Browser, State: b.State}, end})
			return
		}
		if why != nil {
			t.Logf("the browser is not handed on: %v", why)
		}
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// renew makes a browser as new for the next test, or says why it is not.
func (r *Browser) renew(ctx context.Context) error {
	select {
	case <-r.Done():
		return errors.New("it is gone")
	case <-r.Pages():
		return errors.New("a window was opened that nobody took")
	default:
	}
	if left := r.Contexts(ctx); len(left) > 0 {
		return fmt.Errorf("there are %d sessions", len(left))
	}
	var targets struct {
		TargetInfos []struct{ Type, URL string }
	}
	if err := r.Call(ctx, "", "Target.getTargets", nil, &targets); err != nil {
		return err
	}
	if len(targets.TargetInfos) > 0 {
		return fmt.Errorf("there are pages or workers: %v", targets.TargetInfos)
	}
	c := r.DefaultContext()
	if err := c.SetState(ctx, sessions.State{}, true); err != nil {
		return err
	}
	return c.Configure(ctx, sessions.Settings{})
}
