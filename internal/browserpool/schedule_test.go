package browserpool_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/sessions"
)

// Browsers die and hang at any moment, including while sessions are created, changed, closed and restored. When the faults end, each open
// session is in exactly one browser, with its newest settings, and no closed session is in any browser.
func TestAnyOrderOfDeathsLeavesTheSessionsThatThereAre(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			withBrowsers(t, 3, func(t *testing.T, w *world) {
				random := rand.New(rand.NewPCG(seed, 7))
				w.prepare = func(e *engine) { e.delay = 300 * time.Millisecond }
				for slot := range 3 {
					e, _ := w.newest(slot)
					e.delay = 300 * time.Millisecond
				}
				ends := time.Now().Add(2 * time.Minute)
				var all sync.WaitGroup
				all.Go(func() { harm(w, rand.New(rand.NewPCG(seed, 8)), ends) })
				live := make([]map[string]sessions.Context, 4)
				width := make([]map[string]int, 4)
				for i := range live {
					live[i], width[i] = map[string]sessions.Context{}, map[string]int{}
					own := rand.New(rand.NewPCG(seed, random.Uint64()))
					all.Go(func() { client(t, w, own, ends, fmt.Sprint("c", i), live[i], width[i]) })
				}
				all.Wait()
				time.Sleep(5 * time.Minute) // all browsers are up again
				there := map[string]int{}
				for slot := range 3 {
					e, _ := w.newest(slot)
					for _, name := range e.Open() {
						there[name]++
					}
				}
				delete(there, sessions.Default)
				for i := range live {
					for name := range live[i] {
						w.ready(name)
						if there[name] != 1 {
							t.Errorf("session %s is in %d browsers", name, there[name])
						}
						delete(there, name)
						for slot := range 3 {
							e, _ := w.newest(slot)
							c := e.Context(name)
							if c == nil {
								continue
							}
							if got := c.Settings(); got[len(got)-1].Emulation.Width != width[i][name] {
								t.Errorf("session %s has width %d, want %d", name, got[len(got)-1].Emulation.Width, width[i][name])
							}
						}
					}
				}
				if len(there) > 0 {
					t.Errorf("sessions that nobody has are left: %v", there)
				}
			})
		})
	}
}

// harm kills browsers, makes them hang, and makes starts fail.
func harm(w *world, random *rand.Rand, ends time.Time) {
	for time.Now().Before(ends) {
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		slot := random.IntN(3)
		e, _ := w.newest(slot)
		switch random.IntN(6) {
		case 0:
			e.hang()
		case 1:
			w.fail(slot, errors.New("no memory"))
			time.Sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
			w.fail(slot, nil)
		default:
			e.die()
		}
	}
}

// client creates, changes and closes its own sessions, one call at a time, and records the open ones in live.
func client(t *testing.T, w *world, random *rand.Rand, ends time.Time, id string, live map[string]sessions.Context, width map[string]int) {
	unlost := func(what string, err error) {
		var e *apierr.Error
		if err != nil && (!errors.As(err, &e) || e.Kind != apierr.Lost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for n := 1; time.Now().Before(ends); n++ {
		time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
		name := ""
		for one := range live {
			name = max(name, one)
		}
		switch random.IntN(4) {
		case 0:
			name = fmt.Sprint(id, "-", n)
			c, err := w.NewContext(t.Context(), name, sessions.Settings{Emulation: sessions.Emulation{Width: n}})
			unlost("make", err)
			if err == nil {
				live[name], width[name] = c, n
			}
		case 1:
			if name == "" {
				continue
			}
			err := live[name].Configure(t.Context(), sessions.Settings{Emulation: sessions.Emulation{Width: n}})
			unlost("change", err)
			if err == nil {
				width[name] = n
			}
		case 2:
			if name == "" || len(live) < 3 {
				continue
			}
			if err := live[name].Close(t.Context(), false); err != nil {
				t.Errorf("close: %v", err)
			}
			delete(live, name)
		case 3:
			_, err := w.NewPage(t.Context(), driver.PageOptions{Session: name})
			unlost("open", err)
		}
	}
}
