package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// pending is a running WaitFor call.
type pending struct {
	t      *testing.T
	done   chan struct{}
	answer *domtapv1.WaitForResponse
	err    error
	cancel context.CancelFunc
}

// waitFor starts a call and returns when the call is waiting or has returned.
func (b *bench) waitFor(r *domtapv1.WaitForRequest) *pending {
	ctx, cancel := context.WithCancel(b.t.Context())
	p := &pending{t: b.t, done: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(p.done)
		p.answer, p.err = b.dom.WaitFor(ctx, r)
	}()
	synctest.Wait()
	return p
}

func (p *pending) over() bool {
	synctest.Wait()
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *pending) wantWaiting(what string) {
	p.t.Helper()
	if p.over() {
		p.t.Fatalf("%s: the wait has ended with %v, %v", what, p.answer, p.err)
	}
}

func (p *pending) wantMet(what string) *domtapv1.WaitForResponse {
	p.t.Helper()
	if !p.over() {
		p.cancel()
		<-p.done
		p.t.Fatalf("%s: the wait goes on", what)
	}
	if p.err != nil {
		p.t.Fatalf("%s: %v", what, p.err)
	}
	return p.answer
}

func element(e *domtapv1.ElementCondition) *domtapv1.WaitCondition {
	return &domtapv1.WaitCondition{Element: e}
}

func until(tab *domtapv1.Tab, c *domtapv1.WaitCondition) *domtapv1.WaitForRequest {
	return &domtapv1.WaitForRequest{TabId: tab.GetId(), Until: c}
}

const gone, enabled, visible = domtapv1.ElementState_ELEMENT_STATE_GONE, domtapv1.ElementState_ELEMENT_STATE_ENABLED, domtapv1.ElementState_ELEMENT_STATE_VISIBLE

func TestWaitForAnElement(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		before := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		p := b.waitFor(until(tab, element(&domtapv1.ElementCondition{Role: "button", Name: "done"})))
		p.wantWaiting("before")
		add(page, "Other")
		p.wantWaiting("with another button")
		time.Sleep(time.Second)
		add(page, "All Done")
		m := p.wantMet("with the button")
		if m.GetElement().GetText() != "All Done" || m.GetRevision() != before.GetRevision()+2 || m.GetEpoch() != before.GetEpoch() ||
			m.GetUrl() != shopURL || m.GetTitle() != "Shop" || m.GetElapsed().AsDuration() != time.Second {
			t.Errorf("got %v", m)
		}
		if d := m.GetDiff(); d.GetAddedCount() != 2 || d.GetFromRevision() != before.GetRevision() || d.GetToRevision() != m.GetRevision() || m.GetResync() != nil {
			t.Errorf("the diff is %v", d)
		}
	})
}

func TestWaitForInAFormat(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		row := func(name string) *actortest.Node {
			return box("row", "", box("cell", name), box("cell", "", actortest.Button("Edit")))
		}
		tab, page := b.shop(actortest.Button("Pay"), row("Ada"), row("Alan"))
		b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), ClientId: "c", Format: domtapv1.Format_FORMAT_DENSE})
		wait := func(format domtapv1.Format, c *domtapv1.WaitCondition) *domtapv1.WaitForResponse {
			r := until(tab, c)
			r.Format, r.ClientId = format, "c"
			return b.waitFor(r).wantMet(c.String())
		}
		add(page, "Later") // before the wait starts, and after the client's last read
		m := wait(domtapv1.Format_FORMAT_DENSE_DIFF, element(&domtapv1.ElementCondition{Role: "button", Name: "Edit", Within: "Alan"}))
		if m.GetLine() != "[8] Edit (button) ‹Alan›" || m.GetDiff() != nil || !strings.HasPrefix(m.GetDiffText(), "+ [") || !strings.Contains(m.GetDiffText(), "] Later (button)\n") {
			t.Errorf("got %v", m)
		}
		if m := wait(domtapv1.Format_FORMAT_DENSE_DIFF, &domtapv1.WaitCondition{Url: "shop"}); m.GetDiffText() != "Changes: none\n" || m.GetLine() != "" {
			t.Errorf("nothing changed since: got %v", m)
		}
		if m := wait(domtapv1.Format_FORMAT_DIFF, &domtapv1.WaitCondition{Url: "shop"}); m.GetDiffText() != "Changes: none\n" || m.GetDiff() != nil {
			t.Errorf("as DIFF: got %v", m)
		}
		other := until(tab, &domtapv1.WaitCondition{Change: true})
		other.SinceRevision, other.Epoch, other.Format, other.ClientId = proto.Uint64(1), "other", domtapv1.Format_FORMAT_DENSE_DIFF, "new"
		if m := b.waitFor(other).wantMet("another epoch"); m.GetResync() == nil || !strings.HasPrefix(m.GetDiffText(), "URL: ") {
			t.Errorf("in place of unknown changes: got %v", m)
		}
		bad := until(tab, &domtapv1.WaitCondition{Url: "shop"})
		bad.Format = domtapv1.Format_FORMAT_DENSE
		_, err := b.dom.WaitFor(t.Context(), bad)
		wantCode(t, err, codes.InvalidArgument, "")
	})
}

func TestAReadStepHasAFormatAndContexts(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		row := func(name string) *actortest.Node {
			return box("row", "", box("cell", name), box("cell", "", actortest.Button("Edit")))
		}
		tab, _ := b.shop(row("Ada"), row("Alan"))
		read := func(format domtapv1.Format) (string, error) {
			step := &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{Format: format}}}
			got, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{step}})
			if err != nil {
				return "", err
			}
			return got.GetResults()[0].GetText(), nil
		}
		for format, want := range map[domtapv1.Format]string{
			domtapv1.Format_FORMAT_UNSPECIFIED: "Edit (button) ‹Alan›\n", domtapv1.Format_FORMAT_LINES: "Edit (button) ‹Ada›\n",
			domtapv1.Format_FORMAT_TREE: "  - cell", domtapv1.Format_FORMAT_DENSE: "| Ada |",
		} {
			if text, err := read(format); err != nil || !strings.Contains(text, want) {
				t.Errorf("%v: %v, no %q in\n%s", format, err, want, text)
			}
		}
		_, err := read(domtapv1.Format_FORMAT_DIFF)
		wantCode(t, err, codes.InvalidArgument, "")
	})
}

func TestWaitForReturnsAtOnceWhenTheConditionHolds(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"), actortest.Heading(1, "Welcome back"))
		for _, c := range []*domtapv1.WaitCondition{
			element(&domtapv1.ElementCondition{Name: "pay"}),
			element(&domtapv1.ElementCondition{Ref: proto.Uint32(0)}),
			element(&domtapv1.ElementCondition{Name: "nobody", State: gone}),
			{Text: "welcome"},
			{Url: "https://shop*"},
			{Text: "welcome", Url: "shop", Element: &domtapv1.ElementCondition{Role: "heading", State: enabled}},
		} {
			m := b.waitFor(until(tab, c)).wantMet(c.String())
			if m.GetElapsed().AsDuration() != 0 || m.GetDiff().GetAddedCount() != 0 {
				t.Errorf("%v: got %v", c, m)
			}
		}
		if push, _ := page.Observed(); push {
			t.Error("the page still pushes though nobody waits")
		}
	})
}

func TestWaitForStates(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay")
		pay.States.Disabled = dom.True
		tab, page := b.shop(pay)
		there := b.waitFor(until(tab, element(&domtapv1.ElementCondition{Name: "Pay", State: enabled})))
		away := b.waitFor(until(tab, element(&domtapv1.ElementCondition{Name: "Pay", State: gone})))
		there.wantWaiting("while disabled")
		page.Update(func(*actortest.Frame) { pay.States.Disabled = dom.False })
		there.wantMet("when enabled")
		away.wantWaiting("while there")
		page.Update(func(main *actortest.Frame) { main.Body = nil })
		if m := away.wantMet("when gone"); m.GetElement() != nil || m.GetDiff().GetRemovedCount() != 1 {
			t.Errorf("got %v", m)
		}
	})
}

func TestWaitForSeveralThingsAtOnce(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		p := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "Done", Url: "*/thanks"}))
		add(page, "Done")
		p.wantWaiting("with the text alone")
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[:1] })
		page.PushState(shopURL + "thanks")
		p.wantWaiting("with the URL alone: the text is gone again")
		add(page, "Done")
		if m := p.wantMet("with both"); m.GetUrl() != shopURL+"thanks" || m.GetElement().GetText() != "Done" {
			t.Errorf("got %v", m)
		}
	})
}

func TestWaitForFollowsNavigations(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		b.browser.Serve(shopURL+"next", func() actortest.Screen {
			return actortest.Screen{Title: "Next", Body: []*actortest.Node{actortest.Heading(1, "Thank you")}}
		})
		tab, page := b.shop(actortest.Button("Pay"))
		url := b.waitFor(until(tab, &domtapv1.WaitCondition{Url: "next"}))
		text := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "thank you"}))
		change := b.waitFor(until(tab, &domtapv1.WaitCondition{Change: true}))
		url.wantWaiting("before")
		page.Go(shopURL + "next")
		if m := url.wantMet("after"); m.GetUrl() != shopURL+"next" || m.GetResync().GetReason() != "navigated" || m.GetDiff() != nil {
			t.Errorf("got %v", m)
		}
		if m := text.wantMet("after"); m.GetElement().GetRole() != "heading" {
			t.Errorf("got %v", m)
		}
		change.wantMet("after")
	})
}

func TestWaitForSelectors(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay")
		hidden := actortest.Button("Hidden")
		hidden.Off = true
		tab, page := b.shop(pay, hidden)
		done := ""
		page.Match(".done", func(n *actortest.Node) bool { return n.Text == done })
		page.Match(".hidden", func(n *actortest.Node) bool { return n == hidden })
		waitFor := func(css string, state domtapv1.ElementState) *pending {
			return b.waitFor(until(tab, element(&domtapv1.ElementCondition{Selector: css, State: state})))
		}
		if m := waitFor(".hidden", 0).wantMet("hidden, but there"); m.GetElement() != nil {
			t.Errorf("got %v for an element that is not in the stored DOM", m)
		}
		if got := waitFor("!", 0); !got.over() || status.Code(got.err) != codes.InvalidArgument || !slices.Equal(violatedFields(got.err), []string{"until.element.selector"}) {
			t.Errorf("an invalid selector: %v", got.err)
		}
		p, notThere, seen := waitFor(".done", 0), waitFor(".done", gone), waitFor(".hidden", visible)
		notThere.wantMet("gone from the start")
		p.wantWaiting("before")
		revision := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()}).GetRevision()
		page.Update(func(*actortest.Frame) { done = "Pay" })
		if m := p.wantMet("a change that the stored DOM does not show"); m.GetElement().GetText() != "Pay" || m.GetRevision() != revision {
			t.Errorf("got %v", m)
		}
		seen.wantWaiting("while hidden")
		page.Update(func(*actortest.Frame) { hidden.Off = false })
		if m := seen.wantMet("when shown"); m.GetElement().GetText() != "Hidden" {
			t.Errorf("got %v", m)
		}
		synctest.Wait()
		if h := page.Subscription(); len(h.Selectors) != 0 {
			t.Errorf("the page still evaluates %v", h.Selectors)
		}
	})
}

func TestWaitForNetworkIdle(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		page.Traffic(true)
		idle := func(d time.Duration) *domtapv1.WaitCondition {
			return &domtapv1.WaitCondition{NetworkIdle: durationpb.New(d)}
		}
		short, long := b.waitFor(until(tab, idle(0))), b.waitFor(until(tab, idle(2*time.Second)))
		time.Sleep(10 * time.Second)
		short.wantWaiting("while busy")
		page.Traffic(false)
		time.Sleep(499 * time.Millisecond)
		short.wantWaiting("before the span is over")
		time.Sleep(time.Millisecond)
		short.wantMet("after the span")
		page.Traffic(true)
		page.Traffic(false)
		time.Sleep(1999 * time.Millisecond)
		long.wantWaiting("a request starts the span anew")
		time.Sleep(time.Millisecond)
		long.wantMet("after the span")
		if page.Subscription().Network {
			t.Error("the browser still tells of requests though nobody waits")
		}
	})
}

func TestWaitForQuiet(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		p := b.waitFor(until(tab, &domtapv1.WaitCondition{Quiet: durationpb.New(time.Second)}))
		for i := range 5 {
			time.Sleep(900 * time.Millisecond)
			p.wantWaiting("while it changes")
			add(page, fmt.Sprint("Button ", i))
			synctest.Wait()
		}
		time.Sleep(time.Second)
		if m := p.wantMet("when it is quiet"); m.GetDiff().GetAddedCount() != 5 || m.GetElapsed().AsDuration() != 5500*time.Millisecond {
			t.Errorf("got %v", m)
		}
	})
}

func TestWaitForChange(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"), actortest.Heading(1, "Shop"))
		change := &domtapv1.WaitCondition{Change: true}
		p := b.waitFor(until(tab, change))
		b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "shop"})).wantMet("another wait that needs more of the page")
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), IncludeAttributes: []string{"id"}})
		p.wantWaiting("nothing has changed")
		add(page, "New")
		p.wantMet("with a new button")
	})
}

func TestWaitForChangeSinceARevision(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"), actortest.Heading(1, "Shop"))
		seen := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		since := func(revision uint64, epoch string) *domtapv1.WaitForRequest {
			r := until(tab, &domtapv1.WaitCondition{Change: true})
			r.SinceRevision, r.Epoch = proto.Uint64(revision), epoch
			return r
		}
		p := b.waitFor(since(seen.GetRevision(), seen.GetEpoch()))
		p.wantWaiting("nothing has changed but what is stored")
		p.cancel()
		add(page, "New")
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		if m := b.waitFor(since(seen.GetRevision(), seen.GetEpoch())).wantMet("it changed before"); m.GetDiff().GetAddedCount() != 1 ||
			m.GetDiff().GetFromRevision() != seen.GetRevision() {
			t.Errorf("got %v", m)
		}
		if m := b.waitFor(since(1, "other")).wantMet("another epoch"); m.GetResync().GetReason() != "epoch_changed" {
			t.Errorf("got %v", m)
		}
	})
}

func TestWaitForTimeoutReportsTheNearest(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay now")
		pay.States.Disabled = dom.True
		tab, _ := b.shop(pay)
		for _, c := range []struct {
			until            *domtapv1.WaitCondition
			missing, nearest string
			waiting          string
		}{
			{element(&domtapv1.ElementCondition{Name: "Pay", State: enabled}), "element", `button "Pay now" (ref 0, disabled)`, `an element named "Pay" to be enabled`},
			{element(&domtapv1.ElementCondition{Name: "Pay", State: gone}), "element", `button "Pay now" (ref 0, disabled)`, `an element named "Pay" to be gone`},
			{&domtapv1.WaitCondition{Text: "pay later"}, "text", `button "Pay now" (ref 0, disabled)`, `text "pay later"`},
			{&domtapv1.WaitCondition{Text: "zebra"}, "text", "", `text "zebra"`},
			{&domtapv1.WaitCondition{Url: "nowhere"}, "url", "", `the URL "nowhere"`},
			{&domtapv1.WaitCondition{Change: true}, "change", "", `a change`},
			{element(&domtapv1.ElementCondition{Role: "button", Name: "Order"}), "element", `button "Pay now" (ref 0, disabled)`, `button "Order"`},
			{element(&domtapv1.ElementCondition{Text: "zebra", State: visible}), "element", "", `text "zebra" to be visible`},
			{element(&domtapv1.ElementCondition{Ref: proto.Uint32(0), Text: "zebra"}), "element", `button "Pay now" (ref 0, disabled)`, `ref 0 with text "zebra"`},
			{&domtapv1.WaitCondition{Quiet: seconds(60)}, "quiet", "", `the page to be quiet for 1m0s`},
		} {
			r := until(tab, c.until)
			r.Timeout = seconds(3)
			p := b.waitFor(r)
			time.Sleep(3*time.Second - time.Millisecond)
			p.wantWaiting("before the timeout")
			time.Sleep(time.Millisecond)
			if !p.over() {
				t.Fatalf("%v: it goes on after the timeout", c.until)
			}
			wantCode(t, p.err, codes.DeadlineExceeded, "WAIT_TIMEOUT")
			detail := metadataOf(p.err)
			if detail["url"] != shopURL || detail["missing"] != c.missing || detail["nearest"] != c.nearest || !strings.Contains(p.err.Error(), c.nearest) {
				t.Errorf("%v: %v, details %v", c.until, p.err, detail)
			}
			if want := "timed out after 3s waiting for " + c.waiting + ";"; !strings.HasPrefix(status.Convert(p.err).Message(), want) {
				t.Errorf("%v: it says %q, want %q", c.until, status.Convert(p.err).Message(), want)
			}
		}
	})
}

func metadataOf(err error) map[string]string {
	for _, detail := range status.Convert(err).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok {
			return i.GetMetadata()
		}
	}
	return nil
}

func TestWaitForTimesOutByItselfAfter30Seconds(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Button("Pay"))
		start := time.Now()
		p := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "zebra"}))
		<-p.done
		wantCode(t, p.err, codes.DeadlineExceeded, "WAIT_TIMEOUT")
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestWaitForEndsWithTheTab(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(b *bench, tab string, page *actortest.Page)
		code   codes.Code
		reason string
	}{
		"closed": {func(b *bench, tab string, _ *actortest.Page) {
			_, _ = b.tabs.CloseTab(b.t.Context(), &domtapv1.CloseTabRequest{TabId: tab})
		}, codes.Aborted, "TAB_CLOSED"},
		"crashed":     {func(_ *bench, _ string, page *actortest.Page) { page.Crash("oom") }, codes.Unavailable, "PAGE_LOST"},
		"no browser":  {func(b *bench, _ string, _ *actortest.Page) { b.browser.Die() }, codes.Unavailable, "PAGE_LOST"},
		"server stop": {func(b *bench, _ string, _ *actortest.Page) { b.stop() }, codes.Unavailable, "PAGE_LOST"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, func(t *testing.T, b *bench) {
				tab, page := b.shop(actortest.Button("Pay"))
				p := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "zebra"}))
				p.wantWaiting("before")
				c.end(b, tab.GetId(), page)
				<-p.done
				wantCode(t, p.err, c.code, c.reason)
			})
		})
	}
}

func TestADialogDoesNotEndAWait(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		early := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "done"}))
		page.OpenDialog(driver.Dialog{Type: "alert", Message: "Stop"})
		late := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "done"}))
		add(page, "Done")
		time.Sleep(5 * time.Second)
		early.wantWaiting("behind the dialog")
		late.wantWaiting("begun behind the dialog")
		one, err := b.pool.Tab(tab.GetId())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
			t.Fatal(err)
		}
		early.wantMet("after the dialog")
		late.wantMet("after the dialog")
	})
}

func TestAWaitOutlastsAHangingPage(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		page.Hang()
		short, long := until(tab, &domtapv1.WaitCondition{Text: "pay"}), until(tab, &domtapv1.WaitCondition{Text: "pay"})
		short.Timeout, long.Timeout = seconds(20), seconds(60)
		p, q := b.waitFor(short), b.waitFor(long)
		time.Sleep(20 * time.Second)
		p.over()
		wantCode(t, p.err, codes.DeadlineExceeded, "WAIT_TIMEOUT")
		if missing := metadataOf(p.err)["missing"]; missing != "page" {
			t.Errorf("%v: missing is %q", p.err, missing)
		}
		q.wantWaiting("while it hangs")
		page.Resume()
		q.wantMet("when it answers again")
	})
}

func TestCancelledCallerEndsOnlyItsOwnWait(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		first, second := b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "done"})), b.waitFor(until(tab, &domtapv1.WaitCondition{Text: "done"}))
		first.cancel()
		<-first.done
		wantCode(t, first.err, codes.Canceled, "")
		second.wantWaiting("after the other's end")
		add(page, "Done")
		second.wantMet("with the text")
	})
}

// More calls may wait than fit into the tab's mailbox, and the page is read only a few times for all of them.
func TestManyWaitOnOneTab(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		const many = 500
		errs := make([]error, many)
		before := page.Calls("Read")
		// The page answers only when all of them wait, so the result does not depend on timing.
		page.Hang()
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				_, errs[i] = b.dom.WaitFor(t.Context(), until(tab, &domtapv1.WaitCondition{Text: fmt.Sprint("item ", i%10, " of")}))
			})
		}
		synctest.Wait()
		page.Resume()
		synctest.Wait()
		for i := range 10 {
			add(page, fmt.Sprint("Item ", i, " of 10"))
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				t.Fatalf("wait %d: %v", i, err)
			}
		}
		if reads := page.Calls("Read") - before; reads > many/4 {
			t.Errorf("the page was read %d times for %d waits", reads, many)
		}
	})
}

func TestSelectorsAreBounded(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		var waits []*pending
		for i := range 65 {
			css := fmt.Sprint(".c", i)
			page.Match(css, func(*actortest.Node) bool { return false })
			waits = append(waits, b.waitFor(until(tab, element(&domtapv1.ElementCondition{Selector: css}))))
		}
		if !waits[64].over() {
			t.Fatal("there is no limit")
		}
		wantCode(t, waits[64].err, codes.ResourceExhausted, "LIMIT_REACHED")
		waits[0].cancel()
		<-waits[0].done
		synctest.Wait()
		again := b.waitFor(until(tab, element(&domtapv1.ElementCondition{Selector: ".c64"})))
		again.wantWaiting("one has ended")
	})
}

func waitStep(w *domtapv1.WaitStep) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: w}}
}

func TestATurnWaits(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		load := actortest.Button("Load")
		load.Act = func(p *actortest.Page, _ driver.Action) error {
			p.Traffic(true)
			time.AfterFunc(3*time.Second, func() {
				add(p, "Ready")
				p.Traffic(false)
			})
			return nil
		}
		tab, page := b.shop(load)
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		start := time.Now()
		resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{
			clickOn(ref(0)),
			waitStep(&domtapv1.WaitStep{Until: &domtapv1.WaitCondition{NetworkIdle: durationpb.New(time.Second)}}),
			waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Role: "button", Name: "Ready"}}),
		}})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range resp.GetResults() {
			if !r.GetOk() || r.GetSummary() == "" {
				t.Errorf("step %d: %v", i, r)
			}
		}
		if took := time.Since(start); took != 4*time.Second || resp.GetDiff().GetAddedCount() != 1 {
			t.Errorf("the turn took %v and did %v", took, resp.GetDiff())
		}
		synctest.Wait()
		if push, _ := page.Observed(); push || page.Subscription().Network {
			t.Error("the page still tells what nobody waits for")
		}
	})
}

func TestAWaitInATurnTimesOut(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Button("Pay"))
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		resp, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{
			clickOn(ref(0)), waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Text: "zebra"}}), clickOn(ref(0)),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r := resp.GetResults()[1]; r.GetOk() || r.GetReason() != "WAIT_TIMEOUT" || resp.GetResults()[2].GetOk() {
			t.Errorf("got %v", resp.GetResults())
		}
		_, err = b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{
			waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Selector: "!"}})}})
		wantCode(t, err, codes.InvalidArgument, "")
		if got := violatedFields(err); !slices.Equal(got, []string{"steps[0].wait.target.selector"}) {
			t.Errorf("violations of %v", got)
		}
	})
}
