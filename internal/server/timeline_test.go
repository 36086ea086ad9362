package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	"github.com/domtap/domtap/actor/actortest"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/listen"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

// told is a log entry of a page.
type told pagelog.Entry

func (l told) Entry() pagelog.Entry { return pagelog.Entry(l) }

func (b *bench) timeline() domtapv1.TimelineServiceClient {
	return domtapv1.NewTimelineServiceClient(b.conn)
}

func (b *bench) entries(r *domtapv1.GetTimelineRequest) *domtapv1.GetTimelineResponse {
	b.t.Helper()
	got, err := b.timeline().GetTimeline(b.t.Context(), r)
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// writtenEntry formats an entry in a few words.
func writtenEntry(e *domtapv1.TimelineEntry) string {
	words := []string{}
	if e.GetMethod() != "" {
		words = append(words, e.GetClient(), e.GetMethod(), strings.ToLower(strings.TrimPrefix(e.GetState().String(), "TIMELINE_STATE_")), e.GetReason())
	}
	switch {
	case e.GetTurn() != nil:
		for _, s := range e.GetTurn().GetSteps() {
			words = append(words, s.GetSummary())
		}
	case e.GetNavigation() != nil:
		words = append(words, "navigated", e.GetNavigation().GetUrl())
	case e.GetProblem() != nil:
		words = append(words, "problem", e.GetProblem().GetText())
	case e.GetRequest() != nil:
		words = append(words, "request", e.GetRequest().GetUrl())
	case e.GetStatus() != nil:
		words = append(words, e.GetStatus().GetReason())
	case e.GetControl() != nil:
		words = append(words, strings.ToLower(strings.TrimPrefix(e.GetControl().GetAction().String(), "TIMELINE_ACTION_")), e.GetControl().GetClient(), e.GetControl().GetReason())
	}
	if e.GetCount() > 1 {
		words = append(words, fmt.Sprintf("x%d", e.GetCount()))
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

func written(entries []*domtapv1.TimelineEntry) string {
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(writtenEntry(e) + "\n")
	}
	return all.String()
}

func TestTimelineIsInOrder(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Textbox("Email", "x"), actortest.Button("Pay"))
		id := tab.GetId()
		ctx := metadata.AppendToOutgoingContext(t.Context(), listen.ClientKey, "agent")
		for range 3 {
			if _, err := b.dom.GetCompact(ctx, &domtapv1.GetCompactRequest{TabId: id}); err != nil {
				t.Fatal(err)
			}
		}
		page.Log().Add(pagelog.Console, time.Now(), 1, told{Level: "log", Text: "fine"})
		page.Log().Add(pagelog.Console, time.Now(), 1, told{Level: "error", Text: "broken"})
		page.Log().Begin("1", 0, pagelog.Entry{At: time.Now(), Level: "GET", URL: "/missing"})
		page.Log().End("1", 0, func(e *pagelog.Entry) { e.Status = 404 })
		if _, err := b.act.Interact(ctx, &domtapv1.InteractRequest{TabId: id, ClientId: "other", Steps: []*domtapv1.Step{
			clickOn(&domtapv1.Target{Role: "button", Name: "Pay"}),
			{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: ref(0), Text: "typed secret"}}},
			{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "z"}}}}}); err != nil {
			t.Fatal(err)
		}
		_, err := b.act.Interact(ctx, &domtapv1.InteractRequest{TabId: id, Steps: []*domtapv1.Step{clickOn(ref(99))}})
		wantCode(t, err, codes.InvalidArgument, "")
		if _, err := b.tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: id}); err != nil {
			t.Fatal(err)
		}
		got := b.entries(&domtapv1.GetTimelineRequest{TabId: id})
		want := `connection 1 OpenTab done opened
navigated ` + shopURL + `
agent GetCompact done x3
problem broken
request /missing
other Interact done click "Pay": ok fill "Email": ok press a character: ok
agent Interact failed INVALID click 99: no such ref
connection 1 Reload done
navigated ` + shopURL + `
`
		if all := written(got.GetEntries()); all != want {
			t.Errorf("the timeline is\n%swant\n%s", all, want)
		}
		if text := fmt.Sprint(got.GetEntries()); strings.Contains(text, "typed secret") && !strings.Contains(text, `value:"typed secret"`) {
			t.Errorf("what was typed is in %s", text)
		}
		for i, e := range got.GetEntries() {
			if e.GetId() != uint64(i+1) {
				t.Errorf("entry %d has the id %d", i+1, e.GetId())
			}
		}
		step := got.GetEntries()[5].GetTurn().GetSteps()[0]
		if step.GetTarget().GetName() != "Pay" || step.GetRef() != 1 || step.GetRole() != "button" || step.GetDelivered() != domtapv1.Delivered_DELIVERED_ALL {
			t.Errorf("the first step is %v", step)
		}
		if clients := got.GetClients(); len(clients) != 3 || clients[1].GetReads() != 3 || clients[1].GetFailed() != 1 || clients[1].GetTokens() == 0 {
			t.Errorf("the clients are %v", clients)
		}
		only := b.entries(&domtapv1.GetTimelineRequest{TabId: id, Kinds: []domtapv1.TimelineKind{domtapv1.TimelineKind_TIMELINE_KIND_TURN}, Client: "other"})
		if len(only.GetEntries()) != 1 {
			t.Errorf("filtered: %s", written(only.GetEntries()))
		}
		limit := int32(2)
		part := b.entries(&domtapv1.GetTimelineRequest{TabId: id, AfterId: 1, Limit: &limit})
		if ids := part.GetEntries(); len(ids) != 2 || ids[0].GetId() != 2 || !part.GetMore() {
			t.Errorf("after the first: %v", part)
		}
	})
}

func TestTimelineIsWatchedAndOutlivesItsTab(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		id := tab.GetId()
		before := b.entries(&domtapv1.GetTimelineRequest{TabId: id})
		stream, err := b.timeline().WatchTimeline(t.Context(), &domtapv1.WatchTimelineRequest{TabId: id, AfterVersion: before.GetVersion()})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		page.Log().Add(pagelog.Failure, time.Now(), 1, told{Text: "uncaught"})
		next := func() *domtapv1.WatchTimelineResponse {
			t.Helper()
			m, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		if m := next(); written(m.GetEntries()) != "problem uncaught\n" || m.GetReset_() {
			t.Errorf("the first message is %v", m)
		}
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: id}); err != nil {
			t.Fatal(err)
		}
		all := ""
		for {
			m, err := stream.Recv()
			if err != nil {
				wantCode(t, err, codes.Aborted, "TAB_CLOSED")
				break
			}
			all += written(m.GetEntries())
		}
		if !strings.Contains(all, "closed\n") {
			t.Errorf("at the end: %s", all)
		}
		after := b.entries(&domtapv1.GetTimelineRequest{TabId: id})
		if !after.GetClosed() || !strings.HasSuffix(written(after.GetEntries()), "CloseTab done\nclosed\n") {
			t.Errorf("closed %v: %s", after.GetClosed(), written(after.GetEntries()))
		}
		time.Sleep(11 * time.Minute) // fake time
		_, err = b.timeline().GetTimeline(t.Context(), &domtapv1.GetTimelineRequest{TabId: id})
		wantCode(t, err, codes.NotFound, "")
		again, err := b.timeline().WatchTimeline(t.Context(), &domtapv1.WatchTimelineRequest{TabId: id})
		if err == nil {
			_, err = again.Recv()
		}
		wantCode(t, err, codes.NotFound, "")
	})
}

func TestWatchTimelineStartsAnewWithAStrangeVersion(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Button("Pay"))
		ctx, cancel := context.WithCancel(t.Context())
		stream, err := b.timeline().WatchTimeline(ctx, &domtapv1.WatchTimelineRequest{TabId: tab.GetId(), AfterVersion: 1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		m, err := stream.Recv()
		if err != nil || !m.GetReset_() || len(m.GetEntries()) != 2 {
			t.Errorf("%v, %v", m, err)
		}
		cancel()
		if _, err := stream.Recv(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestPausedClientsWait(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, page := b.shop(actortest.Button("Pay"))
		id, control := tab.GetId(), b.timeline()
		b.getDom(&domtapv1.GetDomRequest{TabId: id, ClientId: "agent"})
		pause := &domtapv1.PauseClientRequest{TabId: id, Client: "agent", Reason: "let me look", ClientId: "me"}
		if _, err := control.PauseClient(t.Context(), pause); err != nil {
			t.Fatal(err)
		}
		click := func(ctx context.Context, client string) error {
			_, err := b.act.Interact(ctx, &domtapv1.InteractRequest{TabId: id, ClientId: client, Steps: []*domtapv1.Step{clickOn(&domtapv1.Target{Name: "Pay", Role: "button"})}})
			return err
		}
		// The call fails shortly before its deadline, with the reason.
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := click(short, "agent")
		if wantCode(t, err, codes.FailedPrecondition, "CLIENT_PAUSED"); err != nil && !strings.Contains(err.Error(), "let me look") || short.Err() != nil {
			t.Errorf("%v, %v", err, short.Err())
		}
		cancel()
		// Other clients can act, and the paused client can read.
		if err := click(t.Context(), "other"); err != nil {
			t.Error(err)
		}
		b.getDom(&domtapv1.GetDomRequest{TabId: id, ClientId: "agent"})
		ended := make(chan error, 1)
		go func() { ended <- click(t.Context(), "agent") }()
		synctest.Wait()
		listed, err := control.ListPauses(t.Context(), &domtapv1.ListPausesRequest{TabId: id})
		if err != nil || len(listed.GetPauses()) != 1 || listed.GetPauses()[0].GetWaiting() != 1 || listed.GetPauses()[0].GetBy() != "me" {
			t.Errorf("%v, %v", listed, err)
		}
		waiting := b.entries(&domtapv1.GetTimelineRequest{TabId: id})
		if last := waiting.GetEntries()[len(waiting.GetEntries())-1]; writtenEntry(last) != "agent Interact waiting" {
			t.Errorf("the last entry is %s", writtenEntry(last))
		}
		if n := len(page.Actions()); n != 1 {
			t.Errorf("%d actions", n)
		}
		_, err = control.ResumeClient(t.Context(), &domtapv1.ResumeClientRequest{TabId: id, Client: "agent", ClientId: "agent"})
		wantCode(t, err, codes.FailedPrecondition, "CLIENT_PAUSED")
		if _, err := control.ResumeClient(t.Context(), &domtapv1.ResumeClientRequest{TabId: id, Client: "agent", ClientId: "me"}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_, err = control.ResumeClient(t.Context(), &domtapv1.ResumeClientRequest{TabId: id, Client: "agent", ClientId: "me"})
		wantCode(t, err, codes.FailedPrecondition, "NOT_PAUSED")
	})
}

func TestTakeOverHoldsAllOthers(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Button("Pay"))
		id, control := tab.GetId(), b.timeline()
		if _, err := control.TakeOver(t.Context(), &domtapv1.TakeOverRequest{TabId: id, Reason: "mine", Mode: domtapv1.PauseMode_PAUSE_MODE_FAIL, ClientId: "me"}); err != nil {
			t.Fatal(err)
		}
		as := func(name string) context.Context {
			return metadata.AppendToOutgoingContext(t.Context(), listen.ClientKey, name)
		}
		for _, name := range []string{"agent", "other"} {
			_, err := b.tabs.Reload(as(name), &domtapv1.ReloadRequest{TabId: id})
			wantCode(t, err, codes.FailedPrecondition, "CLIENT_PAUSED")
		}
		if _, err := b.tabs.Reload(as("me"), &domtapv1.ReloadRequest{TabId: id}); err != nil {
			t.Error(err)
		}
		if got := b.entries(&domtapv1.GetTimelineRequest{TabId: id}); got.GetTakenOverBy() != "me" || !got.GetClients()[1].GetPaused() {
			t.Errorf("taken over by %q; %v", got.GetTakenOverBy(), got.GetClients())
		}
		if _, err := control.HandBack(t.Context(), &domtapv1.HandBackRequest{TabId: id, ClientId: "me"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.tabs.Reload(as("agent"), &domtapv1.ReloadRequest{TabId: id}); err != nil {
			t.Error(err)
		}
		// A pause in a session also refuses new tabs. Closing a tab is still allowed.
		if _, err := control.PauseClient(t.Context(), &domtapv1.PauseClientRequest{SessionId: "default", Client: "agent", Mode: domtapv1.PauseMode_PAUSE_MODE_FAIL, ClientId: "me"}); err != nil {
			t.Fatal(err)
		}
		_, err := b.tabs.OpenTab(as("agent"), &domtapv1.OpenTabRequest{})
		wantCode(t, err, codes.FailedPrecondition, "CLIENT_PAUSED")
		if _, err := b.tabs.CloseTab(as("agent"), &domtapv1.CloseTabRequest{TabId: id}); err != nil {
			t.Error(err)
		}
		_, err = control.PauseClient(t.Context(), &domtapv1.PauseClientRequest{TabId: id, SessionId: "default", Client: "agent"})
		wantCode(t, err, codes.InvalidArgument, "")
	})
}

func TestClosingATabLetsGoOfWhoWaits(t *testing.T) {
	inBubble(t, Config{}, func(t *testing.T, b *bench) {
		tab, _ := b.shop(actortest.Button("Pay"))
		if _, err := b.timeline().TakeOver(t.Context(), &domtapv1.TakeOverRequest{TabId: tab.GetId(), ClientId: "me"}); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := b.tabs.Reload(t.Context(), &domtapv1.ReloadRequest{TabId: tab.GetId()})
			ended <- err
		}()
		synctest.Wait()
		if _, err := b.tabs.CloseTab(t.Context(), &domtapv1.CloseTabRequest{TabId: tab.GetId()}); err != nil {
			t.Fatal(err)
		}
		wantCode(t, <-ended, codes.NotFound, "")
	})
}
