package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/intercept"
)

// The tokens of a daemon with several clients.
const (
	aliceToken  = "token-of-alice-who-has-sessions-of-her-own-xx"
	bobToken    = "token-of-bob-who-has-sessions-of-his-own-xxxx"
	viewerToken = "token-of-somebody-who-looks-at-what-bob-doesx"
)

// clientList returns the list of these clients.
func clientList() []identity.Entry {
	return []identity.Entry{
		{Principal: identity.ClientPrincipal("alice", identity.All), Sum: identity.TokenSum(aliceToken)},
		{Principal: identity.ClientPrincipal("bob", identity.All), Sum: identity.TokenSum(bobToken)},
		{Principal: identity.ClientPrincipal("bob", identity.Read), Sum: identity.TokenSum(viewerToken)},
	}
}

// withClients runs a test with a server that has named clients.
func withClients(t *testing.T, test func(t *testing.T, b *bench, clients *identity.Clients)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clients := identity.New(t.Context(), testToken)
		clients.Set(clientList())
		opaque := func(session string) bool { return identity.OwnerOf(session) != identity.OperatorName }
		b := newBenchWith(t, Config{Token: testToken, Clients: clients, AllowEval: true, Recording: recording.Config{Dir: t.TempDir()}}, "tcp", tabpool.Config{Opaque: opaque})
		defer b.close()
		b.browser.Serve(shopURL, shopScreen)
		test(t, b, clients)
	})
}

// TestAClientsQuotaIsItsOwn opens tabs until a client reaches its limit. The error states whose limit it is, and another client can still
// open tabs.
func TestAClientsQuotaIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clients := identity.New(t.Context(), testToken)
		clients.Set(clientList())
		counted := new(refusals)
		quota := func(session string) (string, int) { return identity.OwnerOf(session), 1 }
		b := newBenchWith(t, Config{Token: testToken, Clients: clients, Metrics: counted}, "tcp", tabpool.Config{Quota: quota})
		defer b.close()
		for _, token := range []string{aliceToken, bobToken} {
			if _, err := b.tabs.OpenTab(as(t.Context(), token), &domtapv1.OpenTabRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.tabs.OpenTab(as(t.Context(), aliceToken), &domtapv1.OpenTabRequest{})
		wantLimit(t, err, "tabs_per_client", counted)
		if details := fmt.Sprint(status.Convert(err).Details()); !strings.Contains(details, `client:alice`) {
			t.Errorf("it does not say whose limit it is: %s", details)
		}
	})
}

// as returns a context for calls with a token.
func as(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

// samples holds a valid request for each method. tab_id and session_id are unset, and tests set them. A new method needs a sample, so that
// access by other clients is tested.
var samples = map[string]proto.Message{
	"TabService.OpenTab":             &domtapv1.OpenTabRequest{Url: shopURL},
	"TabService.ListTabs":            &domtapv1.ListTabsRequest{},
	"TabService.GetTab":              &domtapv1.GetTabRequest{},
	"TabService.CloseTab":            &domtapv1.CloseTabRequest{},
	"TabService.SetRestore":          &domtapv1.SetRestoreRequest{Restore: true},
	"TabService.Navigate":            &domtapv1.NavigateRequest{Url: shopURL},
	"TabService.GoBack":              &domtapv1.GoBackRequest{},
	"TabService.GoForward":           &domtapv1.GoForwardRequest{},
	"TabService.Reload":              &domtapv1.ReloadRequest{},
	"TabService.AnswerDialog":        &domtapv1.AnswerDialogRequest{},
	"TabService.WatchTabs":           &domtapv1.WatchTabsRequest{},
	"DomService.GetDom":              &domtapv1.GetDomRequest{},
	"DomService.GetCompact":          &domtapv1.GetCompactRequest{},
	"DomService.WatchDom":            &domtapv1.WatchDomRequest{},
	"DomService.Find":                &domtapv1.FindRequest{Query: "x"},
	"DomService.WaitFor":             &domtapv1.WaitForRequest{Until: &domtapv1.WaitCondition{Text: "B"}},
	"ActionService.Interact":         &domtapv1.InteractRequest{Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}}},
	"ActionService.FillForm":         &domtapv1.FillFormRequest{Fields: []*domtapv1.FormField{{Label: "B", Value: "x"}}},
	"ToolService.ListTools":          &domtapv1.ListToolsRequest{},
	"ToolService.CallTool":           &domtapv1.CallToolRequest{Name: "x"},
	"ToolService.WatchTools":         &domtapv1.WatchToolsRequest{},
	"PageService.ReadPage":           &domtapv1.ReadPageRequest{},
	"PageService.Screenshot":         &domtapv1.ScreenshotRequest{},
	"PageService.Pdf":                &domtapv1.PdfRequest{},
	"PageService.Extract":            &domtapv1.ExtractRequest{Selectors: []string{"h1"}},
	"PageService.Batch":              &domtapv1.BatchRequest{Urls: []string{shopURL}},
	"PageService.Evaluate":           &domtapv1.EvaluateRequest{Expression: "1"},
	"PageService.ReadLog":            &domtapv1.ReadLogRequest{},
	"PageService.GetRequest":         &domtapv1.GetRequestRequest{RequestId: 1},
	"PageService.ExportHar":          &domtapv1.ExportHarRequest{},
	"PageService.Audit":              &domtapv1.AuditRequest{},
	"PageService.RecordVideo":        &domtapv1.RecordVideoRequest{},
	"SessionService.CreateSession":   &domtapv1.CreateSessionRequest{},
	"SessionService.ListSessions":    &domtapv1.ListSessionsRequest{},
	"SessionService.UpdateSession":   &domtapv1.UpdateSessionRequest{},
	"SessionService.CloseSession":    &domtapv1.CloseSessionRequest{},
	"SessionService.GetStorageState": &domtapv1.GetStorageStateRequest{},
	"SessionService.SetStorageState": &domtapv1.SetStorageStateRequest{Replace: true},
	"SessionService.ListDownloads":   &domtapv1.ListDownloadsRequest{},
	"ContextService.PruneTranscript": &domtapv1.PruneTranscriptRequest{MessagesJson: "[]"},
	"ContextService.CountTokens":     &domtapv1.CountTokensRequest{Text: "x"},
	"ContextService.GetHistory":      &domtapv1.GetHistoryRequest{},
	"StatsService.GetStats":          &domtapv1.GetStatsRequest{},

	"StorageService.ListCookies":        &domtapv1.ListCookiesRequest{},
	"StorageService.SetCookies":         &domtapv1.SetCookiesRequest{Cookies: []*domtapv1.Cookie{{Name: "a", Value: "b", Domain: "shop.example"}}},
	"StorageService.DeleteCookies":      &domtapv1.DeleteCookiesRequest{All: true},
	"StorageService.GetLocalStorage":    &domtapv1.GetLocalStorageRequest{},
	"StorageService.EditLocalStorage":   &domtapv1.EditLocalStorageRequest{Origin: "https://shop.example", Edit: &domtapv1.StorageEdit{Clear: true}},
	"StorageService.GetSessionStorage":  &domtapv1.GetSessionStorageRequest{},
	"StorageService.EditSessionStorage": &domtapv1.EditSessionStorageRequest{Edit: &domtapv1.StorageEdit{Clear: true}},

	"NetworkService.AddRoute":     &domtapv1.AddRouteRequest{Route: &domtapv1.Route{UrlPattern: "**", Action: &domtapv1.Route_Abort{Abort: new(domtapv1.RouteAbort)}}},
	"NetworkService.ListRoutes":   &domtapv1.ListRoutesRequest{},
	"NetworkService.RemoveRoutes": &domtapv1.RemoveRoutesRequest{},

	"TimelineService.GetTimeline":   &domtapv1.GetTimelineRequest{},
	"TimelineService.WatchTimeline": &domtapv1.WatchTimelineRequest{},
	"TimelineService.PauseClient":   &domtapv1.PauseClientRequest{Client: "agent"},
	"TimelineService.ResumeClient":  &domtapv1.ResumeClientRequest{Client: "agent"},
	"TimelineService.TakeOver":      &domtapv1.TakeOverRequest{ClientId: "me"},
	"TimelineService.HandBack":      &domtapv1.HandBackRequest{},
	"TimelineService.ListPauses":    &domtapv1.ListPausesRequest{},

	"SearchService.Search":              &domtapv1.SearchRequest{Query: "x"},
	"SearchService.ListSearchProviders": &domtapv1.ListSearchProvidersRequest{},

	"ClusterService.GetCluster":  &domtapv1.GetClusterRequest{},
	"ClusterService.DrainNode":   &domtapv1.DrainNodeRequest{NodeId: "n1"},
	"ClusterService.MoveSession": &domtapv1.MoveSessionRequest{SessionId: "s", NodeId: "n1"},

	"RecordingService.Record":         &domtapv1.RecordRequest{},
	"RecordingService.StopRecording":  &domtapv1.StopRecordingRequest{},
	"RecordingService.ListRecordings": &domtapv1.ListRecordingsRequest{},
	"ReplayService.GetReplay":         &domtapv1.GetReplayRequest{},
	"ReplayService.Seek":              &domtapv1.SeekRequest{At: &domtapv1.Moment{When: &domtapv1.Moment_Offset{Offset: seconds(1)}}},

	"DaemonService.StartLivePage": &domtapv1.StartLivePageRequest{},
	"DaemonService.StopLivePage":  &domtapv1.StopLivePageRequest{},
}

// everyMethod calls do for every method of the API, which must have a sample.
func everyMethod(t *testing.T, do func(name string, method protoreflect.MethodDescriptor, sample proto.Message)) {
	t.Helper()
	seen := 0
	protoregistry.GlobalFiles.RangeFilesByPackage("domtap.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			for j := range file.Services().Get(i).Methods().Len() {
				method := file.Services().Get(i).Methods().Get(j)
				name := string(method.Parent().Name()) + "." + string(method.Name())
				sample := samples[name]
				if sample == nil {
					t.Errorf("%s has no sample: give it one in samples, so that what strangers get from it is known", name)
					continue
				}
				seen++
				do(name, method, proto.Clone(sample))
			}
		}
		return true
	})
	if seen != len(samples) {
		t.Errorf("%d methods were tried, and there are %d samples", seen, len(samples))
	}
}

// pathOf returns the full name of a method, such as /domtap.v1.TabService/GetTab.
func pathOf(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

// ask calls any method, and returns the first answer.
func (b *bench) ask(ctx context.Context, method protoreflect.MethodDescriptor, request proto.Message) (proto.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	path := pathOf(method)
	answer := dynamicpb.NewMessage(method.Output())
	if !method.IsStreamingServer() {
		return answer, b.conn.Invoke(ctx, path, request, answer)
	}
	stream, err := b.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(stream.SendMsg(request), stream.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return answer, stream.RecvMsg(answer)
}

// with sets a field of a request. It returns false if the request has no such field.
func with(request proto.Message, name, value string) (proto.Message, bool) {
	m := proto.Clone(request)
	field := m.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(name))
	if field == nil {
		return nil, false
	}
	m.ProtoReflect().Set(field, protoreflect.ValueOfString(value))
	return m, true
}

// differ describes how two errors differ, apart from the IDs in their requests. It returns "" if they are equal.
func differ(a, b error, idA, idB string) string {
	one, _ := prototext.Marshal(status.Convert(a).Proto())
	other, _ := prototext.Marshal(status.Convert(b).Proto())
	got, want := strings.Join(strings.Fields(string(one)), " "), strings.Join(strings.Fields(string(other)), " ")
	if strings.ReplaceAll(got, idA, "ID") == strings.ReplaceAll(want, idB, "ID") {
		return ""
	}
	return got + "\nwant\n" + want
}

// TestTabsOfOtherClientsLookUnknown calls every method of the API with the IDs of another client's tab, session and cursor. The answer must
// equal that for an ID that never existed.
func TestTabsOfOtherClientsLookUnknown(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, _ *identity.Clients) {
		bob, alice := as(t.Context(), bobToken), as(t.Context(), aliceToken)
		if _, err := b.sessions.CreateSession(bob, &domtapv1.CreateSessionRequest{SessionId: "work"}); err != nil {
			t.Fatal(err)
		}
		his, err := b.tabs.OpenTab(bob, &domtapv1.OpenTabRequest{Url: shopURL, SessionId: "work"})
		if err != nil {
			t.Fatal(err)
		}
		operators, err := b.tabs.OpenTab(as(t.Context(), testToken), &domtapv1.OpenTabRequest{Url: shopURL})
		if err != nil {
			t.Fatal(err)
		}
		everyMethod(t, func(name string, method protoreflect.MethodDescriptor, sample proto.Message) {
			for _, known := range []string{his.GetTab().GetId(), operators.GetTab().GetId()} {
				none := strings.Repeat("x", len(known))
				request, has := with(sample, "tab_id", known)
				if !has {
					continue
				}
				unknown, _ := with(sample, "tab_id", none)
				_, err := b.ask(alice, method, request)
				_, want := b.ask(alice, method, unknown)
				if diff := differ(err, want, known, none); diff != "" || status.Code(err) != codes.NotFound {
					t.Errorf("%s of a stranger's tab: %s", name, diff)
				}
			}
			for _, known := range []string{"work", "bob.work", "bob.default", "alice.default"} {
				none := strings.Repeat("x", len(known))
				request, has := with(sample, "session_id", known)
				if !has || name == "SessionService.CreateSession" || intercept.Operators[pathOf(method)] {
					continue
				}
				unknown, _ := with(sample, "session_id", none)
				_, err := b.ask(alice, method, request)
				_, want := b.ask(alice, method, unknown)
				if diff := differ(err, want, known, none); diff != "" || status.Code(err) != codes.NotFound {
					t.Errorf("%s of a stranger's session %s: %s", name, known, diff)
				}
			}
		})
		if _, err := b.tabs.GetTab(bob, &domtapv1.GetTabRequest{TabId: his.GetTab().GetId()}); err != nil {
			t.Errorf("bob's own tab: %v", err)
		}
		// Another client can use the same name.
		made, err := b.sessions.CreateSession(alice, &domtapv1.CreateSessionRequest{SessionId: "work"})
		if err != nil || made.GetSession().GetId() != "work" {
			t.Errorf("a session of the same name: %v, %v", made, err)
		}
		_, err = b.sessions.CreateSession(alice, &domtapv1.CreateSessionRequest{SessionId: "work"})
		_, want := b.sessions.CreateSession(as(t.Context(), testToken), &domtapv1.CreateSessionRequest{SessionId: "default"})
		if diff := differ(err, want, `\"work\"`, `\"default\"`); diff != "" || status.Code(err) != codes.AlreadyExists {
			t.Errorf("a session of one's own twice: %s", diff)
		}
	})
}

// TestAClientSeesItsOwnAlone calls every method as a client with tabs and sessions, while other clients also have tabs and sessions. No
// answer may contain anything of the other clients, or the daemon's names for sessions.
func TestAClientSeesItsOwnAlone(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, _ *identity.Clients) {
		alice := as(t.Context(), aliceToken)
		foreign := []string{"alice.", "bob"}
		for _, token := range []string{bobToken, testToken} {
			if _, err := b.sessions.CreateSession(as(t.Context(), token), &domtapv1.CreateSessionRequest{SessionId: "bobs-own"}); err != nil {
				t.Fatal(err)
			}
			other, err := b.tabs.OpenTab(as(t.Context(), token), &domtapv1.OpenTabRequest{Url: shopURL, SessionId: "bobs-own"})
			if err != nil {
				t.Fatal(err)
			}
			if id := other.GetTab().GetId(); token == bobToken { // the operator's t1 is too short to look for
				foreign = append(foreign, id)
			}
		}
		mine, err := b.tabs.OpenTab(alice, &domtapv1.OpenTabRequest{Url: shopURL})
		if err != nil || mine.GetTab().GetSessionId() != "default" || strings.HasSuffix(mine.GetTab().GetId(), "1") && len(mine.GetTab().GetId()) < 4 {
			t.Fatalf("got %v, %v", mine, err)
		}
		tabs := 0
		everyMethod(t, func(name string, method protoreflect.MethodDescriptor, sample proto.Message) {
			if m, has := with(sample, "tab_id", mine.GetTab().GetId()); has {
				sample = m
			}
			if name == "TabService.CloseTab" || name == "SessionService.CloseSession" || name == "PageService.GetRequest" || name == "ToolService.CallTool" { // the tab has made no request and offers no tools
				return
			}
			answer, err := b.ask(alice, method, sample)
			if code := status.Code(err); code == codes.NotFound || code == codes.Unauthenticated || code == codes.Internal {
				t.Errorf("%s of her own: %v", name, err)
			}
			text := status.Convert(err).String()
			if err == nil {
				text = prototext.Format(answer)
			}
			for _, word := range foreign {
				if strings.Contains(strings.ReplaceAll(text, "download_dir", ""), word) && !strings.Contains(text, "/downloads/"+word) {
					t.Errorf("%s answers with %q:\n%s", name, word, text)
				}
			}
			if name == "TabService.ListTabs" {
				tabs = strings.Count(text, "tabs")
			}
		})
		if tabs < 1 {
			t.Errorf("she does not see her own tabs")
		}
		stats, err := b.stats.GetStats(alice, &domtapv1.GetStatsRequest{})
		if err != nil || of(stats.GetTotal(), "OpenTab").GetCalls() != 2 || len(stats.GetSessions()) == 0 {
			t.Errorf("her account is %v, %v", stats, err)
		}
		all, err := b.tabs.ListTabs(as(t.Context(), testToken), &domtapv1.ListTabsRequest{})
		var owners []string
		for _, tab := range all.GetTabs() {
			owners = append(owners, tab.GetSessionId())
		}
		if got := strings.Join(owners, " "); err != nil || !strings.HasPrefix(got, "bob.bobs-own bobs-own alice.default") {
			t.Errorf("the operator sees tabs of %q, %v", got, err)
		}
		if _, err := b.dom.GetDom(as(t.Context(), testToken), &domtapv1.GetDomRequest{TabId: mine.GetTab().GetId()}); err != nil {
			t.Errorf("the operator reads her tab: %v", err)
		}
	})
}

// TestCursorsOfOtherClientsAreExpired uses a cursor of one client as another client, for its own tab.
func TestCursorsOfOtherClientsAreExpired(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, _ *identity.Clients) {
		cursors := map[string]string{}
		tabs := map[string]string{}
		for _, token := range []string{aliceToken, bobToken} {
			made, err := b.tabs.OpenTab(as(t.Context(), token), &domtapv1.OpenTabRequest{Url: shopURL})
			if err != nil {
				t.Fatal(err)
			}
			tabs[token] = made.GetTab().GetId()
			part, err := b.dom.GetDom(as(t.Context(), token), &domtapv1.GetDomRequest{TabId: tabs[token], MaxElements: proto.Int32(2)})
			if err != nil || part.GetMetadata().GetNextCursor() == "" {
				t.Fatalf("got %v, %v", part, err)
			}
			cursors[token] = part.GetMetadata().GetNextCursor()
		}
		_, err := b.dom.GetDom(as(t.Context(), aliceToken), &domtapv1.GetDomRequest{TabId: tabs[aliceToken], MaxElements: proto.Int32(2), Cursor: cursors[bobToken]})
		_, want := b.dom.GetDom(as(t.Context(), aliceToken), &domtapv1.GetDomRequest{TabId: tabs[aliceToken], MaxElements: proto.Int32(2), Cursor: "c000000000"})
		if diff := differ(err, want, cursors[bobToken], "c000000000"); diff != "" {
			t.Error(diff)
		}
		wantCode(t, err, codes.FailedPrecondition, "CURSOR_EXPIRED")
	})
}

// TestReadRightsAllowNoChanges calls every method with a read-only token.
func TestReadRightsAllowNoChanges(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, _ *identity.Clients) {
		made, err := b.tabs.OpenTab(as(t.Context(), bobToken), &domtapv1.OpenTabRequest{Url: shopURL})
		if err != nil {
			t.Fatal(err)
		}
		everyMethod(t, func(name string, method protoreflect.MethodDescriptor, sample proto.Message) {
			if m, has := with(sample, "tab_id", made.GetTab().GetId()); has {
				sample = m
			}
			_, err := b.ask(as(t.Context(), viewerToken), method, sample)
			path := pathOf(method)
			if got := status.Code(err) == codes.PermissionDenied; got == intercept.ReadMethods[path] {
				t.Errorf("%s: %v", name, err)
			}
			if !intercept.ReadMethods[path] {
				wantCode(t, err, codes.PermissionDenied, "RIGHTS")
			}
			_, err = b.ask(t.Context(), method, sample)
			wantCode(t, err, codes.Unauthenticated, "TOKEN")
			_, err = b.ask(as(t.Context(), "token-of-nobody-at-all-that-is-long-enough-xx"), method, sample)
			wantCode(t, err, codes.Unauthenticated, "TOKEN")
		})
	})
}

// TestRevokedTokenEndsItsCalls revokes a token while its streams are open. Another token of the same client keeps working.
func TestRevokedTokenEndsItsCalls(t *testing.T) {
	withClients(t, func(t *testing.T, b *bench, clients *identity.Clients) {
		made, err := b.tabs.OpenTab(as(t.Context(), bobToken), &domtapv1.OpenTabRequest{Url: shopURL})
		if err != nil {
			t.Fatal(err)
		}
		streams := map[string]domtapv1.DomService_WatchDomClient{}
		for _, token := range []string{bobToken, viewerToken} {
			stream, err := b.dom.WatchDom(as(t.Context(), token), &domtapv1.WatchDomRequest{TabId: made.GetTab().GetId()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
			streams[token] = stream
		}
		clients.Set(clientList()[:2])
		_, err = streams[viewerToken].Recv()
		wantCode(t, err, codes.Unauthenticated, "TOKEN")
		_, err = b.tabs.ListTabs(as(t.Context(), viewerToken), &domtapv1.ListTabsRequest{})
		wantCode(t, err, codes.Unauthenticated, "TOKEN")
		if m, err := streams[bobToken].Recv(); err != nil || m.GetHeartbeat() == nil {
			t.Errorf("the other stream got %v, %v", m, err)
		}
	})
}

// Answers that many streams share are encoded once. So they must not contain session names, which differ between clients.
func TestSharedAnswersNameNoSession(t *testing.T) {
	for _, m := range []proto.Message{&domtapv1.WatchDomResponse{}, &domtapv1.GetDomResponse{}} {
		if authz.Names(m.ProtoReflect().Descriptor()) {
			t.Errorf("%T names a session", m)
		}
	}
	for _, m := range []proto.Message{&domtapv1.InteractResponse{}, &domtapv1.ListSessionsResponse{}, &domtapv1.GetStatsResponse{}, &domtapv1.WatchTabsResponse{}} {
		if !authz.Names(m.ProtoReflect().Descriptor()) {
			t.Errorf("%T names no session", m)
		}
	}
}

// shopScreen returns a screen with a dozen buttons.
func shopScreen() actortest.Screen { return actortest.Screen{Title: "Shop", Body: buttons("B", 12)} }
