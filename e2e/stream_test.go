package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/harness"
)

// follower applies a stream and tells about every message.
type follower struct {
	mu      sync.Mutex
	replica replica
	err     error
	news    chan struct{} // closed and replaced at every message
}

// follow starts a stream; it ends with the test.
func follow(t *testing.T, d *harness.Daemon, r *domtapv1.WatchDomRequest) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := d.Dom.WatchDom(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{news: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := stream.Recv()
			f.mu.Lock()
			if err == nil {
				err = f.replica.apply(m)
			}
			f.err = err
			close(f.news)
			f.news = make(chan struct{})
			f.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

// reaches waits until the stream's state equals what GetDom answered.
func (f *follower) reaches(ctx context.Context, want *domtapv1.GetDomResponse) error {
	elements := bares(want.GetElements())
	for {
		f.mu.Lock()
		news, err, revision := f.news, f.err, f.replica.revision
		difference := differs(f.replica.elements, elements)
		f.mu.Unlock()
		switch {
		case err != nil:
			return err
		case difference == "":
			return nil
		case revision > want.GetRevision():
			return fmt.Errorf("the stream is at revision %d, past GetDom's %d, and was never equal to it", revision, want.GetRevision())
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("at revision %d, GetDom at %d: %s", revision, want.GetRevision(), difference)
		}
	}
}

// TestStreamsConverge is guarantee 1 for five views at once: after every step of a page that changes
// itself at random, the first snapshot with the diffs applied equals what GetDom answers.
func TestStreamsConverge(t *testing.T) {
	steps := 1500
	if testing.Short() {
		steps = 150
	}
	driver, handlers := newDriver()
	url := serve(t, handlers)
	d := harness.StartDaemon(t)
	tab := d.Open(url + "/pages/mutator.html")
	views := []*domtapv1.GetDomRequest{
		{TabId: tab, FullSnapshot: true},
		{TabId: tab},
		{TabId: tab, MaxElements: proto.Int32(20), MaxTokens: proto.Int32(0)},
		{TabId: tab, ViewportOnly: true},
		{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(400)},
	}
	var followers []*follower
	for _, v := range views {
		followers = append(followers, follow(t, d, &domtapv1.WatchDomRequest{TabId: tab, FullSnapshot: v.FullSnapshot,
			MaxElements: v.MaxElements, MaxTokens: v.MaxTokens, ViewportOnly: v.ViewportOnly}))
	}
	var did []string
	for seed := range steps {
		var only []string
		if seed%100 == 99 {
			only = []string{"navigate"}
		}
		did = append(did, driver.step(t, seed+1, only...))
		for i, v := range views {
			if err := agree(t, d, followers[i], v); err != nil {
				t.Fatalf("step %d, after %v, view %v: %v", seed, did[max(0, len(did)-3):], v, err)
			}
		}
	}
}

// agree compares a stream with GetDom. The page may change between the two by itself, such as when an
// animation ends: then GetDom is asked again.
func agree(t *testing.T, d *harness.Daemon, f *follower, v *domtapv1.GetDomRequest) error {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var errs []error
	for range 3 {
		now, err := d.Dom.GetDom(ctx, v)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err = f.reaches(ctx, now); err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
