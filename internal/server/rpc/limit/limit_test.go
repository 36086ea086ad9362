package limit

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func exceeds(t *testing.T, err error, limit string) *Exceeded {
	t.Helper()
	var e *Exceeded
	if !errors.As(err, &e) || e.Limit != limit || e.Message == "" || e.Max == "" {
		t.Fatalf("got %v (%+v), want the limit %s", err, e, limit)
	}
	return e
}

func TestRateLimitNamesARetryDelayThatWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{CallsPerSecond: 10, Burst: 3})
		for i := range 3 {
			if err := l.Call("a"); err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
		}
		e := exceeds(t, l.Call("a"), Calls)
		if e.Retry != 100*time.Millisecond || e.Client != "a" {
			t.Errorf("got %+v", e)
		}
		exceeds(t, l.Call("a"), Calls) // a refused call uses no allowance
		if err := l.Call("b"); err != nil {
			t.Errorf("another client pays for it: %v", err)
		}
		time.Sleep(e.Retry)
		if err := l.Call("a"); err != nil {
			t.Errorf("not when it was told: %v", err)
		}
		exceeds(t, l.Call("a"), Calls)
	})
}

func TestNoRateIsNoLimit(t *testing.T) {
	l := New(Config{})
	for range 10_000 {
		if err := l.Call("a"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStreamsAreCountedPerClientAndInAll(t *testing.T) {
	l := New(Config{Streams: 3, StreamsPerClient: 2})
	take := func(name string) func() {
		t.Helper()
		release, err := l.Stream(name)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := take("a")
	take("a")
	_, err := l.Stream("a")
	if e := exceeds(t, err, StreamsPerClient); e.Client != "a" || e.Max != "2" {
		t.Errorf("got %+v", e)
	}
	take("b")
	_, err = l.Stream("b")
	exceeds(t, err, Streams)
	first()
	take("c")
}

func TestRefusedConnectionGetsTheNextFreeSlot(t *testing.T) {
	l := New(Config{Connections: 1})
	one, two := l.WithSlot(t.Context(), false), l.WithSlot(t.Context(), false)
	if err := l.Connected(one); err != nil {
		t.Fatal(err)
	}
	exceeds(t, l.Connected(two), Connections)
	l.Disconnected(one)
	l.Disconnected(one) // a second call has no effect
	if err := l.Connected(two); err != nil {
		t.Fatal(err)
	}
	if err := l.Connected(one); err != nil { // the last calls of a closed connection are not refused
		t.Fatal(err)
	}
	exceeds(t, l.Connected(l.WithSlot(t.Context(), false)), Connections)
	if err := l.Connected(t.Context()); err != nil {
		t.Errorf("a call without a connection: %v", err)
	}
}

func TestOtherNetworksLeaveRoomForTheSocket(t *testing.T) {
	l := New(Config{Connections: 1})
	if err := l.Connected(l.WithSlot(t.Context(), false)); err != nil {
		t.Fatal(err)
	}
	exceeds(t, l.Connected(l.WithSlot(t.Context(), false)), Connections)
	if err := l.Connected(l.WithSlot(t.Context(), true)); err != nil {
		t.Errorf("the socket has no room: %v", err)
	}
}

func TestMessagesAreMeasured(t *testing.T) {
	l := New(Config{RequestBytes: 10, ResponseBytes: 20})
	exceeds(t, l.CheckRequest(11), Request)
	exceeds(t, l.CheckAnswer(21), Response)
	if err := errors.Join(l.CheckRequest(10), l.CheckAnswer(20)); err != nil {
		t.Error(err)
	}
	if c := New(Config{}).Config(); c.RequestBytes != 12<<20 || c.ResponseBytes != 64<<20 {
		t.Errorf("got %+v", c)
	}
}

func TestClientsThatHaveGoneAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{CallsPerSecond: 1, Burst: 1})
		release, err := l.Stream("watcher")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10_000 {
			if err := l.Call(fmt.Sprint(i)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if len(l.clients) > 2*minClients {
			t.Errorf("%d clients are kept", len(l.clients))
		}
		if l.clients["watcher"] == nil {
			t.Error("one with a stream was forgotten")
		}
		release()
	})
}

func TestLimitsAreReleased(t *testing.T) {
	l := New(Config{Streams: 50, StreamsPerClient: 20, Connections: 10, CallsPerSecond: 1e9})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for range 200 {
				ctx := l.WithSlot(t.Context(), false)
				_ = l.Connected(ctx)
				if release, err := l.Stream(fmt.Sprint(i % 3)); err == nil {
					release()
				}
				l.Disconnected(ctx)
			}
		})
	}
	all.Wait()
	if l.streams != 0 || l.sockets != 0 || l.others != 0 {
		t.Errorf("%d streams and %d connections are left", l.streams, l.sockets+l.others)
	}
}

func TestNegativeLimitsAreRefused(t *testing.T) {
	for _, c := range []Config{{CallsPerSecond: -1}, {CallsPerSecond: math.NaN()}, {Burst: -1}, {Streams: -1}, {StreamsPerClient: -1}, {Connections: -1}, {RequestBytes: -1}, {ResponseBytes: -1}} {
		if c.Check() == nil {
			t.Errorf("%+v passed", c)
		}
	}
	if err := (Config{}).Check(); err != nil {
		t.Error(err)
	}
}
