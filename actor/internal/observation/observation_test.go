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
	want := observation.Push{On: true}
	if !s.NeedsPush(want) || s.NeedsPush(observation.Push{}) {
		t.Error("a new page pushes")
	}
	if s.Pushed(want, errors.New("no")); !s.NeedsPush(want) || !s.NeedsPush(observation.Push{}) || s.Pushes() {
		t.Error("after a failure the state is known")
	}
	if s.Pushed(want, nil); s.NeedsPush(want) || !s.Pushes() {
		t.Error("after a success it is not")
	}
	options := driver.ObserveOptions{Structural: true}
	if !s.NeedsOptions(options, now) || s.Asked(options, errors.New("no")) || !s.NeedsOptions(options, now) || !s.NeedsPush(want) {
		t.Error("options that failed are not repeated")
	}
	if !s.Asked(options, nil) || s.NeedsOptions(options, now) || !s.Structural() {
		t.Error("options that the page has are repeated")
	}
	if !s.Asked(driver.ObserveOptions{}, nil) || s.Structural() {
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
	s.Selected(driver.Selected{Frame: "f", Document: "2", Found: found})
	if _, known := s.View().Selected(sel); known {
		t.Error("the main document did not report")
	}
	s.Selected(driver.Selected{Document: "1", Found: found})
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
	s.NeedsOptions(driver.ObserveOptions{Network: true}, now)
	s.Asked(driver.ObserveOptions{Network: true}, nil)
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
	if n, _ := s.Union(); n != 0 {
		t.Error("a watch is held that was released before")
	}
	a := observation.NewWatch(observation.Options{Structural: true, Attributes: []string{"b", "a"}})
	b := observation.NewWatch(observation.Options{Geometry: true, Attributes: []string{"a"}, Network: true})
	first, _ := s.Follow(a)
	second, _ := s.Follow(b)
	n, all := s.Union()
	if o := all.Observe(); n != 2 || first >= second || s.Last() != second || !all.Geometry || !o.Structural || !o.Network || fmt.Sprint(o.Attributes) != "[a b]" {
		t.Errorf("%d are held, they need %+v", n, all)
	}
	s.Release(a)
	s.Release(a)
	if n, _ := s.Union(); n != 1 {
		t.Errorf("%d are held", n)
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
