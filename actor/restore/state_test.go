package restore_test

import (
	"testing"
	"time"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/restore"
)

func TestALossDuringTheReturnStartsOver(t *testing.T) {
	var s restore.State
	now := time.Unix(1000, 0)
	made := s.Generation()
	s.Lost(restore.View{URL: "a"}, "first")
	if !s.Away() || s.Current(made) || s.Current(s.Generation()) {
		t.Error("a call reaches a tab that is away")
	}
	if next, wait := s.Next(now); next != restore.Fetch || wait != 0 {
		t.Errorf("the first attempt is %d after %v", next, wait)
	}
	s.Lost(restore.View{URL: "blank"}, "second")
	if next, _ := s.Next(now); next != restore.NotNow {
		t.Error("two attempts at once")
	}
	if !s.Fetched(false) || !s.Due() || s.Shown().URL != "a" || s.Reason() != "second" {
		t.Errorf("after a second loss: %+v", s.Shown())
	}
	if next, wait := s.Next(now); next != restore.Fetch || wait != time.Second {
		t.Errorf("the second attempt is %d after %v", next, wait)
	}
	s.PageGone()
	if s.Fetched(false) {
		t.Error("a page that went meanwhile is enough")
	}
	if next, wait := s.Next(now); next != restore.Fetch || wait != 0 {
		t.Errorf("getting a page is not part of the same attempt: %d after %v", next, wait)
	}
	s.Attach()
	if !s.Fetched(true) || s.Gone() {
		t.Error("a new page is not enough")
	}
	s.End("")
	if s.Away() || s.Current(made) || !s.Current(s.Generation()) {
		t.Error("a call reaches the page of another generation")
	}
}

func TestItGivesUp(t *testing.T) {
	var s restore.State
	now := time.Unix(1000, 0)
	for range restore.Times {
		s.Lost(restore.View{}, "x")
		if next, _ := s.Next(now); next != restore.Fetch {
			t.Fatal("it gives up too early")
		}
		s.Fetched(true)
		s.End("")
	}
	s.Lost(restore.View{}, "x")
	if next, _ := s.Next(now); next != restore.GiveUp {
		t.Error("it never gives up")
	}
	s.End("too often")
	if s.Why() != "too often" || s.Due() {
		t.Errorf("why is %q", s.Why())
	}
	if s.Adopt(); s.Why() != "" {
		t.Error("another document does not help")
	}
}

func TestSave(t *testing.T) {
	var s restore.State
	now := time.Unix(1000, 0)
	k, changed := s.Save(restore.Record{ID: "t1", URL: "a"}, 5, now)
	if !changed || k.Refs <= 5 || !s.Saved() {
		t.Errorf("kept is %+v", k)
	}
	if _, changed := s.Save(restore.Record{ID: "t1", URL: "a"}, 6, now); changed {
		t.Error("the same is kept again")
	}
	s.Scrolled(driver.ScrollPosition{Y: 10})
	if k, changed := s.Save(restore.Record{ID: "t1", URL: "a"}, k.Refs, now); !changed || k.Place.Y != 10 || k.Refs <= 1<<17 {
		t.Errorf("kept is %+v", k)
	}
	var taken restore.State
	got := taken.Resume(k, "again", now)
	if got.Restarts != 1 || got.Refs <= k.Refs || !taken.Away() || !taken.Gone() || taken.Shown().URL != "a" {
		t.Errorf("taken over is %+v", got)
	}
	if k, _ := taken.Save(restore.Record{ID: "t1", URL: "a"}, k.Refs, now.Add(restore.Window)); k.Restarts != 0 {
		t.Errorf("a tab that is well has %d revivals", k.Restarts)
	}
}
