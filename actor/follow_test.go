package actor_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/dom"
)

// follower is a watcher: it remembers a revision and reads the changes from there to the head.
type follower struct {
	t    *testing.T
	tab  *actor.Tab
	seen *dom.Snapshot
	// texts holds the text of each ref. revisions counts the revisions from the log.
	texts     map[dom.Ref]string
	revisions int
	resyncs   int
}

// step reads the changes up to a head, and fails if the head breaks a guarantee.
func (f *follower) step(h *actor.Head) {
	s := h.Snapshot
	if h.Info.Revision != s.Revision || s.Revision < f.seen.Revision || s.Document < f.seen.Document {
		f.t.Errorf("revision %d of document %d came after %d of %d", s.Revision, s.Document, f.seen.Revision, f.seen.Document)
	}
	if s.Document != f.seen.Document || h.At(f.seen.Revision) == nil {
		if s.Document == f.seen.Document && h.At(s.Revision-1) != nil && s.Revision-f.seen.Revision < 5 {
			f.t.Errorf("the log of revision %d does not reach back to %d", s.Revision, f.seen.Revision)
		}
		f.resyncs++
		f.check(s)
		f.seen = s
		return
	}
	if old := h.At(f.seen.Revision); !sameSnapshot(old, f.seen) {
		f.t.Errorf("revision %d is another snapshot than before", f.seen.Revision)
	}
	for r := f.seen.Revision + 1; r <= s.Revision; r++ {
		one := h.At(r)
		if one == nil || one.Revision != r || one.Document != s.Document {
			f.t.Errorf("the log has a gap at %d, %+v", r, one)
			return
		}
		f.check(one)
		f.revisions++
	}
	f.seen = s
}

func (f *follower) check(s *dom.Snapshot) {
	for _, el := range s.Elements.Slice() {
		if text, ok := f.texts[el.Ref]; ok && text != el.Text {
			f.t.Errorf("ref %d was %s and is %s", el.Ref, text, el.Text)
		}
		f.texts[el.Ref] = el.Text
	}
}

// sameSnapshot reports whether two snapshots have the same elements and fields.
func sameSnapshot(a, b *dom.Snapshot) bool {
	if a == nil || b == nil || !slices.Equal(a.Elements.Slice(), b.Elements.Slice()) {
		return false
	}
	x, y := *a, *b
	x.Elements, y.Elements = dom.List{}, dom.List{}
	return reflect.DeepEqual(x, y)
}

// run follows the tab until it ends.
func (f *follower) run() {
	for {
		h := f.tab.Head()
		f.step(h)
		select {
		case <-h.Next():
		case <-f.tab.Done():
			return
		}
	}
}

// TestFollowersSeeEveryRevisionOnce changes a page at random, navigates it and reads it while followers watch. Heads must arrive in order,
// the log must have no gaps, no ref may be reused, and in the end the followers must have the result of a read.
func TestFollowersSeeEveryRevisionOnce(t *testing.T) {
	synctest.Test(t, seeEveryRevisionOnce)
}

func seeEveryRevisionOnce(t *testing.T) {
	b, pool, tab := start(t, tabpool.Config{})
	release, err := tab.Watch(t.Context(), actor.WatchOptions{Geometry: true})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	followers := make([]*follower, 4)
	ended := make(chan struct{})
	for i := range followers {
		followers[i] = &follower{t: t, tab: tab, seen: tab.Head().Snapshot, texts: map[dom.Ref]string{}}
		go func() {
			followers[i].run()
			ended <- struct{}{}
		}()
	}
	rng := rand.New(rand.NewPCG(1, 2))
	page := b.Page(0)
	for i := range 1500 {
		page.Update(func(f *actortest.Frame) { scramble(rng, f, i) })
		if rng.IntN(3) == 0 {
			synctest.Wait() // lets the followers run, even on a busy machine
		}
		switch rng.IntN(60) {
		case 0:
			read(t, tab, actor.ReadOptions{Geometry: true})
		case 1:
			if _, err := turn.Run(t.Context(), tab, turn.Turn{URL: home}); err != nil {
				t.Fatal(err)
			}
		case 2:
			page.OpenDialog(driver.Dialog{Type: "alert"})
			until(t, tab, func(h *actor.Head) bool { return h.Info.Dialog != nil })
			if _, err := tab.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	last := read(t, tab, actor.ReadOptions{}).Head
	if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
		t.Fatal(err)
	}
	for range followers {
		<-ended
	}
	for i, f := range followers {
		f.step(tab.Head())
		if f.seen != last.Snapshot {
			t.Errorf("follower %d ended at revision %d, not %d", i, f.seen.Revision, last.Info.Revision)
		}
		if f.revisions == 0 {
			t.Errorf("follower %d followed nothing, with %d resyncs", i, f.resyncs)
		}
	}
}

// scramble changes a document at random. Nodes keep their texts.
func scramble(rng *rand.Rand, f *actortest.Frame, i int) {
	n := len(f.Body)
	switch k := rng.IntN(4); {
	case k == 0 || n < 5:
		f.Body = slices.Insert(f.Body, rng.IntN(n+1), actortest.Button(fmt.Sprint("New ", i)))
	case k == 1:
		at := rng.IntN(n)
		f.Body = slices.Delete(f.Body, at, at+1)
	case k == 2:
		f.Body[rng.IntN(n)].Value = fmt.Sprint(i)
	default:
		rng.Shuffle(n, func(i, j int) { f.Body[i], f.Body[j] = f.Body[j], f.Body[i] })
		f.Body[0].Box.X = float64(rng.IntN(2) * 5000)
	}
}
