package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

func (b *bench) getStats(r *domtapv1.GetStatsRequest) *domtapv1.GetStatsResponse {
	b.t.Helper()
	synctest.Wait() // a call is recorded when it has ended, which its client may notice earlier
	resp, err := b.stats.GetStats(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// of finds a method in an account. It returns an empty one if the method was not called.
func of(a *domtapv1.Account, method string) *domtapv1.MethodStats {
	for _, m := range a.GetMethods() {
		if m.GetMethod() == method {
			return m
		}
	}
	return new(domtapv1.MethodStats)
}

func (b *bench) compact(r *domtapv1.GetCompactRequest) *domtapv1.GetCompactResponse {
	b.t.Helper()
	resp, err := b.dom.GetCompact(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp
}

// near reports whether an estimate is within 30% of the real figure. Estimates of short lines like these are less accurate than estimates
// of a page.
func near(got, want int64) bool { return 10*got > 7*want && 10*got < 13*want }

func TestStatsCountWhatTextCostsExactly(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("Button", 40)...)
		first := b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId()})
		whole := int64(tokens.Count(first.GetText()))
		part := b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxElements: proto.Int32(10)})
		rest := b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxElements: proto.Int32(10), Cursor: part.GetMetadata().GetNextCursor()})
		page.Update(func(main *actortest.Frame) { main.Body[0].Text = "Changed" })
		synctest.Wait()
		diff := b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), Incremental: true, Format: domtapv1.Format_FORMAT_DIFF})
		exact := int64(0)
		for _, r := range []*domtapv1.GetCompactResponse{first, part, rest, diff} {
			exact += int64(tokens.Count(r.GetText()))
		}
		got := of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "GetCompact")
		if got.GetCalls() != 4 || got.GetTokens() != exact || got.GetEstimatedTokens() != 0 {
			t.Errorf("got %v, want %d tokens", got, exact)
		}
		// The part that continues another does not count as a second read of the page.
		if !near(got.GetFullTokens(), 3*whole) || got.GetSavedTokens() != got.GetFullTokens()-exact {
			t.Errorf("got %v; the page has %d tokens", got, whole)
		}
		unlimited := b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxTokens: proto.Int32(0)})
		got = of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "GetCompact")
		if n := int64(tokens.Count(unlimited.GetText())); got.GetTokens() != exact || !near(got.GetEstimatedTokens(), n) {
			t.Errorf("got %v, want an estimate of %d", got, n)
		}
	})
}

func TestStatsEstimateStructuredAnswers(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(buttons("Button", 40)...)
		answer := b.getDom(&domtapv1.GetDomRequest{TabId: tab.GetId()})
		total := b.getStats(&domtapv1.GetStatsRequest{}).GetTotal()
		got := of(total, "GetDom")
		if got.GetTokens() != 0 || got.GetEstimatedTokens() != int64(answer.GetMetadata().GetTokens()) || got.GetBytes() != int64(proto.Size(answer)) {
			t.Errorf("got %v for %d bytes, %v", got, proto.Size(answer), answer.GetMetadata())
		}
		open := of(total, "OpenTab")
		if open.GetEstimatedTokens() != open.GetBytes()/4 || open.GetBytes() == 0 || open.GetFullTokens() != 0 || open.GetSavedTokens() != 0 {
			t.Errorf("got %v", open)
		}
	})
}

func TestStatsReportCacheHits(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(buttons("Button", 30)...)
		r := &domtapv1.GetDomRequest{TabId: tab.GetId(), Incremental: true}
		b.getDom(r)                                                                             // new: no hit, and no diff possible
		b.getDom(r)                                                                             // head and view, incremental
		b.compact(&domtapv1.GetCompactRequest{TabId: tab.GetId(), MaxElements: proto.Int32(5)}) // head
		page.Update(func(main *actortest.Frame) { main.Body[0].Text = "Changed" })              // …
		b.getDom(r)                                                                             // incremental
		page.Update(func(main *actortest.Frame) { main.Body = buttons("Other", 30) })           // …
		b.getDom(r)                                                                             // a resync
		got := b.getStats(&domtapv1.GetStatsRequest{TabId: tab.GetId()}).GetTotal().GetReads()
		want := &domtapv1.ReadStats{Pages: 5, HeadHits: 2, ViewHits: 1, Incremental: 2, Resyncs: 1}
		if !proto.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestStatsTellOfTextsAndFoldedNavigation(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		nav := func() *actortest.Node {
			return box("navigation", "Main", actortest.Link("Home", shopURL), actortest.Link("Cups", shopURL+"cups"), actortest.Link("Help", shopURL+"help"))
		}
		tab, _ := b.readable(longArticle(20), nav(), actortest.Button("Pay"))
		b.browser.Serve(shopURL+"cups", func() actortest.Screen {
			return actortest.Screen{Title: "Cups", Body: []*actortest.Node{nav(), actortest.Button("Sort")}}
		})
		dedupe := func(r *domtapv1.GetCompactRequest) { r.DedupeNavigation = true }
		b.tree(tab.GetId(), dedupe)
		r := &domtapv1.ReadPageRequest{TabId: tab.GetId(), Mode: modeContent, MaxTokens: proto.Int32(300)}
		first := b.readPage(r)
		b.readPage(r)
		b.readPage(&domtapv1.ReadPageRequest{TabId: tab.GetId(), Cursor: first.GetNextCursor()})
		if _, err := b.tabs.Navigate(t.Context(), &domtapv1.NavigateRequest{TabId: tab.GetId(), Url: shopURL + "cups"}); err != nil {
			t.Fatal(err)
		}
		b.tree(tab.GetId(), dedupe)
		got := b.getStats(&domtapv1.GetStatsRequest{}).GetTotal()
		want := &domtapv1.ReadStats{Pages: 2, Texts: 3, TextHits: 2, FoldedLandmarks: 1, FoldedElements: 3}
		if !proto.Equal(got.GetReads(), want) {
			t.Errorf("got %v, want %v", got.GetReads(), want)
		}
		if m := of(got, "ReadPage"); m.GetTokens() == 0 || m.GetEstimatedTokens() != 0 || m.GetFullTokens() == 0 {
			t.Errorf("got %v", m)
		}
	})
}

func TestStatsTellHowStepsWent(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		disabled := actortest.Button("Off")
		disabled.States.Disabled = 1
		tab, _ := b.shop(actortest.Button("Pay"), actortest.Button("Pay later"))
		click := func(name string) *domtapv1.Step {
			return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Role: "button", Name: name}}}}
		}
		read := &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}
		_, err := b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{click("Pay later"), read, click("Nothing"), read}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.act.Interact(t.Context(), &domtapv1.InteractRequest{TabId: tab.GetId(), Steps: []*domtapv1.Step{click("Nothing")}})
		wantCode(t, err, codes.FailedPrecondition, "TARGET_NOT_FOUND")
		total := b.getStats(&domtapv1.GetStatsRequest{}).GetTotal()
		want := []*domtapv1.StepStats{
			{Kind: "click", Done: 1, Failed: 2, Failures: map[string]int64{"TARGET_NOT_FOUND": 2}}, {Kind: "read", Done: 1, Skipped: 1},
		}
		if !slices.EqualFunc(total.GetSteps(), want, func(a, b *domtapv1.StepStats) bool { return proto.Equal(a, b) }) {
			t.Errorf("got %v, want %v", total.GetSteps(), want)
		}
		got := of(total, "Interact")
		if got.GetCalls() != 2 || got.GetFailed() != 1 || got.GetFailures()["TARGET_NOT_FOUND"] != 1 || got.GetFullTokens() == 0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestStatsAreKeptBySessionAndTab(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		one, _ := b.shop(actortest.Button("Pay"))
		if _, err := b.sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{SessionId: "work"}); err != nil {
			t.Fatal(err)
		}
		opened, err := b.tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: shopURL, SessionId: "work"})
		if err != nil {
			t.Fatal(err)
		}
		two := opened.GetTab().GetId()
		for _, id := range []string{one.GetId(), two, two} {
			b.getDom(&domtapv1.GetDomRequest{TabId: id})
		}
		calls := func(r *domtapv1.GetStatsRequest) int64 { return of(b.getStats(r).GetTotal(), "GetDom").GetCalls() }
		if all, work, tab := calls(&domtapv1.GetStatsRequest{}), calls(&domtapv1.GetStatsRequest{SessionId: "work"}), calls(&domtapv1.GetStatsRequest{TabId: two}); all != 3 || work != 2 || tab != 2 {
			t.Errorf("%d calls, %d of the session, %d of the tab", all, work, tab)
		}
		st := b.getStats(&domtapv1.GetStatsRequest{})
		if len(st.GetTabs()) != 2 || len(st.GetSessions()) != 2 || st.GetTabs()[1].GetSessionId() != "work" || of(st.GetTabs()[1], "OpenTab").GetCalls() != 1 {
			t.Errorf("got the tabs %v and the sessions %v", st.GetTabs(), st.GetSessions())
		}
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: two}); err != nil {
			t.Fatal(err)
		}
		if st = b.getStats(&domtapv1.GetStatsRequest{SessionId: "work"}); len(st.GetTabs()) != 0 || of(st.GetTotal(), "GetDom").GetCalls() != 2 || of(st.GetTotal(), "CloseTab").GetCalls() != 1 {
			t.Errorf("without its tab the session has %v", st)
		}
		if _, err := b.sessions.CloseSession(t.Context(), &domtapv1.CloseSessionRequest{SessionId: "work"}); err != nil {
			t.Fatal(err)
		}
		if st = b.getStats(&domtapv1.GetStatsRequest{}); len(st.GetSessions()) != 1 || of(st.GetTotal(), "GetDom").GetCalls() != 3 {
			t.Errorf("without the session there is %v", st)
		}
		for _, r := range []*domtapv1.GetStatsRequest{{SessionId: "work"}, {TabId: two}, {TabId: one.GetId(), SessionId: "work"}} {
			_, err := b.stats.GetStats(t.Context(), r)
			wantCode(t, err, codes.NotFound, "NOT_FOUND")
		}
		_, err = b.stats.GetStats(t.Context(), &domtapv1.GetStatsRequest{TabId: strings.Repeat("x", 201)})
		wantCode(t, err, codes.InvalidArgument, "")
	})
}

func TestStatsOfStreamsAreThereWhileTheyRun(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page, s := b.watchShop(actortest.Button("Pay"))
		s.next()
		page.Update(func(main *actortest.Frame) { main.Body = append(main.Body, actortest.Button("More")) })
		s.next()
		got := of(b.getStats(&domtapv1.GetStatsRequest{TabId: tab.GetId()}).GetTotal(), "WatchDom")
		if got.GetCalls() != 1 || got.GetMessages() < 2 || got.GetEstimatedTokens() == 0 || got.GetBytes() == 0 || got.GetLatency().GetCount() != 1 || got.GetFullTokens() != 0 {
			t.Errorf("got %v", got)
		}
		s.cancel()
		_ = s.end()
		if got = of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "WatchDom"); got.GetCalls() != 1 || got.GetFailed() != 0 {
			t.Errorf("a stream that its client ended: %v", got)
		}
	})
}

func TestStatsCountFailuresAndTimes(t *testing.T) {
	inBubble(t, Config{CallTimeout: time.Second}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		_, err := b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: "nobody"})
		wantCode(t, err, codes.NotFound, "")
		_, err = b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{})
		wantCode(t, err, codes.InvalidArgument, "")
		page.Hang()
		_, err = b.dom.GetDom(t.Context(), &domtapv1.GetDomRequest{TabId: tab.GetId()})
		wantCode(t, err, codes.DeadlineExceeded, "")
		page.Resume()
		got := of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "GetDom")
		want := map[string]int64{"NOT_FOUND": 1, "INVALID_ARGUMENT": 1, "DEADLINE_EXCEEDED": 1}
		if len(got.GetFailures()) != len(want) {
			t.Errorf("got %v, want %v", got.GetFailures(), want)
		}
		for reason, n := range want {
			if got.GetFailures()[reason] != n {
				t.Errorf("got %v, want %v", got.GetFailures(), want)
			}
		}
		if l := got.GetLatency(); l.GetCount() != 3 || l.GetP50().AsDuration() != 0 || !near(int64(l.GetMax().AsDuration()), int64(time.Second)) {
			t.Errorf("got the times %v", l)
		}
	})
}

// sink is a stream that accepts all messages, for a call that does not use gRPC.
type sink struct {
	grpc.ServerStream
	ctx     context.Context
	request *domtapv1.WatchDomRequest
}

func (s *sink) Context() context.Context { return s.ctx }
func (s *sink) SendMsg(any) error        { return nil }
func (s *sink) RecvMsg(m any) error {
	proto.Merge(m.(proto.Message), s.request)
	return nil
}

// Calls that do not use gRPC pass the interceptors and are counted too.
func TestStatsCountCallsThatComeAnotherWay(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(buttons("Button", 10)...)
		request := &domtapv1.GetDomRequest{TabId: tab.GetId()}
		b.getDom(request)
		byGRPC := of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "GetDom")
		service := domServiceOf(b.server)
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: pipeAddr("unix")})
		for _, r := range []*domtapv1.GetDomRequest{request, {TabId: "nobody"}} {
			getDom := func(ctx context.Context, r any) (any, error) { return service.GetDom(ctx, r.(*domtapv1.GetDomRequest)) }
			_, _ = b.unary(domtapv1.DomService_GetDom_FullMethodName, getDom)(ctx, r)
		}
		got := of(b.getStats(&domtapv1.GetStatsRequest{}).GetTotal(), "GetDom")
		if got.GetCalls() != 3 || got.GetFailures()["NOT_FOUND"] != 1 || got.GetBytes() != 2*byGRPC.GetBytes() || got.GetEstimatedTokens() != 2*byGRPC.GetEstimatedTokens() {
			t.Errorf("got %v, by gRPC alone %v", got, byGRPC)
		}
		ctx, cancel := context.WithCancel(ctx)
		s := &sink{ctx: ctx, request: &domtapv1.WatchDomRequest{TabId: tab.GetId()}}
		watching := make(chan error)
		go func() {
			watchDom := domtapv1.DomService_ServiceDesc.Streams[0].Handler
			watching <- b.stream(domtapv1.DomService_WatchDom_FullMethodName, watchDom)(service, s)
		}()
		got = of(b.getStats(&domtapv1.GetStatsRequest{TabId: tab.GetId()}).GetTotal(), "WatchDom")
		if got.GetCalls() != 1 || got.GetMessages() != 1 || got.GetBytes() == 0 {
			t.Errorf("got %v", got)
		}
		cancel()
		<-watching
	})
}

// Usage figures distinguish methods only by name.
func TestNoTwoServicesHaveAMethodOfTheSameName(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		seen := map[string]string{}
		for service, info := range b.server.grpc.GetServiceInfo() {
			for _, m := range info.Methods {
				if strings.HasPrefix(service, "domtap.") && seen[m.Name] != "" {
					t.Errorf("%s is a method of %s and of %s", m.Name, service, seen[m.Name])
				}
				seen[m.Name] = service
			}
		}
	})
}
