package streams

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestStreamsConverge tests guarantee 1 for five views at the same time. After every step of a page that changes at random, the first
// snapshot with the diffs applied must equal the response of GetDom.
func TestStreamsConverge(t *testing.T) {
	steps := testenv.Size(110, 400)
	driver, handlers := newDriver()
	url := serve(t, handlers)
	d := testenv.Shared(t)
	tab := d.Open(url + "/pages/mutator.html")
	views := []*domtapv1.GetDomRequest{
		{TabId: tab, FullSnapshot: true},
		{TabId: tab},
		{TabId: tab, MaxElements: proto.Int32(20), MaxTokens: proto.Int32(0)},
		{TabId: tab, ViewportOnly: true},
		{TabId: tab, MaxElements: proto.Int32(0), MaxTokens: proto.Int32(400)},
	}
	var followers []*testenv.Follower
	for _, v := range views {
		followers = append(followers, testenv.Follow(t, d, &domtapv1.WatchDomRequest{TabId: tab, FullSnapshot: v.FullSnapshot,
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

// agree compares a stream with GetDom. The page may change by itself between the two, for example when an animation ends. agree then calls
// GetDom again.
func agree(t *testing.T, d *testenv.Daemon, f *testenv.Follower, v *domtapv1.GetDomRequest) error {
	ctx := testenv.Within(t, testenv.Patience)
	var errs []error
	for range 3 {
		now, err := d.Dom.GetDom(ctx, v)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err = f.Reaches(ctx, now); err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
