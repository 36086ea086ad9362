package windows

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
)

// transport is a browser that responds to each command with a result. It reports window number 3 for target T3.
type transport struct {
	*devtoolstest.Browser
	refuse bool

	mu   sync.Mutex
	sent []string
}

func newTransport() *transport {
	t := new(transport)
	t.Browser = devtoolstest.New(t.answer)
	return t
}

func (t *transport) answer(m *cdproto.Message) *cdproto.Message {
	if string(m.Method) != "Browser.getWindowForTarget" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.sent = append(t.sent, string(m.SessionID)+" "+string(m.Method)+string(m.Params))
		return &cdproto.Message{Result: []byte(`{}`)}
	}
	if t.refuse {
		return &cdproto.Message{Error: &cdproto.Error{Code: -32000, Message: "no such window"}}
	}
	number := strings.TrimSuffix(strings.TrimPrefix(string(m.Params), `{"targetId":"T`), `"}`)
	return &cdproto.Message{Result: []byte(`{"windowId":` + number + `,"bounds":{}}`)}
}

// take returns the commands since the last call.
func (t *transport) take() []string {
	synctest.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	sent := t.sent
	t.sent = nil
	return sent
}

// run runs a test on the windows of seven pages, each of 640 by 480 pixels.
func run(t *testing.T, test func(t *testing.T, browser *transport, all []*Window)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		browser := newTransport()
		conn := devtools.New(ctx, browser, devtoolstest.New(nil), func(*cdproto.Message) {})
		root := devtools.Session{Conn: conn}
		windows := New(ctx, root, slog.New(slog.DiscardHandler))
		var all []*Window
		for i := range 7 {
			page := devtools.Session{Conn: conn, ID: target.SessionID(fmt.Sprint("S", i))}
			all = append(all, windows.Of(page, target.ID(fmt.Sprint("T", i)), func() (int64, int64) { return 640, 480 }))
		}
		test(t, browser, all)
		cancel()
		conn.Close()
	})
}

// resized returns the commands that give window i a size.
func resized(i int, width, height int) []string {
	return []string{
		fmt.Sprintf(` Browser.setWindowBounds{"windowId":%d,"bounds":{"width":%d,"height":%d}}`, i, width, height),
		fmt.Sprintf(`S%d Emulation.setVisibleSize{"width":640,"height":480}`, i),
	}
}

func drawn(i int) []string { return resized(i, 800, 600) }

func shrunk(i int) []string { return resized(i, 1, 1) }

func hidden(i int) []string { return resized(i, 0, 0) }

func TestWindowsThatWereUsedLastStayDrawn(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		var want []string
		for i, w := range all[:alwaysDrawn] {
			w.Draw(t.Context())
			want = append(want, drawn(i)...)
		}
		all[0].Draw(t.Context()) // already drawn, and now the last used window
		time.Sleep(100 * minDrawn)
		if got := browser.take(); !slices.Equal(got, want) {
			t.Fatalf("sent %q, want %q", got, want)
		}
		all[alwaysDrawn].Draw(t.Context())
		time.Sleep(shrinkDelay)
		if got, want := browser.take(), slices.Concat(drawn(alwaysDrawn), shrunk(1), hidden(1)); !slices.Equal(got, want) {
			t.Errorf("for one more it sent %q, want %q", got, want)
		}
		all[1].Draw(t.Context())
		time.Sleep(shrinkDelay / 2)
		all[2].Draw(t.Context()) // which has the size point now
		time.Sleep(2 * shrinkDelay)
		if got, want := browser.take(), slices.Concat(drawn(1), shrunk(2), drawn(2), shrunk(3), hidden(3)); !slices.Equal(got, want) {
			t.Errorf("for those that are not drawn it sent %q, want %q", got, want)
		}
	})
}

func TestAWindowRestsBeforeItIsDrawnNoMore(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		for _, w := range all {
			w.Draw(t.Context())
			time.Sleep(minDrawn / 10)
		}
		if got := browser.take(); len(got) != 2*len(all) {
			t.Fatalf("at first it sent %q", got)
		}
		all[0].Draw(t.Context())
		time.Sleep(minDrawn + shrinkDelay)
		want := slices.Concat(shrunk(1), shrunk(2), shrunk(3), hidden(1), hidden(2), hidden(3))
		if got := browser.take(); !slices.Equal(got, want) {
			t.Errorf("later it sent %q, want %q", got, want)
		}
	})
}

func TestAPageThatIsGoneMakesRoom(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		for _, w := range all[:alwaysDrawn+1] {
			w.Draw(t.Context())
		}
		browser.take()
		all[2].Close()
		all[2].Draw(t.Context())
		time.Sleep(2 * minDrawn)
		if got := browser.take(); got != nil {
			t.Errorf("sent %q, want nothing", got)
		}
	})
}

func TestAWindowThatIsNotKnownIsNotDrawn(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		browser.refuse = true
		all[0].Draw(t.Context())
		if got := browser.take(); got != nil {
			t.Errorf("sent %q, want nothing", got)
		}
		browser.refuse = false
		all[0].Draw(t.Context())
		if got := browser.take(); !slices.Equal(got, drawn(0)) {
			t.Errorf("later it sent %q", got)
		}
		var none *Window
		none.Draw(t.Context())
		none.Close()
	})
}

// TestHiddenWindowsAreDrawnNowAndThen checks that hidden windows are drawn regularly, because the browser keeps data of every frame that is
// not presented, and the page makes one per second.
func TestHiddenWindowsAreDrawnNowAndThen(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		for _, w := range all[:alwaysDrawn+2] {
			w.Draw(t.Context())
		}
		time.Sleep(minDrawn + shrinkDelay)
		browser.take()
		time.Sleep(maxHidden - shrinkDelay)
		if got := browser.take(); got != nil {
			t.Fatalf("too early it sent %q", got)
		}
		time.Sleep(shrinkDelay + redrawTime + 2*shrinkDelay)
		want := slices.Concat(drawn(0), drawn(1), shrunk(1), shrunk(0), hidden(1), hidden(0))
		if got := browser.take(); !slices.Equal(got, want) {
			t.Fatalf("after a minute it sent %q, want %q", got, want)
		}
		all[0].Close()
		all[1].Draw(t.Context())
		time.Sleep(minDrawn + shrinkDelay)
		if got, want := browser.take(), slices.Concat(drawn(1), shrunk(2), hidden(2)); !slices.Equal(got, want) {
			t.Errorf("for one that is used again it sent %q, want %q", got, want)
		}
		time.Sleep(maxHidden + redrawTime + shrinkDelay)
		if got, want := browser.take(), slices.Concat(drawn(2), shrunk(2), hidden(2)); !slices.Equal(got, want) {
			t.Errorf("after another minute it sent %q, want %q", got, want)
		}
	})
}

func TestNotAllHiddenWindowsAreDrawnAtOnce(t *testing.T) {
	run(t, func(t *testing.T, browser *transport, all []*Window) {
		windows := all[0].all
		for i := len(all); i < 3*maxDrawn; i++ {
			all = append(all, windows.Of(all[0].page, target.ID(fmt.Sprint("T", i)), all[0].size))
		}
		for _, w := range all {
			w.Draw(t.Context())
		}
		time.Sleep(minDrawn + shrinkDelay)
		most := 0
		for range 300 {
			time.Sleep(time.Second)
			browser.take()
			windows.mu.Lock()
			most = max(most, len(windows.drawn))
			for _, w := range windows.hidden {
				if hidden := time.Since(w.vanished); hidden > 2*maxHidden {
					t.Errorf("%s was hidden for %v", w.target, hidden)
				}
			}
			windows.mu.Unlock()
		}
		if most != maxDrawn {
			t.Errorf("%d windows were drawn at once, want %d", most, maxDrawn)
		}
	})
}
