package sideeffects_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/sideeffects"
)

func TestDialogIDsGrowOverPages(t *testing.T) {
	var s sideeffects.Dialogs
	now := time.Unix(0, 0)
	s.Opened(driver.Dialog{ID: 1, Type: "alert"}, now)
	s.Opened(driver.Dialog{ID: 2, Type: "alert"}, now)
	if r := s.Lose(); !r.Event || r.Dialog != nil || s.LastClosed() != 2 {
		t.Errorf("a lost page reports %+v, closed up to %d", r, s.LastClosed())
	}
	if offset := s.Attach(); offset != 2 {
		t.Errorf("the next page counts on from %d", offset)
	}
	r := s.Opened(driver.Dialog{ID: 1, Type: "confirm", Message: strings.Repeat("x", 2000)}, now)
	if r.Dialog.ID != 3 || len(r.Dialog.Message) > 1010 || s.Open() != r.Dialog {
		t.Errorf("the next page's first dialog is %d", r.Dialog.ID)
	}
	if r := s.Closed(driver.Dialog{ID: 1}); !r.Event || s.LastClosed() != 3 || s.Close().Event {
		t.Error("a dialog closes more than once, or not at all")
	}
}

func TestAFloodOfAnsweredDialogsIsReportedInPart(t *testing.T) {
	var s sideeffects.Dialogs
	now := time.Unix(100, 0)
	count := func() (n int) {
		for i := range 50 {
			r := s.Opened(driver.Dialog{ID: uint64(i), Type: "alert", Message: "Hi", Answer: driver.Accepted}, now)
			if r.Event {
				n++
			}
			if r.Event != (r.Text == `alert "Hi" was accepted`) {
				t.Errorf("report %+v", r)
			}
		}
		return n
	}
	first, again := count(), count()
	now = now.Add(1100 * time.Millisecond)
	if later := count(); first != 32 || again != 0 || later != 32 {
		t.Errorf("%d, then %d, then %d are reported", first, again, later)
	}
	if opened, halts := s.Counts(); opened != 150 || halts != 0 || s.Open() != nil || s.Err("t1") != nil {
		t.Errorf("%d opened, %d halts", opened, halts)
	}
}

func TestAnOpenDialogStopsCalls(t *testing.T) {
	var s sideeffects.Dialogs
	s.Opened(driver.Dialog{ID: 1, Type: "confirm", Message: "Sure?"}, time.Unix(0, 0))
	if err := s.Err("t1"); !apierr.Is(err, apierr.DialogOpen) || s.UnloadErr("t1") != nil {
		t.Errorf("errors are %v and %v", err, s.UnloadErr("t1"))
	}
	s.Opened(driver.Dialog{ID: 2, Type: "beforeunload"}, time.Unix(0, 0))
	if err := s.UnloadErr("t1"); !apierr.Is(err, apierr.DialogOpen) || !strings.Contains(err.Error(), "whether to leave") {
		t.Errorf("error is %v", err)
	}
}

func TestPopupsAreCountedAndBounded(t *testing.T) {
	var s sideeffects.Popups
	for i := range 20 {
		s.Add(fmt.Sprint("t", i))
	}
	if s.Len() != sideeffects.MaxTabs || len(s.Since(14)) != 2 || len(s.Since(99)) != 0 {
		t.Errorf("%d are remembered, %v since the 14th", s.Len(), s.Since(14))
	}
	s.Keep(func(id string) bool { return id == "t3" })
	if got := s.Since(0); len(got) != 1 || got[0] != "t3" {
		t.Errorf("%v are left", got)
	}
	if s.Reset(); s.Len() != 0 {
		t.Error("some are left")
	}
	var b sideeffects.PopupBudget
	for i := range sideeffects.MaxWindows + 2 {
		if admitted := b.Admits(); admitted != (i < sideeffects.MaxWindows) {
			t.Errorf("window %d: %t", i, admitted)
		} else if !admitted {
			b.Refused()
		}
	}
	if b.TakeRefused() != 2 || b.TakeRefused() != 0 {
		t.Error("refused windows are counted wrong")
	}
}

func TestNotesAreBoundedAndTakenOnce(t *testing.T) {
	var s sideeffects.Summary
	var d sideeffects.Downloads
	s.Replace(d.Progress(driver.Download{GUID: "a", Filename: "f"}))
	s.Replace(d.Progress(driver.Download{GUID: "a", Filename: "f"}))
	s.Replace(d.Progress(driver.Download{GUID: "a", Filename: "f", State: driver.Fetched, Path: "/d/f", Type: "application/pdf", Total: 12}))
	s.Replace(d.Progress(driver.Download{GUID: "b", Filename: "g", State: driver.NotFetched, Reason: "gone"}))
	want := `; the download of "f" is complete: /d/f (application/pdf, 12 bytes); the download of "g" was canceled: gone`
	if got := s.Take(0); got != want {
		t.Errorf("the summary is %q", got)
	}
	for range 6 {
		s.Add("x")
	}
	if got := s.Take(3); got != "; x; x; x; x; and more" || s.Take(0) != "" {
		t.Errorf("the summary is %q", got)
	}
	if got := s.Take(3); !strings.HasPrefix(got, "; 3 new windows were closed: ") {
		t.Errorf("the summary is %q", got)
	}
}

func TestAnsweredWakesThoseWhoWaitForADialog(t *testing.T) {
	var a sideeffects.Answered
	a.Reach(1)
	last, changed := a.Last()
	if last != 1 {
		t.Errorf("the last dialog is %d", last)
	}
	a.Reach(1)
	select {
	case <-changed:
		t.Error("the same dialog again is a change")
	default:
	}
	a.Reach(3)
	<-changed
	if last, _ := a.Last(); last != 3 {
		t.Errorf("the last dialog is %d", last)
	}
}
