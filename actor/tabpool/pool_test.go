package tabpool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
)

func TestPoolKeepsToItsLimitsAndNeverUsesAnIdAgain(t *testing.T) {
	b := actortest.NewBrowser()
	pool := newPool(t, b, tabpool.Config{MaxTabs: 2})
	for round := range 3 {
		var ids []string
		for range 2 {
			tab, err := pool.Open(t.Context(), tabpool.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, tab.ID())
		}
		if want := fmt.Sprintf("[t%d t%d]", 2*round+1, 2*round+2); fmt.Sprint(ids) != want {
			t.Errorf("ids are %v, want %v", ids, want)
		}
		_, err := pool.Open(t.Context(), tabpool.OpenOptions{})
		actortest.WantKind(t, err, apierr.Exhausted)
		for _, id := range ids {
			if err := pool.CloseTab(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := pool.Tab("t1")
	actortest.WantKind(t, err, apierr.NotFound)
	_, err = pool.Open(t.Context(), tabpool.OpenOptions{Session: "work"})
	actortest.WantKind(t, err, apierr.NotFound)
	if _, err := pool.Open(t.Context(), tabpool.OpenOptions{Session: "default"}); err != nil {
		t.Error(err)
	}
}

func TestOpenLeavesNothingBehindWhenItFails(t *testing.T) {
	b := actortest.NewBrowser()
	pool := newPool(t, b, tabpool.Config{MaxTabs: 1})
	for i := range 3 {
		_, err := pool.Open(t.Context(), tabpool.OpenOptions{URL: "https://nowhere.example/"})
		actortest.WantKind(t, err, apierr.Navigation)
		select {
		case <-b.Page(i).Closed():
		default:
			t.Error("the page is still open")
		}
		if len(pool.Tabs()) > 0 {
			t.Error("the tab is still listed")
		}
		b.FailOpen(errors.New("no memory"))
		if _, err := pool.Open(t.Context(), tabpool.OpenOptions{}); err == nil || !strings.Contains(err.Error(), "no memory") {
			t.Errorf("error is %v", err)
		}
		b.FailOpen(nil)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pool.Open(ctx, tabpool.OpenOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := pool.Open(t.Context(), tabpool.OpenOptions{}); err != nil {
		t.Error(err)
	}
}

func TestPopupsOverTheLimitAreClosed(t *testing.T) {
	var log safeBuffer
	b, pool, _ := start(t, tabpool.Config{MaxTabs: 2, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w := pool.Watch()
	defer w.Stop()
	first := b.Page(0).Open(home + "help")
	second := b.Page(0).Open(home + "help")
	<-second.Closed()
	if len(pool.Tabs()) != 2 || !strings.Contains(log.String(), "popup") {
		t.Errorf("there are %d tabs, the log says %s", len(pool.Tabs()), log.String())
	}
	select {
	case <-first.Closed():
		t.Error("the popup within the limit was closed")
	default:
	}
	next(t, w)
	if e := next(t, w); e.Kind != actor.TabOpened || e.Info.ID != "t2" || e.Info.Opener != "t1" {
		t.Errorf("event is %+v", e)
	}
}

// safeBuffer is a log for concurrent use.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func next(t *testing.T, w *tabpool.Watch) actor.TabEvent {
	t.Helper()
	e, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTheEventsOfTabs(t *testing.T) {
	b, pool, tab := start(t, tabpool.Config{})
	w := pool.Watch()
	defer w.Stop()
	page := b.Page(0)
	page.PushState(home + "2")
	page.OpenDialog(driver.Dialog{Type: "alert", Message: "Hi"})
	if _, err := page.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
		t.Fatal(err)
	}
	page.Emit(driver.DownloadProgressed{Download: driver.Download{GUID: "g", State: driver.Fetched}})
	page.Crash("oom")
	until(t, tab, func(h *actor.Head) bool { return h.Info.Status == actor.StatusCrashed })
	if _, err := tab.Navigate(t.Context(), home, actor.WaitLoad); err != nil {
		t.Fatal(err)
	}
	if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 8 {
		e := next(t, w)
		line := fmt.Sprintf("%d %s %v %v", e.Kind, e.Info.URL, e.Info.Status, e.Info.Dialog != nil)
		switch e.Kind {
		case actor.TabNavigated:
			line += fmt.Sprint(" same=", e.Same)
		case actor.TabCrashed:
			line += " " + e.Reason
		case actor.TabDialog:
			line += fmt.Sprint(" ", e.Dialog)
		case actor.TabDownloaded:
			line += " " + e.Download.State.String()
		}
		got = append(got, line)
	}
	want := `0 https://shop.example/ ready false
2 https://shop.example/2 ready false same=true
4 https://shop.example/2 ready true &{1 alert Hi  open}
4 https://shop.example/2 ready false <nil>
5 https://shop.example/2 ready false completed
3 https://shop.example/2 crashed false oom
2 https://shop.example/ loading false same=false
1 https://shop.example/ closed false`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestAReaderOfTabEventsThatFallsBehindIsEnded(t *testing.T) {
	b, pool, tab := start(t, tabpool.Config{})
	slow, quick := pool.Watch(), pool.Watch()
	defer slow.Stop()
	for i := range 300 {
		url := fmt.Sprint(home, i)
		b.Page(0).PushState(url)
		until(t, tab, func(h *actor.Head) bool { return h.Info.URL == url })
		next(t, quick)
	}
	quick.Stop()
	_, err := quick.Next(t.Context())
	actortest.WantKind(t, err, apierr.Closed)
	n := 0
	for ; err == nil || n == 0; n++ {
		_, err = slow.Next(t.Context())
	}
	actortest.WantKind(t, err, apierr.Exhausted)
	if n != 258 { // the open tab, 256 events, and the error
		t.Errorf("the slow reader got %d events", n-1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := pool.Watch()
	next(t, late)
	if _, err := late.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestTheEndOfTheBrowserEndsAllCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		b.Page(0).Hang()
		errs := make(chan error)
		go func() {
			_, err := tab.Read(t.Context(), actor.ReadOptions{})
			errs <- err
		}()
		synctest.Wait()
		b.Die()
		actortest.WantKind(t, <-errs, apierr.Lost)
		<-tab.Done()
		actortest.WantKind(t, tab.Err(), apierr.Lost)
		synctest.Wait()
		if len(pool.Tabs()) != 0 {
			t.Error("a lost tab is listed")
		}
		_, err := pool.Open(t.Context(), tabpool.OpenOptions{})
		e := actortest.WantKind(t, err, apierr.Lost)
		if !strings.Contains(e.Message, "browser is gone") {
			t.Errorf("message is %s", e.Message)
		}
	})
}

func TestClosingThePoolEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		release, err := tab.Watch(t.Context(), actor.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		w := pool.Watch()
		next(t, w)
		b.Page(0).Hang()
		_, err = pool.Open(t.Context(), tabpool.OpenOptions{Viewport: dom.Box{Width: 100, Height: 100}})
		if err != nil {
			t.Fatal(err)
		}
		begun := tab.Head().Next()
		if err := pool.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-begun
		actortest.WantKind(t, tab.Err(), apierr.Lost)
		var kinds []actor.TabEventKind
		for {
			e, err := w.Next(t.Context())
			if err != nil {
				actortest.WantKind(t, err, apierr.Lost)
				break
			}
			kinds = append(kinds, e.Kind)
		}
		if fmt.Sprint(kinds) != "[0 1 1]" {
			t.Errorf("events are %v", kinds)
		}
		_, err = pool.Open(t.Context(), tabpool.OpenOptions{})
		actortest.WantKind(t, err, apierr.Lost)
		if _, err := pool.Watch().Next(t.Context()); err == nil {
			t.Error("a closed pool is watched")
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestAPageThatClosesItselfEndsItsTab(t *testing.T) {
	b, pool, tab := start(t, tabpool.Config{})
	if err := b.Page(0).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-tab.Done()
	if tab.Err() != nil {
		t.Errorf("the tab ended with %v", tab.Err())
	}
	if _, err := tab.Read(t.Context(), actor.ReadOptions{}); !apierr.Is(err, apierr.Closed) {
		t.Errorf("error is %v", err)
	}
	if len(pool.Tabs()) != 0 {
		t.Error("the tab is still listed")
	}
}

func TestABrowserThatDoesNotCloseAPageHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, pool, tab := start(t, tabpool.Config{})
		b.Page(0).HoldClose()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := pool.CloseTab(ctx, tab.ID()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		<-tab.Done()
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := pool.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		b.Die()
	})
}

// A page that the browser creates after its caller has left counts until it is removed.
func TestALeftoverPageKeepsItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		pool := tabpool.New(b, tabpool.Config{MaxTabs: 1})
		leave := func() (removed chan struct{}) {
			removed = make(chan struct{})
			b.FailOpen(&driver.NotCreatedError{Err: context.Canceled, Removed: removed})
			if _, err := pool.Open(t.Context(), tabpool.OpenOptions{}); !errors.Is(err, context.Canceled) {
				t.Errorf("the error is %v", err)
			}
			b.FailOpen(nil)
			_, err := pool.Open(t.Context(), tabpool.OpenOptions{})
			actortest.WantKind(t, err, apierr.Exhausted)
			return removed
		}
		close(leave())
		synctest.Wait()
		tab, err := pool.Open(t.Context(), tabpool.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.CloseTab(t.Context(), tab.ID()); err != nil {
			t.Error(err)
		}
		leave()
		if err := pool.Close(t.Context()); err != nil { // does not wait for a page that is never removed
			t.Error(err)
		}
	})
}

// No client knows the windows of a tab that could not be opened.
func TestTheWindowsOfATabThatFailsToOpenAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := actortest.NewBrowser()
		b.Serve("https://shop.example/", func() actortest.Screen { return actortest.Screen{Stall: true} })
		pool := tabpool.New(b, tabpool.Config{})
		ctx, cancel := context.WithCancel(t.Context())
		opened := make(chan error, 1)
		go func() {
			_, err := pool.Open(ctx, tabpool.OpenOptions{URL: "https://shop.example/"})
			opened <- err
		}()
		synctest.Wait()
		window := b.Page(0).Open("")
		synctest.Wait()
		inner := window.Open("")
		synctest.Wait()
		if n := len(pool.Tabs()); n != 3 {
			t.Fatalf("there are %d tabs, want the one that is opened and two windows", n)
		}
		cancel()
		if err := <-opened; !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		synctest.Wait()
		for _, page := range []*actortest.Page{window, inner} {
			select {
			case <-page.Closed():
			default:
				t.Errorf("%s is still open", page.ID())
			}
		}
		if tabs := pool.Tabs(); len(tabs) > 0 {
			t.Errorf("%d tabs are left", len(tabs))
		}
		if err := pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
