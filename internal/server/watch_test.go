package server

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/streamcheck"
)

// add appends a button to the page.
func add(page *actortest.Page, text string) {
	page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button(text)) })
}

// watchShop opens a page, watches it and reads the first snapshot.
func (b *bench) watchShop(nodes ...*actortest.Node) (*domtapv1.Tab, *actortest.Page, *stream) {
	b.t.Helper()
	tab, page := b.shop(nodes...)
	s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()})
	if m := s.next(); m.GetSnapshot() == nil || m.GetCoalesced() != 1 {
		b.t.Fatalf("the first message is %v, want a snapshot", m)
	}
	return tab, page, s
}

func TestWatchBeginsWithASnapshot(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _, s := b.watchShop(buttons("B", 2)...)
		got := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		m := s.last
		if m.GetEpoch() != got.GetEpoch() || m.GetObservedAt() == nil || m.GetPageTime() == nil ||
			m.GetSnapshot().GetUrl() != shopURL || m.GetSnapshot().GetTitle() != "Shop" ||
			m.GetSnapshot().GetMetadata().GetIncludedElements() != 2 {
			t.Errorf("the first message is %v", m)
		}
		wantTexts(t, "snapshot", s.state, "B 0", "B 1")
		if s.state[0].GetRect() != nil {
			t.Error("the stream has boxes though nobody asked for them")
		}
	})
}

func TestWatchSendsEachChangeOnce(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page, s := b.watchShop(buttons("B", 2)...)
		before := s.last.GetRevision()
		add(page, "New")
		m := s.next()
		if d := m.GetDiff(); d.GetAddedCount() != 1 || d.GetAdded()[0].GetIndex() != 2 || m.GetCoalesced() != 1 || m.GetRevision() != before+1 {
			t.Errorf("got %v", m)
		}
		page.Update(func(main *actortest.Frame) { main.Body[0].States.Disabled = 2 })
		if d := s.next().GetDiff(); d.GetChangedCount() != 1 || !proto.Equal(d.GetChanged()[0].GetFields()[0],
			&domtapv1.FieldChange{Field: "disabled", New: "true"}) {
			t.Errorf("got %v", s.last)
		}
		page.Update(func(main *actortest.Frame) { main.Body[0].Text, main.Body[1].Text = "X", "Y" })
		if d := s.next().GetDiff(); d.GetAddedCount() != 2 || d.GetRemovedCount() != 2 {
			t.Errorf("a burst came as %v", s.last)
		}
		wantTexts(t, "state", s.state, "X", "Y", "New")
	})
}

// Guarantee 1, for three concurrent views: applying the diffs yields the answer of GetDom.
func TestWatchConverges(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 30)...)
		requests := []*domtapv1.WatchDomRequest{
			{TabId: tab.GetId()},
			{TabId: tab.GetId(), MaxElements: proto.Int32(10)},
			{TabId: tab.GetId(), InteractiveOnly: proto.Bool(false), MaxTokens: proto.Int32(200)},
		}
		var streams []*stream
		for _, r := range requests {
			streams = append(streams, b.watch(r))
		}
		random := rand.New(rand.NewPCG(1, 2))
		steps := 100
		if os.Getenv("DOMTAP_LONG") != "" { // make test-long
			steps = 400
		}
		for step := range steps {
			page.Update(func(main *actortest.Frame) { mutate(random, main, step) })
			synctest.Wait()
			for i, s := range streams {
				r := requests[i]
				want := b.getDom(&domtapv1.GetDomRequest{
					TabId: r.GetTabId(), MaxElements: r.MaxElements, InteractiveOnly: r.InteractiveOnly, MaxTokens: r.MaxTokens,
				})
				s.readUntil(want)
				wantSame(t, fmt.Sprintf("step %d, view %d", step, i), s.state, want.GetElements())
			}
		}
	})
}

// mutate changes the page somewhere.
func mutate(random *rand.Rand, main *actortest.Frame, step int) {
	at := random.IntN(len(main.Body))
	node := main.Body[at]
	switch random.IntN(6) {
	case 0:
		main.Body = append(main.Body[:at:at], append([]*actortest.Node{actortest.Button(fmt.Sprint("new ", step))}, main.Body[at:]...)...)
	case 1:
		if len(main.Body) > 20 {
			main.Body = append(main.Body[:at:at], main.Body[at+1:]...)
		}
	case 2:
		to := random.IntN(len(main.Body))
		main.Body[at], main.Body[to] = main.Body[to], main.Body[at]
	case 3:
		node.Text = fmt.Sprint("text ", step)
	case 4:
		node.Value = fmt.Sprint("value ", step)
	case 5:
		main.Body = append(main.Body, actortest.Heading(2, fmt.Sprint("heading ", step)))
	}
}

// readUntil reads messages until the stream has reached the revision of the answer, or has nothing to send.
func (s *stream) readUntil(want *domtapv1.GetDomResponse) {
	s.t.Helper()
	for s.last.GetRevision() < want.GetRevision() {
		if s.last != nil && streamcheck.Same(s.state, want.GetElements()) {
			return // the revisions in between changed nothing in this view
		}
		s.next()
	}
}

func wantSame(t *testing.T, what string, got, want []*domtapv1.Element) {
	t.Helper()
	if !streamcheck.Same(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestWatchOmitsChangesOutsideTheView(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), FullSnapshot: true})
		before := s.last.GetRevision()
		page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Heading(1, "Unseen")) })
		synctest.Wait()
		add(page, "Seen")
		m := s.next()
		if folds := int32(m.GetRevision() - before); m.GetDiff().GetAddedCount() != 1 || m.GetCoalesced() != folds || folds < 2 {
			t.Errorf("got %v after revision %d, want one diff that folds all since", m, before)
		}
	})
}

func TestWatchFoldsWithinMinInterval(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), MinInterval: durationpb.New(10 * time.Second)})
		s.next()
		start := time.Now()
		for i := range 5 {
			add(page, fmt.Sprint("N ", i))
			synctest.Wait()
		}
		if m := s.next(); m.GetDiff().GetAddedCount() != 5 || m.GetCoalesced() != 5 {
			t.Errorf("got %v, want one diff of five", m)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("it came after %v, want 10 s", took)
		}
		page.OpenDialog(driver.Dialog{Type: "alert"})
		if s.next().GetTabStatus().GetDialog() == nil || time.Since(start) != 10*time.Second {
			t.Errorf("the dialog came as %v after %v, want it at once", s.last, time.Since(start))
		}
	})
}

func TestWatchFollowsNavigation(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		at := s.last
		page.PushState(shopURL + "cart")
		if n := s.next().GetNavigated(); !n.GetSameDocument() || n.GetUrl() != shopURL+"cart" || s.last.GetRevision() != at.GetRevision() {
			t.Errorf("a change of URL came as %v after %v", s.last, at)
		}
		add(page, "New")
		if s.next().GetDiff().GetAddedCount() != 1 {
			t.Errorf("then came %v", s.last)
		}
		b.browser.Serve(shopURL+"next", func() actortest.Screen {
			return actortest.Screen{Title: "Next", Body: buttons("N", 3)}
		})
		at = s.last
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + "next"}); err != nil {
			t.Fatal(err)
		}
		if n := s.next().GetNavigated(); n == nil || n.GetSameDocument() || n.GetUrl() != shopURL+"next" || s.last.GetRevision() != at.GetRevision() {
			t.Errorf("a navigation came as %v after %v", s.last, at)
		}
		if r := s.next().GetResync(); r.GetReason() != "navigated" || r.GetSnapshot() == nil || s.last.GetRevision() <= at.GetRevision() {
			t.Errorf("then came %v", s.last)
		}
		want := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		s.readUntil(want)
		wantSame(t, "the new document", s.state, want.GetElements())
	})
}

func TestWatchSendsTheWholeViewWhenMostChanged(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page, s := b.watchShop(buttons("B", 20)...)
		page.Update(func(main *actortest.Frame) { main.Body = buttons("C", 20) })
		if r := s.next().GetResync(); r.GetReason() != "mostly_changed" || len(r.GetSnapshot().GetElements()) != 20 {
			t.Errorf("got %v", s.last)
		}
		add(page, "New")
		if s.next().GetDiff().GetAddedCount() != 1 {
			t.Errorf("then came %v", s.last)
		}
	})
}

func TestWatchTellsStatusAndDialogs(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		at := s.last.GetRevision()
		page.OpenDialog(driver.Dialog{Type: "confirm", Message: "Sure?"})
		if st := s.next().GetTabStatus(); st.GetDialog().GetMessage() != "Sure?" || st.GetDetail() == "" ||
			st.GetStatus() != domtapv1.TabStatus_TAB_STATUS_READY || s.last.GetRevision() != at {
			t.Errorf("a dialog came as %v", s.last)
		}
		open, err := b.pool.Tab(tab.GetId())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open.AnswerDialog(t.Context(), driver.DialogAnswer{Accept: true}); err != nil {
			t.Fatal(err)
		}
		if st := s.next().GetTabStatus(); st == nil || st.GetDialog() != nil {
			t.Errorf("its end came as %v", s.last)
		}
	})
}

func TestWatchEndsWithAReason(t *testing.T) {
	closeTab := func(b *bench, tab *domtapv1.Tab, _ *actortest.Page) {
		if _, err := b.tabs.CloseTab(b.t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			b.t.Error(err)
		}
	}
	for _, c := range []struct {
		name   string
		happen func(*bench, *domtapv1.Tab, *actortest.Page)
		status domtapv1.TabStatus
		code   codes.Code
		says   string
	}{
		{"closed", closeTab, domtapv1.TabStatus_TAB_STATUS_CLOSED, codes.OK, ""},
		{"closed by its page", func(_ *bench, _ *domtapv1.Tab, p *actortest.Page) {
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}, domtapv1.TabStatus_TAB_STATUS_CLOSED, codes.OK, ""},
		{"crashed", func(_ *bench, _ *domtapv1.Tab, p *actortest.Page) { p.Crash("oom") },
			domtapv1.TabStatus_TAB_STATUS_CRASHED, codes.Unavailable, "Reload"},
		{"browser gone", func(b *bench, _ *domtapv1.Tab, _ *actortest.Page) { b.browser.Die() },
			0, codes.Unavailable, "browser"},
		{"server stopping", func(b *bench, _ *domtapv1.Tab, _ *actortest.Page) { b.stop() },
			0, codes.Unavailable, "stopping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, Config{}, func(t *testing.T, b *bench) {
				tab, page, s := b.watchShop(buttons("B", 2)...)
				c.happen(b, tab, page)
				if c.status != 0 && s.next().GetTabStatus().GetStatus() != c.status {
					t.Errorf("the last message is %v, want status %v", s.last, c.status)
				}
				err := s.end()
				wantCode(t, err, c.code, "")
				if c.says != "" && !strings.Contains(err.Error(), c.says) {
					t.Errorf("the end %v does not say %q", err, c.says)
				}
			})
		})
	}
}

// Changes before the end of a stream are sent before it ends, even if min_interval has not passed.
func TestWatchTellsTheLastChangeBeforeItEnds(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), MinInterval: durationpb.New(time.Minute)})
		s.next()
		add(page, "Last")
		synctest.Wait()
		page.Crash("oom")
		if s.next().GetDiff().GetAddedCount() != 1 {
			t.Errorf("got %v, want the last change", s.last)
		}
		if s.next().GetTabStatus().GetStatus() != domtapv1.TabStatus_TAB_STATUS_CRASHED {
			t.Errorf("got %v, want the crash", s.last)
		}
		wantCode(t, s.end(), codes.Unavailable, "PAGE_LOST")
	})
}

func TestWatchHeartbeat(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		start := time.Now()
		if s.next().GetHeartbeat() == nil || time.Since(start) != 15*time.Second {
			t.Errorf("got %v after %v, want a heartbeat after 15 s", s.last, time.Since(start))
		}
		time.AfterFunc(10*time.Second, func() { add(page, "New") })
		if s.next().GetDiff() == nil {
			t.Errorf("got %v, want the change", s.last)
		}
		start = time.Now()
		if s.next().GetHeartbeat() == nil || time.Since(start) != 15*time.Second {
			t.Errorf("got %v after %v, want a heartbeat 15 s after the change", s.last, time.Since(start))
		}
		// Revisions that change nothing in the view are acknowledged by the heartbeat, so that a later resume can reach back far.
		b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), FullSnapshot: true})
		page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Heading(1, "Unseen")) })
		synctest.Wait()
		open, err := b.tabs.GetTab(t.Context(), &domtapv1.GetTabRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		if s.next().GetHeartbeat() == nil || s.last.GetRevision() != open.GetTab().GetRevision() {
			t.Errorf("got %v, the tab is %v", s.last, open)
		}
		add(page, "Another")
		if s.next().GetDiff().GetAddedCount() != 1 || s.last.GetCoalesced() != 1 {
			t.Errorf("got %v", s.last)
		}
	})
}

func TestWatchResumes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		epoch, revision := s.last.GetEpoch(), s.last.GetRevision()
		state := s.state
		resume := func(epoch string, revision uint64) *stream {
			return b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), FromRevision: &revision, Epoch: epoch})
		}
		add(page, "One")
		s.next()
		add(page, "Two")
		s.next()
		again := resume(epoch, revision)
		again.state, again.last = state, nil
		m := again.next()
		if d := m.GetDiff(); d.GetFromRevision() != revision || d.GetAddedCount() != 2 || m.GetCoalesced() != 2 {
			t.Errorf("resumed with %v", m)
		}
		wantSame(t, "resumed", again.state, s.state)
		upToDate := resume(epoch, m.GetRevision())
		upToDate.state = s.state
		synctest.Wait()
		add(page, "Three")
		if d := upToDate.next().GetDiff(); d.GetFromRevision() != m.GetRevision() || d.GetAddedCount() != 1 {
			t.Errorf("an up to date reader got %v", upToDate.last)
		}
		for _, c := range []struct {
			epoch    string
			revision uint64
			want     string
		}{
			{epoch, 1000, "revision_unknown"}, {epoch, 0, "revision_too_old"}, {"another", revision, "epoch_changed"},
		} {
			r := resume(c.epoch, c.revision).next().GetResync()
			if r.GetReason() != c.want || len(r.GetSnapshot().GetElements()) != 5 {
				t.Errorf("resume from %d of %s gave %v, want %s", c.revision, c.epoch, r, c.want)
			}
		}
	})
}

func TestWatchOmitsTheFirstSnapshot(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), OmitInitial: true, Format: domtapv1.Format_FORMAT_DIFF})
		if _, err := s.client.Header(); err != nil { // the header arrives when the watch has started
			t.Fatal(err)
		}
		page.Update(func(main *actortest.Frame) { main.Body[0].Value = "x" })
		m, err := s.client.Recv()
		if err != nil || m.GetDiff().GetChangedCount() != 1 || m.GetSequence() != 1 {
			t.Fatalf("got %v, %v, want the change", m, err)
		}
		if want := "Changes: +0 -0 ~1\nChanged:\n  [0] <button>B 0</button>: value (none) → x\n"; m.GetText() != want {
			t.Errorf("text %q, want %q", m.GetText(), want)
		}
	})
}

func TestWatchOfASubtreeEndsWithIt(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.El("form", "form", "Form", actortest.Button("In")), actortest.Button("Out"))
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), RootRef: proto.Uint32(0)})
		s.next()
		wantTexts(t, "subtree", s.state, "Form", "In")
		page.Update(func(main *actortest.Frame) { main.Body = main.Body[1:] })
		wantCode(t, s.end(), codes.FailedPrecondition, "STALE_REF")
	})
}

func TestWatchErrors(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		watch := func(r *domtapv1.WatchDomRequest) error { return b.watch(r).end() }
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: "t9"}), codes.NotFound, "NOT_FOUND")
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(2000)}), codes.InvalidArgument, "")
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), IncludeGeometry: true}), codes.Unimplemented, "UNIMPLEMENTED")
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), RootRef: proto.Uint32(99)}), codes.InvalidArgument, "INVALID")
		page.Hang()
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()}), codes.DeadlineExceeded, "")
		page.Crash("oom")
		synctest.Wait()
		wantCode(t, watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()}), codes.Unavailable, "PAGE_LOST")
	})
}

func TestWatchLetsGoOfThePage(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		_, page, s := b.watchShop(buttons("B", 2)...)
		if push, geometry := page.Observed(); !push || geometry {
			t.Errorf("while watched the page pushes: %v, with geometry: %v", push, geometry)
		}
		s.cancel()
		wantCode(t, s.end(), codes.Canceled, "")
		synctest.Wait()
		if push, _ := page.Observed(); push {
			t.Error("the page still pushes though nobody watches")
		}
	})
}

func TestWatchOfTheViewportFollowsBoxes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(at(actortest.Button("In"), 0, 0, 10, 10), at(actortest.Button("Below"), 0, 5000, 10, 10))
		s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), ViewportOnly: true})
		s.next()
		wantTexts(t, "before", s.state, "In")
		page.Update(func(main *actortest.Frame) { main.Scroll.Y = 5000 })
		s.next()
		wantTexts(t, "after scrolling", s.state, "Below")
	})
}

// Guarantee 4: the stream of a reader that stops reading ends with a reason, and does not delay other readers.
func TestWatchEndsAReaderThatDoesNotRead(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 2)...)
		stuck := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), MaxElements: proto.Int32(0), MaxTokens: proto.Int32(0)})
		conn := b.redial()
		defer conn.Close()
		quick, err := domtapv1.NewDomServiceClient(conn).WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId()})
		if err != nil {
			t.Fatal(err)
		}
		reader := &stream{t: t, client: quick}
		reader.next()
		start := time.Now()
		long := strings.Repeat("x", 2000)
		for i := range 60 {
			page.Update(func(main *actortest.Frame) { main.Body = buttons(fmt.Sprint(long, i), 20) })
			reader.next()
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("the quick reader waited %v for the stuck one", took)
		}
		<-time.After(31 * time.Second) // fake time
		synctest.Wait()
		var end error
		for n := 0; end == nil; n++ {
			if n > 60 {
				t.Fatal("the stuck reader got every message")
			}
			_, end = stuck.client.Recv()
		}
		wantCode(t, end, codes.DeadlineExceeded, "SLOW_READER")
	})
}

func TestManyWatchersShareTheirViews(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 20)...)
		var streams []*stream
		for range 100 {
			s := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId()})
			s.next()
			streams = append(streams, s)
		}
		for i := range 5 {
			add(page, fmt.Sprint("N ", i))
			for _, s := range streams {
				if s.next().GetDiff().GetAddedCount() != 1 {
					t.Fatalf("got %v", s.last)
				}
			}
		}
		for _, s := range streams {
			wantSame(t, "state", s.state, streams[0].state)
		}
	})
}

// A reader that was disconnected while the URL changed within the document receives the change like all others.
func TestWatchResumesAcrossRoutes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(buttons("B", 2)...)
		at := s.last
		s.cancel()
		synctest.Wait() // the server has noticed it
		page.PushState(shopURL + "cart")
		again := b.watch(&domtapv1.WatchDomRequest{TabId: tab.GetId(), FromRevision: &at.Revision, Epoch: at.GetEpoch()})
		if n := again.next().GetNavigated(); n.GetUrl() != shopURL+"cart" || !n.GetSameDocument() || again.last.GetRevision() != at.GetRevision() {
			t.Errorf("resumed with %v, want the new URL", again.last)
		}
		wantCode(t, s.end(), codes.Canceled, "")
	})
}

// The budget covers the header, which lists the visited pages. The view of an earlier revision must equal the original one, or a diff from
// it would not match the reader's state.
func TestWatchResumesWithABudgetAcrossRoutes(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("B", 60)...)
		request := &domtapv1.WatchDomRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(400)}
		s := b.watch(request)
		at := s.next()
		s.cancel()
		synctest.Wait() // the server has noticed it
		for i := range 3 {
			page.PushState(fmt.Sprint(shopURL, "a/long/way/to/go/", i))
			page.SetTitle(fmt.Sprint("A page with a long name, which is number ", i))
		}
		synctest.Wait()
		request.FromRevision, request.Epoch = &at.Revision, at.GetEpoch()
		again := b.watch(request)
		again.state = s.state
		want := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(400)})
		for again.last.GetHeartbeat() == nil {
			again.next()
		}
		wantSame(t, "resumed", again.state, want.GetElements())
		wantCode(t, s.end(), codes.Canceled, "")
	})
}
