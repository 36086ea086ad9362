package documents

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
	"github.com/domtap/domtap/internal/browser/frames"
)

// TestFramesOfOtherSessionsAreAskedMeanwhile checks that a slow probe of a frame in another process does not delay other sessions.
func TestFramesOfOtherSessionsAreAskedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, r, list := readerOnWire(t, "A", "B", "A", "B")
		hold := make(chan struct{})
		calls := r.ask(t.Context(), list, round{probe: func(_ context.Context, agents []frames.Readable) {
			if len(agents) != 2 {
				t.Errorf("%d agents of a session are probed together, want 2", len(agents))
			}
			if agents[0].Agent.Session.ID == "B" {
				<-hold
			}
		}})
		defer calls.finish()
		for _, i := range []int{0, 2} {
			if k, err := calls.of(i); k == nil || err != nil {
				t.Errorf("agent %d is not asked: %v", i, err)
			}
		}
		synctest.Wait()
		if want := []target.SessionID{"A", "A"}; !slices.Equal(browser.sent(), want) {
			t.Errorf("commands went to %v, want %v", browser.sent(), want)
		}
		close(hold)
		for _, i := range []int{1, 3} {
			if k, err := calls.of(i); k == nil || err != nil {
				t.Errorf("agent %d is not asked: %v", i, err)
			}
		}
	})
}

func TestNobodyIsAskedAfterTheEndOfARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, r, list := readerOnWire(t, "A", "B")
		calls := r.ask(t.Context(), list, round{probe: func(ctx context.Context, _ []frames.Readable) { <-ctx.Done() }})
		calls.finish()
		for i := range list {
			if k, err := calls.of(i); k != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("agent %d: %v, %v", i, k, err)
			}
		}
		if sent := browser.sent(); len(sent) != 0 {
			t.Errorf("commands went to %v", sent)
		}
	})
}

// TestNoFrameLosesTimeToTheProbeOfAnother checks that the time limit for frames in other processes starts only after all frames were sent
// their command.
func TestNoFrameLosesTimeToTheProbeOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, r, list := readerOnWire(t, "A", "B", "C", "D")
		browser.answer()
		var out driver.ReadResult
		err := r.readOnce(t.Context(), list, round{probe: func(_ context.Context, agents []frames.Readable) {
			if agents[0].Agent.Session.ID == "C" {
				time.Sleep(FrameGrace + time.Millisecond)
			}
		}}, &out)
		if err != nil || len(out.Late) != 0 {
			t.Errorf("late are %v, %v", out.Late, err)
		}
	})
}

// readerOnWire returns the reader of a page with an agent in each of the given sessions. The first is the page's own session.
func readerOnWire(t *testing.T, sessions ...target.SessionID) (*wire, *Reader, []reading) {
	t.Helper()
	browser := newWire()
	conn := devtools.New(t.Context(), browser, devtoolstest.New(nil), func(*cdproto.Message) {})
	t.Cleanup(conn.Close)
	m := frames.New(frames.Page{ID: "page", Main: devtools.Session{Conn: conn, ID: sessions[0]}, Life: t.Context()})
	list := make([]reading, len(sessions))
	for i, id := range sessions {
		list[i].ID, list[i].Agent = cdp.FrameID(rune('0'+i)), &frames.Agent{Session: devtools.Session{Conn: conn, ID: id}}
	}
	return browser, NewReader(m, "", noSheets{}), list
}

type noSheets struct{}

func (noSheets) FailedSheets(string) ([]string, int) { return nil, 0 }

// wire is a browser that records the sessions of the commands.
type wire struct {
	*devtoolstest.Browser

	mu sync.Mutex
	// answering makes the browser respond to each command that the document has not changed.
	answering bool
	sessions  []target.SessionID
}

func newWire() *wire {
	w := new(wire)
	w.Browser = devtoolstest.New(w.hear)
	return w
}

// answer starts to respond to commands.
func (w *wire) answer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answering = true
}

func (w *wire) hear(command *cdproto.Message) *cdproto.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, command.SessionID)
	if !w.answering {
		return nil
	}
	return &cdproto.Message{Result: []byte(`{"result":{"type":"string","value":"1\t\t1.0\t0"}}`)}
}

// sent returns the sessions of the commands.
func (w *wire) sent() []target.SessionID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sessions)
}
