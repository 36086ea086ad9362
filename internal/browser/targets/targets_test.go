package targets

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/browser/devtools/devtoolstest"
)

// transport is a browser that records the commands.
type transport struct {
	*devtoolstest.Browser
	sent []string
}

// run runs a test on the targets of a browser that responds to each command with answer.
func run(t *testing.T, of Browser, answer func(*cdproto.Message) *cdproto.Message, test func(t *testing.T, browser *transport, all *Targets)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		browser := new(transport)
		browser.Browser = devtoolstest.New(func(m *cdproto.Message) *cdproto.Message {
			browser.sent = append(browser.sent, string(m.Method)+string(m.Params))
			return answer(m)
		})
		conn := devtools.New(ctx, browser, devtoolstest.New(nil), func(*cdproto.Message) {})
		test(t, browser, New(ctx, devtools.Session{Conn: conn}, of, slog.New(slog.DiscardHandler)))
		cancel()
		conn.Close()
	})
}

func result(json string) *cdproto.Message { return &cdproto.Message{Result: []byte(json)} }

func failure(message string) *cdproto.Message {
	return &cdproto.Message{Error: &cdproto.Error{Code: -32000, Message: message}}
}

func TestATargetGetsAWindowWhereThereIsNone(t *testing.T) {
	answers := []*cdproto.Message{failure("no browser is open"), result(`{"targetId":"T1"}`)}
	next := func(*cdproto.Message) (a *cdproto.Message) {
		a, answers = answers[0], answers[1:]
		return a
	}
	run(t, Browser{}, next, func(t *testing.T, browser *transport, all *Targets) {
		id, err := all.Open(t.Context(), "C")
		if err != nil || id != "T1" {
			t.Fatalf("opened %q, %v", id, err)
		}
		want := `Target.createTarget{"url":"about:blank","browserContextId":"C","newWindow":true}`
		if len(browser.sent) != 2 || !slices.Contains(browser.sent, want) {
			t.Errorf("sent %q, want %q", browser.sent, want)
		}
	})
}

// TestWindowsOfTheShellAreAwayFromItsPointer opens a target and moves the windows of targets that pages have opened.
func TestWindowsOfTheShellAreAwayFromItsPointer(t *testing.T) {
	for bounds, moves := range map[string]bool{`{"left":0,"top":0}`: true, `{}`: true, `{"left":-5,"top":0}`: true, `{"left":40,"top":0}`: false, `{"left":0,"top":9}`: false} {
		answer := func(m *cdproto.Message) *cdproto.Message {
			return result(map[string]string{
				"Target.createTarget": `{"targetId":"T1"}`, "Browser.getWindowForTarget": `{"windowId":3,"bounds":` + bounds + `}`,
				"Browser.setWindowBounds": `{}`}[string(m.Method)])
		}
		run(t, Browser{Shell: true}, answer, func(t *testing.T, browser *transport, all *Targets) {
			if _, err := all.Open(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			if err := all.Uncover(t.Context(), "T2"); err != nil {
				t.Fatal(err)
			}
			want := []string{`Target.createTarget{"url":"about:blank","left":1,"top":1,"width":0,"height":0}`, `Browser.getWindowForTarget{"targetId":"T2"}`}
			if moves {
				want = append(want, `Browser.setWindowBounds{"windowId":3,"bounds":{"left":1,"top":1}}`)
			}
			if !slices.Equal(browser.sent, want) {
				t.Errorf("%s: sent %q, want %q", bounds, browser.sent, want)
			}
		})
	}
	run(t, Browser{}, nil, func(t *testing.T, browser *transport, all *Targets) {
		if err := all.Uncover(t.Context(), "T2"); err != nil || browser.sent != nil {
			t.Errorf("Chromium was sent %q, %v", browser.sent, err)
		}
	})
}

func TestATargetIsClosedUntilTheBrowserHasNone(t *testing.T) {
	answers := []*cdproto.Message{result(`{"success":true}`), result(`{"success":true}`), failure("No target with given id found")}
	next := func(*cdproto.Message) (a *cdproto.Message) {
		a, answers = answers[0], answers[1:]
		return a
	}
	run(t, Browser{}, next, func(t *testing.T, browser *transport, all *Targets) {
		<-all.Discard("T1")
		if len(browser.sent) != 3 {
			t.Errorf("sent %q", browser.sent)
		}
		if left := all.Abandoned(); left != nil {
			t.Errorf("left %q", left)
		}
	})
}

func TestTheNextConnectionClosesWhatCouldNotBeClosed(t *testing.T) {
	refuse := func(*cdproto.Message) *cdproto.Message { return failure("not now") }
	var before *Targets
	run(t, Browser{}, refuse, func(t *testing.T, _ *transport, all *Targets) {
		all.Abandon("T1")
		<-all.Discard("T1")
		<-all.Discard("T2")
		before = all
	})
	if left := before.Abandoned(); !slices.Equal(left, []target.ID{"T1", "T2"}) {
		t.Fatalf("left %q", left)
	}
	run(t, Browser{}, refuse, func(t *testing.T, browser *transport, all *Targets) {
		all.CloseAbandoned(t.Context(), before)
		want := []string{`Target.closeTarget{"targetId":"T1"}`, `Target.closeTarget{"targetId":"T2"}`}
		if !slices.Equal(browser.sent, want) {
			t.Errorf("sent %q, want %q", browser.sent, want)
		}
	})
}

func TestABrowserOfOurOwnLeavesNoTargets(t *testing.T) {
	run(t, Browser{Owned: true}, func(*cdproto.Message) *cdproto.Message { return failure("not now") }, func(t *testing.T, _ *transport, all *Targets) {
		<-all.Discard("T1")
		if left := all.Abandoned(); left != nil {
			t.Errorf("left %q", left)
		}
	})
}

func TestWhatIsStillBeingRemovedIsUnfinished(t *testing.T) {
	failed := errors.New("no memory")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	removing, removed := make(chan struct{}), make(chan struct{})
	close(removed)
	var unfinished *driver.NotCreatedError
	if err := NotCreated(ended, failed, removing); !errors.As(err, &unfinished) || !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	for _, channel := range []chan struct{}{removed, nil} {
		if err := NotCreated(t.Context(), failed, channel); err != failed {
			t.Errorf("got %v", err)
		}
	}
	if err := NotCreated(ended, nil, removing); err != nil {
		t.Errorf("got %v", err)
	}
}
