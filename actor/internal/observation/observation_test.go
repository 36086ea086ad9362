package observation_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/observation"
	"github.com/domtap/domtap/dom"
)

var now = time.Unix(1000, 0)

func TestAFailedChangeIsRepeated(t *testing.T) {
	s := observation.New()
	want, none := driver.Subscription{Push: true}, driver.Subscription{}
	if !s.Needs(want, now) || s.Needs(none, now) {
		t.Error("a new page pushes")
	}
	if s.Asked(want, errors.New("no")); !s.Needs(want, now) || !s.Needs(none, now) || s.Pushes() {
		t.Error("after a failure the state is known")
	}
	if s.Asked(want, nil); s.Needs(want, now) || !s.Pushes() {
		t.Error("after a success it is not")
	}
	structural := driver.Subscription{Push: true, Structural: true}
	if !s.Needs(structural, now) || s.Asked(structural, errors.New("no")) || !s.Needs(structural, now) || !s.Needs(want, now) {
		t.Error("a subscription that failed is not repeated")
	}
	if !s.Asked(structural, nil) || s.Needs(structural, now) || !s.Structural() {
		t.Error("a subscription that the page has is repeated")
	}
	if s.Invalidate(); !s.Needs(structural, now) {
		t.Error("a subscription in doubt is not repeated")
	}
	if !s.Asked(driver.Subscription{}, nil) || s.Structural() {
		t.Error("a document that was asked for its structure has none")
	}
}

func TestSelectionsAreThoseOfAllDocuments(t *testing.T) {
	s := observation.New()
	sel := dom.Selector{CSS: "a"}
	if _, known := s.View().Selected(sel); known {
		t.Error("a selector is known before a document reported")
	}
	found := map[dom.Selector]dom.Selection{sel: {}}
	s.Selected(driver.SelectorsMatched{Frame: "f", Document: "2", Found: found})
	if _, known := s.View().Selected(sel); known {
		t.Error("the main document did not report")
	}
	s.Selected(driver.SelectorsMatched{Document: "1", Found: found})
	first := s.View()
	if _, known := first.Selected(sel); !known || first != s.View() {
		t.Error("a selector is not known, or the view changes by itself")
	}
	s.Forget("f")
	if first == s.View() {
		t.Error("a frame that is gone changes nothing")
	}
	s.Adopt(now)
	if _, known := s.View().Selected(sel); known {
		t.Error("another document has the selections of the last one")
	}
}

func TestTrafficCountsWhileSomebodyAsks(t *testing.T) {
	s := observation.New()
	if s.Traffic(driver.Traffic{Busy: true}, now); s.View().Network.Busy {
		t.Error("requests count that nobody asked for")
	}
	s.Needs(driver.Subscription{Network: true}, now)
	s.Asked(driver.Subscription{Network: true}, nil)
	s.Traffic(driver.Traffic{Busy: true}, now.Add(time.Second))
	if n := s.View().Network; !n.Known || !n.Busy || !n.Since.Equal(now.Add(time.Second)) {
		t.Errorf("network is %+v", n)
	}
	s.SetCaughtUp(7)
	if s.Attach(); s.View().Network.Known || s.CaughtUp() != 7 || s.Pushes() {
		t.Error("another page is as the last one")
	}
}

func TestASetKeepsWhatIsHeld(t *testing.T) {
	s := observation.NewSet()
	early := observation.NewWatch(observation.Options{})
	s.Release(early)
	<-s.Changed()
	s.Add(early)
	if s.Subscription().Push {
		t.Error("a watch is held that was released before")
	}
	a := observation.NewWatch(observation.Options{Structural: true, Attributes: []string{"b", "a"}})
	b := observation.NewWatch(observation.Options{Geometry: true, Attributes: []string{"a"}, Network: true})
	first, _ := s.Follow(a)
	second, _ := s.Follow(b)
	all := s.Subscription()
	if !all.Push || first >= second || s.Last() != second || !all.Geometry || !all.Structural || !all.Network || fmt.Sprint(all.Attributes) != "[a b]" {
		t.Errorf("the watches need %+v", all)
	}
	s.Release(a)
	s.Release(a)
	if all := s.Subscription(); !all.Push || all.Structural || !all.Network {
		t.Errorf("the other watch needs %+v", all)
	}
	if s.Release(b); s.Subscription().Push {
		t.Error("a watch is held that was released")
	}
}

func TestSelectorsAreBounded(t *testing.T) {
	s := observation.NewSet()
	var many []dom.Selector
	for i := range observation.MaxSelectors {
		many = append(many, dom.Selector{CSS: fmt.Sprint(i)})
	}
	if _, ok := s.Follow(observation.NewWatch(observation.Options{Selectors: many})); !ok {
		t.Error("as many as there may be are refused")
	}
	if _, ok := s.Follow(observation.NewWatch(observation.Options{Selectors: many[:3]})); !ok {
		t.Error("the same ones are refused")
	}
	if _, ok := s.Follow(observation.NewWatch(observation.Options{Selectors: []dom.Selector{{CSS: "x"}}})); ok {
		t.Error("one more is not refused")
	}
}
