package browserpool_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/sessions"
)

var phone = sessions.Settings{Emulation: sessions.Emulation{Device: "Pixel 8"}, DenyDownloads: true}

func TestABrowserThatDiesIsStartedAgain(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		page, err := w.NewPage(w.Context(), driver.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		before := time.Now()
		w.kill(0)
		for e := range page.Events() {
			if gone, ok := e.(driver.Gone); ok && gone.Err == nil {
				t.Error("the page was closed and not lost")
			}
		}
		_, err = w.NewPage(w.Context(), driver.PageOptions{})
		w.lost(err)
		w.ready("")
		if took := time.Since(before); took < 80*time.Millisecond || took > 120*time.Millisecond {
			t.Errorf("it was back after %v", took)
		}
		if _, err := w.NewPage(w.Context(), driver.PageOptions{}); err != nil {
			t.Error(err)
		}
		e, n := w.newest(0)
		if n != 2 || w.Restarts() != 1 || w.Up() != 1 || e.warm != 2 {
			t.Errorf("%d browsers, %d restarts, %d up, %d warm", n, w.Restarts(), w.Up(), e.warm)
		}
	})
}

// Ready does not return while the session's browser is dead, whichever component learns of the death first.
func TestReadyDoesNotTakeTheDeadForTheLiving(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		page, err := w.NewPage(w.Context(), driver.PageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		again := make(chan error)
		go func() {
			for range page.Events() { // until the page is gone
			}
			if err := w.Ready(t.Context(), ""); err != nil {
				again <- err
				return
			}
			_, err := w.NewPage(t.Context(), driver.PageOptions{})
			again <- err
		}()
		w.kill(0)
		if err := <-again; err != nil {
			t.Error(err)
		}
	})
}

func TestABrowserThatHangsIsKilled(t *testing.T) {
	withBrowsers(t, 2, func(t *testing.T, w *world) {
		w.create("b", sessions.Settings{})
		e, _ := w.newest(1)
		time.Sleep(time.Hour) // the browser keeps answering
		if e.killed {
			t.Fatal("a browser was killed that answers")
		}
		e.hang()
		before := time.Now()
		<-e.Done()
		if silent := time.Since(before); !e.killed || silent < 15*time.Second || silent > 20*time.Second {
			t.Errorf("it was killed (%t) after %v", e.killed, silent)
		}
		w.ready("b")
		if _, n := w.newest(0); n != 1 {
			t.Error("the other browser was started again, too")
		}
	})
}

func TestABrowserThatAnswersLateLives(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		e, _ := w.newest(0)
		e.hang()
		time.Sleep(14 * time.Second)
		e.mu.Lock()
		hung := e.hung
		e.hung = nil
		e.mu.Unlock()
		close(hung)
		time.Sleep(time.Minute)
		if e.killed {
			t.Error("a browser was killed that answered in time")
		}
	})
}

func TestDelaysDoubleAndDecay(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		w.fail(0, errors.New("no memory"))
		w.kill(0)
		time.Sleep(5 * time.Minute)
		w.mu.Lock()
		starts := slices.Clone(w.starts[0])
		w.mu.Unlock()
		want := 100 * time.Millisecond
		for i := 2; i < len(starts); i++ { // the first delay counts from the death
			want = min(2*want, 30*time.Second)
			if got := starts[i].Sub(starts[i-1]); got < want*8/10-time.Millisecond || got > want*12/10+time.Millisecond {
				t.Errorf("delay %d is %v, want about %v", i, got, want)
			}
		}
		if len(starts) < 15 {
			t.Fatalf("%d starts", len(starts))
		}
		w.fail(0, nil)
		w.ready("")
		// The longer a browser lives, the shorter is the next delay.
		for lived, most := range map[time.Duration]time.Duration{5 * time.Second: 36 * time.Second, 10 * time.Minute: 130 * time.Millisecond} {
			time.Sleep(lived)
			before := time.Now()
			w.kill(0)
			w.ready("")
			if took := time.Since(before); took > most {
				t.Errorf("after a life of %v it was down for %v", lived, took)
			}
			time.Sleep(time.Hour)
		}
	})
}

func TestTheFirstStartMustSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, made: make([][]*engine, 2), refuse: []error{errors.New("no such program"), nil}, starts: make([][]time.Time, 2)}
		_, err := browserpool.Start(t.Context(), browserpool.Config{Starters: w.starters()})
		if err == nil || !strings.Contains(err.Error(), "no such program") {
			t.Errorf("error %v", err)
		}
		if e := w.made[1]; len(e) != 1 || e[0].closed != 1 {
			t.Error("the other browser was left")
		}
	})
}

func TestTheOthersMayComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, made: make([][]*engine, 2), refuse: []error{nil, errors.New("not there yet")}, starts: make([][]time.Time, 2)}
		var err error
		if w.Pool, err = browserpool.Start(t.Context(), browserpool.Config{Starters: w.starters()}); err != nil {
			t.Fatal(err)
		}
		w.create("first", sessions.Settings{})
		if name := w.Owner("first"); name != "" || w.Up() != 1 {
			t.Errorf("the session is in %q, %d run", name, w.Up())
		}
		w.fail(1, nil)
		time.Sleep(time.Minute)
		w.create("second", sessions.Settings{})
		if name := w.Owner("second"); name != "b1" || w.Up() != 2 {
			t.Errorf("the session is in %q, %d run", name, w.Up())
		}
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestSessionsAreLaidWhereLeastIsToDo(t *testing.T) {
	withBrowsers(t, 3, func(t *testing.T, w *world) {
		var got []string
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			w.create(name, sessions.Settings{})
			got = append(got, w.Owner(name))
		}
		if want := []string{"b1", "b2", "", "b1", "b2"}; !slices.Equal(got, want) {
			t.Errorf("they are in %q, want %q", got, want)
		}
		for range 3 {
			if _, err := w.NewPage(t.Context(), driver.PageOptions{Session: "c"}); err != nil {
				t.Fatal(err)
			}
		}
		w.kill(1)
		synctest.Wait()
		w.create("f", sessions.Settings{}) // the first browser has three pages, and the second is down
		if name := w.Owner("f"); name != "b2" {
			t.Errorf("it is in %q", name)
		}
		if name := w.Owner("nobody"); name != "" {
			t.Errorf("a session that is none is in %q", name)
		}
		for slot := range 3 {
			w.fail(slot, errors.New("no"))
			w.kill(slot)
		}
		synctest.Wait()
		_, err := w.NewContext(t.Context(), "g", sessions.Settings{})
		w.lost(err)
	})
}

// If a browser dies while a session is created in it, the session is created in another browser without an error.
func TestASessionIsMadeElsewhereWhenItsBrowserDies(t *testing.T) {
	withBrowsers(t, 2, func(t *testing.T, w *world) {
		e, _ := w.newest(1)
		e.slow = make(chan struct{})
		made := make(chan error)
		go func() {
			_, err := w.NewContext(t.Context(), "a", sessions.Settings{})
			made <- err
		}()
		synctest.Wait()
		e.die()
		close(e.slow)
		if err := <-made; err != nil || w.Owner("a") != "" {
			t.Errorf("it is in %q: %v", w.Owner("a"), err)
		}
	})
}

func TestSessionsComeBackAsTheyWere(t *testing.T) {
	withBrowsers(t, 2, func(t *testing.T, w *world) {
		a := w.create("a", sessions.Settings{})
		if err := a.Configure(t.Context(), phone); err != nil {
			t.Fatal(err)
		}
		if err := w.DefaultContext().Configure(t.Context(), sessions.Settings{DenyDownloads: true}); err != nil {
			t.Fatal(err)
		}
		w.create("b", sessions.Settings{}) // in the first browser, which has only the default session
		e, _ := w.newest(1)
		soon := float64(time.Now().Add(10 * time.Second).Unix())
		id := sessions.Cookie{Name: "id", Value: "1", Domain: "shop.example", Path: "/"}
		e.set("a", id, sessions.Cookie{Name: "brief", Expires: soon})
		time.Sleep(4 * time.Second)
		w.fail(1, errors.New("no"))
		w.kill(1)
		synctest.Wait()
		w.lost(a.Configure(t.Context(), sessions.Settings{}))
		if life := a.(sessions.Restartable).Process(); life != (sessions.Process{Browser: "b1", Down: true}) {
			t.Errorf("while it is down: %+v", life)
		}
		time.Sleep(20 * time.Second) // a cookie expires in this time
		w.fail(1, nil)
		w.ready("a")
		again, _ := w.newest(1)
		side := again.Context("a")
		if got := side.Settings(); len(got) != 1 || !reflect.DeepEqual(got[0], phone) {
			t.Errorf("its settings are %+v", got)
		}
		if state, err := side.State(t.Context(), sessions.StateOptions{}); err != nil || !reflect.DeepEqual(state.Cookies, []sessions.Cookie{id}) {
			t.Errorf("its cookies are %+v, %v", state.Cookies, err)
		}
		if life := a.(sessions.Restartable).Process(); life != (sessions.Process{Browser: "b1", Restarts: 1}) {
			t.Errorf("its life is %+v", life)
		}
		if again.Context("b") != nil || again.Context("a").Closed() {
			t.Error("the wrong sessions came back")
		}
		w.kill(0)
		w.ready("")
		again, _ = w.newest(0)
		if got := again.Context(sessions.Default).Settings(); len(got) != 1 || !got[0].DenyDownloads {
			t.Errorf("the default session has %+v", got)
		}
		if again.Context("b") == nil {
			t.Error("session b did not come back")
		}
	})
}

// Cookies are read only after changes, and at most every few seconds for each session.
func TestCookiesAreReadWhenThereMayBeNewOnes(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		w.create("a", sessions.Settings{})
		e, _ := w.newest(0)
		reads := func() int {
			synctest.Wait()
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.asked["a"]
		}
		time.Sleep(time.Minute)
		if n := reads(); n != 0 {
			t.Errorf("%d reads for nothing", n)
		}
		for range 600 {
			e.set("a", sessions.Cookie{Name: "x"})
			time.Sleep(100 * time.Millisecond)
		}
		if n := reads(); n < 15 || n > 21 {
			t.Errorf("%d reads in a minute", n)
		}
	})
}

func TestACookieThatIsRefusedCostsNoOther(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		w.create("a", sessions.Settings{})
		e, _ := w.newest(0)
		e.set("a", sessions.Cookie{Name: "good"}, sessions.Cookie{Name: actortest.RefusedCookie}, sessions.Cookie{Name: "too"})
		time.Sleep(4 * time.Second)
		w.kill(0)
		w.ready("a")
		again, _ := w.newest(0)
		state, err := again.Context("a").State(t.Context(), sessions.StateOptions{})
		if err != nil || len(state.Cookies) != 2 {
			t.Errorf("the cookies are %+v, %v", state.Cookies, err)
		}
	})
}

// If a session has more cookies than the limit, the first ones are restored.
func TestCookieCopyIsBounded(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		w.create("a", sessions.Settings{})
		e, _ := w.newest(0)
		many := slices.Repeat([]sessions.Cookie{{Name: "x", Value: strings.Repeat("y", 4000)}}, 3000)
		e.set("a", many...)
		time.Sleep(4 * time.Second)
		if n := w.CopiedCookies("a"); n < 200 || n > 270 {
			t.Errorf("%d of 3000 cookies of 4 KB are kept", n)
		}
	})
}

// If a browser refuses one session, all others are restored. The client of the refused session gets an error with the next step.
func TestASessionThatIsRefusedCostsNoOther(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		a := w.create("a", phone)
		w.create("b", phone)
		if err := w.DefaultContext().Configure(t.Context(), phone); err != nil {
			t.Fatal(err)
		}
		w.prepare = func(e *engine) {
			e.refuses = "a"
			e.Context(sessions.Default).Fail(errors.New("no such setting"))
		}
		w.kill(0)
		w.ready("b")
		for name, advice := range map[string]string{"a": "close it and create another", "": "set them again"} {
			for what, err := range map[string]error{"waiting": w.Ready(t.Context(), name), "opening": open(w, name)} {
				var lost *apierr.Error
				if !errors.As(err, &lost) || lost.Kind != apierr.Lost || !strings.Contains(lost.Message, advice) {
					t.Errorf("%s in session %q: %v", what, name, err)
				}
			}
		}
		e, _ := w.newest(0)
		e.Context(sessions.Default).Fail(nil)
		if err := w.DefaultContext().Configure(t.Context(), sessions.Settings{}); err != nil {
			t.Error(err)
		}
		if err := open(w, ""); err != nil {
			t.Error(err)
		}
		if err := a.Close(t.Context(), false); err != nil {
			t.Error(err)
		}
	})
}

func open(w *world, session string) error {
	_, err := w.NewPage(w.Context(), driver.PageOptions{Session: session})
	return err
}

func TestASessionThatIsClosedDoesNotComeBack(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		a := w.create("a", sessions.Settings{})
		b := w.create("b", sessions.Settings{})
		w.fail(0, errors.New("no"))
		w.kill(0)
		synctest.Wait()
		if err := a.Close(t.Context(), false); err != nil {
			t.Error(err)
		}
		w.fail(0, nil)
		w.ready("b")
		e, _ := w.newest(0)
		if e.Context("a") != nil {
			t.Error("it came back")
		}
		if err := b.Close(t.Context(), false); err != nil || !e.Context("b").Closed() {
			t.Errorf("the other one: %v", err)
		}
		var missing *apierr.Error
		if err := w.Ready(t.Context(), "a"); !errors.As(err, &missing) || missing.Kind != apierr.NotFound {
			t.Errorf("waiting for it: %v", err)
		}
		if err := w.DefaultContext().Close(t.Context(), false); err == nil {
			t.Error("the default session was closed")
		}
	})
}

func TestCloseEndsWaitingCalls(t *testing.T) {
	withBrowsers(t, 1, func(t *testing.T, w *world) {
		w.fail(0, errors.New("no"))
		w.kill(0)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error, 2)
		go func() { waiting <- w.Ready(ctx, "") }()
		synctest.Wait()
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		go func() { waiting <- w.Ready(t.Context(), "") }()
		synctest.Wait()
		if err := w.end(t.Context()); err != nil {
			t.Error(err)
		}
		var lost *apierr.Error
		if err := <-waiting; !errors.As(err, &lost) || lost.Kind != apierr.Lost {
			t.Errorf("error %v", err)
		}
	})
}

// A browser that does not end on Close is killed when the caller's context ends.
func TestClosingIsBounded(t *testing.T) {
	withBrowsers(t, 2, func(t *testing.T, w *world) {
		e, _ := w.newest(1)
		e.stubborn = true
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		before := time.Now()
		if err := w.end(ctx); err != nil || time.Since(before) > 3*time.Second || !e.killed {
			t.Errorf("closed after %v, killed: %t, %v", time.Since(before), e.killed, err)
		}
	})
}

// Popups that no tab receives do not prevent a browser from ending, and the counts of running browsers arrive in order.
func TestPagesOfAllBrowsersAreDelivered(t *testing.T) {
	withBrowsers(t, 2, func(t *testing.T, w *world) {
		var ups []int
		w.OnChange(func(up int) { ups = append(ups, up) })
		for slot := range 2 {
			e, _ := w.newest(slot)
			page, err := e.NewPage(t.Context(), driver.PageOptions{})
			if err != nil {
				t.Fatal(err)
			}
			e.popups <- driver.Popup{Page: page}
		}
		<-w.Pages() // the other popup stays undelivered
		w.kill(1)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []int{2, 1, 2}; !slices.Equal(ups, want) {
			t.Errorf("told of %v browsers, want %v", ups, want)
		}
	})
}
