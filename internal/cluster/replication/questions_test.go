package replication

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
)

// beginMany starts n concurrent watches of a copy. It returns their errors when all have started.
func beginMany(t *testing.T, c *Copy, n int) (failed []error) {
	t.Helper()
	var mu sync.Mutex
	var watching sync.WaitGroup
	for range n {
		watching.Go(func() {
			release, err := c.Watch(t.Context(), actor.WatchOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, err)
				return
			}
			release()
		})
	}
	watching.Wait()
	return failed
}

// More watchers do not cause more questions to the owner of a tab.
func TestThoseWhoBeginTogetherAskTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		asked := 0
		m.mu.Lock()
		m.way = func(context.Context) error { // answers one question after another
			asked++
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		m.mu.Unlock()
		if failed := beginMany(t, c, 1000); len(failed) > 0 || asked > 2 {
			t.Errorf("1000 watches asked %d times; %d failed: %v", asked, len(failed), failed)
		}
		release()
		replicas.Close()
		o.Close()
	})
}

// A question whose answer is lost is repeated, and a question without any answer ends.
func TestAQuestionThatIsLostIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, p := newMemory(), newPage("t", "a")
		o := m.owner(t, "n1", p, 1, always)
		replicas := NewReplicas(t.Context(), "n2/1", m, quiet)
		c, release := open(t, replicas, "n1")
		lose := 1
		m.mu.Lock()
		m.way = func(ctx context.Context) error {
			if lose--; lose < 0 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		m.mu.Unlock()
		if failed := beginMany(t, c, 10); len(failed) > 0 {
			t.Errorf("after one loss: %v", failed)
		}
		lose = 2
		if failed := beginMany(t, c, 10); len(failed) == 0 || !apierr.Is(failed[0], apierr.Lost) || !errors.Is(failed[0], errNoAnswer) {
			t.Errorf("after two losses: %v", failed)
		}
		lose = 1
		over := make(chan []error)
		go func() { over <- beginMany(t, c, 10) }()
		synctest.Wait()
		release() // ends the copy
		replicas.Close()
		if failed := <-over; len(failed) != 10 || !apierr.Is(failed[0], apierr.Lost) {
			t.Errorf("at the end of the copy: %v", failed)
		}
		o.Close()
	})
}

// A deadline of a copy is not a deadline of its followers, because their streams can continue at another node.
func TestTheEndOfACopyIsNoDeadlineOfItsClients(t *testing.T) {
	c := &Copy{id: "t1", owner: "n2.INCARNATION"}
	for _, cause := range []error{context.DeadlineExceeded, context.Canceled, fmt.Errorf("ask: %w", context.DeadlineExceeded)} {
		err := c.lost(cause)
		if !apierr.Is(err, apierr.Lost) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "INCARNATION") {
			t.Errorf("the error because of %v is %v", cause, err)
		}
	}
}
