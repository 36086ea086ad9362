package tabpool

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

func TestSlotsOfClientsLeaveRoomForOthers(t *testing.T) {
	elsewhere := 0
	s := newSlots(Config{MaxTabs: 3, Elsewhere: func(string) int { return elsewhere }, Quota: func(session string) (string, int) {
		if session == "work" {
			return "ann", 2
		}
		return "", 0
	}})
	for _, session := range []string{"work", "work"} {
		if err := s.acquire(session); err != nil {
			t.Fatal(err)
		}
	}
	exhausted := func(session, limit string) {
		t.Helper()
		var e *apierr.Error
		if err := s.acquire(session); !errors.As(err, &e) || e.Kind != apierr.Exhausted || e.Detail["limit"] != limit {
			t.Errorf("a slot of session %s: error is %v, want the limit %s", session, err, limit)
		}
	}
	exhausted("work", "tabs_per_client")
	s.free("work")
	elsewhere = 1
	exhausted("work", "tabs_per_client")
	elsewhere = 0
	if err := s.acquire("work"); err != nil {
		t.Error(err)
	}
	if err := s.acquire(driver.DefaultSession); err != nil {
		t.Error(err)
	}
	exhausted(driver.DefaultSession, "tabs")
	s.free("work")
	if err := s.acquire("work"); err != nil {
		t.Error(err)
	}
	for _, session := range []string{"work", "work", driver.DefaultSession} {
		s.free(session)
	}
	if s.taken != 0 || len(s.byClient) != 0 {
		t.Errorf("%d slots are taken, %v by client", s.taken, s.byClient)
	}
}

func TestSlotsAreIdleWhenTheyAreClosedAndNothingRuns(t *testing.T) {
	s := newSlots(Config{MaxTabs: 1}.withDefaults())
	idle := func(want bool) {
		t.Helper()
		got := false
		select {
		case <-s.idle:
			got = true
		default:
		}
		if got != want {
			t.Errorf("idle is %v, want %v", got, want)
		}
	}
	s.begin()
	s.end()
	idle(false)
	s.begin()
	s.close()
	idle(false)
	s.end()
	idle(true)
	s.close() // again
	idle(true)
}

func TestUses(t *testing.T) {
	start := time.Now()
	u := uses{}
	u.add("t1", start)
	u.add("t2", start.Add(time.Minute))
	all := []string{"t1", "t2", "t3"}
	if last := u.latest(all, start.Add(time.Hour)); !last.Equal(start.Add(time.Minute)) {
		t.Errorf("the latest use is %v", last)
	}
	if since, idle := u.idleSince("t1"); !idle || !since.Equal(start) {
		t.Errorf("a tab that nobody used is idle %v since %v", idle, since)
	}
	release := u.hold("t1", new(sync.Mutex))
	if _, idle := u.idleSince("t1"); idle {
		t.Error("a tab in use is idle")
	}
	if now := start.Add(time.Hour); !u.latest(all, now).Equal(now) {
		t.Error("a tab in use is not used now")
	}
	release()
	if since, idle := u.idleSince("t1"); !idle || since.Before(start) {
		t.Errorf("after its use the tab is idle %v since %v", idle, since)
	}
	why := u.expire("t2", "nobody used it")
	if _, idle := u.idleSince("t2"); idle || u.expired("t2") != why || !errors.Is(why, actor.ErrIdle) || why.Kind != apierr.NotFound {
		t.Errorf("a tab that is closed as idle is idle %v, because of %v", idle, u.expired("t2"))
	}
	late := u.hold("t1", new(sync.Mutex))
	u.remove("t1")
	u.add("t1", start)
	late() // the end of a use counts for the tab that was used
	if since, _ := u.idleSince("t1"); !since.Equal(start) {
		t.Errorf("the new tab is idle since %v", since)
	}
	u.hold("t3", new(sync.Mutex))()
	if len(u) != 2 || u.expire("t3", "it is gone") == nil || u.expired("t3") != nil {
		t.Errorf("a tab that has ended has uses: %v", u)
	}
}

func TestTheDownloadLogKeepsTheLast(t *testing.T) {
	log := downloadLog{}
	event := func(kind actor.TabEventKind, tab, guid string, state driver.DownloadState) {
		log.record(actor.TabEvent{Kind: kind, Info: actor.Info{ID: tab, Session: "work"}, Download: driver.Download{GUID: guid, State: state}})
	}
	for i := range maxDownloads + 1 {
		event(actor.TabDownloaded, "t1", fmt.Sprint("g", i), driver.Fetched)
	}
	event(actor.TabDownloaded, "t2", "under way", driver.Fetching)
	event(actor.TabDownloaded, "t2", "g100", driver.NotFetched)
	event(actor.TabClosed, "t1", "", driver.Fetching)
	list := log.list("work")
	if len(list) != maxDownloads || list[0].GUID != "under way" || list[0].State != driver.Fetching || list[1].State != driver.NotFetched {
		t.Errorf("%d downloads are kept, the newest are %+v", len(list), list[:2])
	}
	if slices.ContainsFunc(list, func(r DownloadRecord) bool { return r.GUID == "g0" || r.GUID == "g1" }) {
		t.Error("the oldest downloads are kept")
	}
	event(actor.TabClosed, "t2", "", driver.Fetching)
	if got := log.list("work")[0]; got.State != driver.NotFetched || got.Reason == "" {
		t.Errorf("the download of a closed tab is %+v", got)
	}
	if len(log.list(driver.DefaultSession)) > 0 {
		t.Error("another session has downloads")
	}
}

func TestWatchersEndBySession(t *testing.T) {
	reader := func(session string) *Watch {
		return &Watch{session: session, bound: 2, arrive: make(chan struct{}, 1)}
	}
	work, all, other := reader("work"), reader(""), reader("other")
	ws := watchers{work: {}, all: {}, other: {}}
	ws.send(actor.TabEvent{Info: actor.Info{Session: "work"}})
	closed := errors.New("closed")
	ws.endSession("work", closed)
	if _, err := work.Next(t.Context()); err != nil {
		t.Errorf("what was queued is lost: %v", err)
	}
	if _, err := work.Next(t.Context()); !errors.Is(err, closed) {
		t.Errorf("error is %v", err)
	}
	for range 2 {
		ws.send(actor.TabEvent{Info: actor.Info{Session: "work"}})
	}
	if _, ok := ws[all]; ok || len(ws) != 1 {
		t.Error("a reader that is too far behind is kept")
	}
	ws.end(closed)
	if _, err := other.Next(t.Context()); !errors.Is(err, closed) || len(ws) > 0 {
		t.Errorf("error is %v, %d readers are left", err, len(ws))
	}
}

func TestNoPopupsForgetsTheOldest(t *testing.T) {
	var n popupBlocklist
	for i := range maxBlocked + 1 {
		n.add(fmt.Sprint("p", i))
	}
	if n.has("p0") || !n.has("p1") || !n.has("p1000") || len(n.pages) != maxBlocked {
		t.Errorf("%d pages are kept, from %s", len(n.pages), n.pages[0])
	}
}
