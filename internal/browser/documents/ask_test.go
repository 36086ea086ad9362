package documents

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/frames"
)

// TestFramesOfOtherSessionsAreAskedMeanwhile: the probe of a frame in another process may take long.
func TestFramesOfOtherSessionsAreAskedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, r, list := readerOnWire(t, "A", "B", "A", "B")
		hold := make(chan struct{})
		asked := r.ask(t.Context(), list, driver.ReadRequest{}, func(_ context.Context, agents []frames.Readable) {
			if len(agents) != 2 {
				t.Errorf("%d agents of a session are probed together, want 2", len(agents))
			}
			if agents[0].Agent.Session.ID == "B" {
				<-hold
			}
		})
		defer asked.finish()
		for _, i := range []int{0, 2} {
			if k, err := asked.call(i); k == nil || err != nil {
				t.Errorf("agent %d is not asked: %v", i, err)
			}
		}
		synctest.Wait()
		if want := []target.SessionID{"A", "A"}; !slices.Equal(browser.sent(), want) {
			t.Errorf("commands went to %v, want %v", browser.sent(), want)
		}
		close(hold)
		for _, i := range []int{1, 3} {
			if k, err := asked.call(i); k == nil || err != nil {
				t.Errorf("agent %d is not asked: %v", i, err)
			}
		}
	})
}

func TestNobodyIsAskedAfterTheEndOfARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		browser, r, list := readerOnWire(t, "A", "B")
		asked := r.ask(t.Context(), list, driver.ReadRequest{}, func(ctx context.Context, _ []frames.Readable) { <-ctx.Done() })
		asked.finish()
		for i := range list {
			if k, err := asked.call(i); k != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("agent %d: %v, %v", i, k, err)
			}
		}
		if sent := browser.sent(); len(sent) != 0 {
			t.Errorf("commands went to %v", sent)
		}
	})
}

// readerOnWire is a reader of a page with an agent in each of some sessions, the first of which is the page's own.
func readerOnWire(t *testing.T, sessions ...target.SessionID) (*wire, *Reader, []reading) {
	t.Helper()
	browser := &wire{closed: make(chan struct{})}
	conn := devtools.New(t.Context(), browser, &wire{closed: make(chan struct{})}, func(*cdproto.Message) {})
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

// wire takes commands and answers none.
type wire struct {
	mu       sync.Mutex
	sessions []target.SessionID
	once     sync.Once
	closed   chan struct{}
}

func (w *wire) Write(_ context.Context, m *cdproto.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, m.SessionID)
	return nil
}

func (w *wire) Read(context.Context, *cdproto.Message) error {
	<-w.closed
	return io.EOF
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// sent lists the sessions of the commands.
func (w *wire) sent() []target.SessionID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sessions)
}
