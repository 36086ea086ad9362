package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/limit"
)

// refusals counts refused calls.
type refusals struct {
	mu  sync.Mutex
	all map[string]int
}

func (*refusals) Unary() grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		return next(ctx, req)
	}
}

func (*refusals) Stream() grpc.StreamServerInterceptor {
	return func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		return next(srv, s)
	}
}
func (*refusals) Watching(int)            {}
func (*refusals) Sent(time.Duration, int) {}
func (*refusals) Resynced(string)         {}
func (r *refusals) Refused(limit string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]int{}
	}
	r.all[limit]++
}

func (r *refusals) of(limit string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[limit]
}

// wantLimit checks that an error names the limit, states whose limit it is, and suggests what to do.
func wantLimit(t *testing.T, err error, name string, counted *refusals) (retry time.Duration) {
	t.Helper()
	st := status.Convert(err)
	if st.Code() != codes.ResourceExhausted {
		t.Fatalf("got %v, want RESOURCE_EXHAUSTED for %s", err, name)
	}
	var named, quota bool
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			named = d.GetReason() == "LIMIT_REACHED" && d.GetMetadata()["limit"] == name && d.GetMetadata()["max"] != ""
		case *errdetails.QuotaFailure:
			quota = len(d.GetViolations()) == 1 && d.GetViolations()[0].GetSubject() != "" && d.GetViolations()[0].GetDescription() != ""
		case *errdetails.RetryInfo:
			retry = d.GetRetryDelay().AsDuration()
		}
	}
	if !named || !quota || !strings.Contains(st.Message(), ": ") {
		t.Errorf("the error says too little of %s: %v, %v", name, st.Message(), st.Details())
	}
	synctest.Wait()
	if counted != nil && counted.of(name) == 0 {
		t.Errorf("%s was not counted: %v", name, counted.all)
	}
	return retry
}

func TestEveryLimitIsReportedAndCounted(t *testing.T) {
	counted := new(refusals)
	cfg := Config{Metrics: counted, Limits: limit.Config{CallsPerSecond: 100, Burst: 50, Streams: 3, StreamsPerClient: 2, Connections: 2, RequestBytes: 10_000, ResponseBytes: 20_000}}
	synctest.Test(t, func(t *testing.T) {
		b := newBenchWith(t, cfg, "unix", tabpool.Config{MaxTabs: 2})
		defer b.close()
		b.serveMany(400)
		opened, _ := b.open(shopURL)
		tab := opened.GetId()
		b.open(shopURL)

		_, err := b.tabs.OpenTab(t.Context(), &domtapv1.OpenTabRequest{Url: shopURL})
		wantLimit(t, err, "tabs", counted)
		for range 4 {
			if _, err = b.sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{}); err != nil {
				t.Fatal(err)
			}
		}
		_, err = b.sessions.CreateSession(t.Context(), &domtapv1.CreateSessionRequest{})
		wantLimit(t, err, "sessions", counted)

		_, err = b.texts.CountTokens(t.Context(), &domtapv1.CountTokensRequest{Text: strings.Repeat("x", 10_001)})
		wantLimit(t, err, limit.Request, counted)
		if _, err := b.texts.CountTokens(t.Context(), &domtapv1.CountTokensRequest{Text: strings.Repeat("x", 25_000)}); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("a request that is far too large: %v", err)
		}
		_, err = b.dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: tab, FullSnapshot: true})
		wantLimit(t, err, limit.Response, counted)

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 2 {
			if _, err := b.watchOn(ctx, b.dom, tab); err != nil {
				t.Fatal(err)
			}
		}
		_, err = b.watchOn(ctx, b.dom, tab)
		wantLimit(t, err, limit.StreamsPerClient, counted)
		second := b.redial()
		defer second.Close()
		if _, err := b.watchOn(ctx, domtapv1.NewDomServiceClient(second), tab); err != nil {
			t.Fatal(err)
		}
		_, err = b.watchOn(ctx, domtapv1.NewDomServiceClient(second), tab)
		wantLimit(t, err, limit.Streams, counted)

		third := b.redial()
		defer third.Close()
		tabs := domtapv1.NewTabServiceClient(third)
		_, err = tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
		wantLimit(t, err, limit.Connections, counted)
		if _, err := healthv1.NewHealthClient(third).Check(ctx, &healthv1.HealthCheckRequest{}); err != nil {
			t.Errorf("the health is not told any more: %v", err)
		}
		_ = second.Close()
		synctest.Wait()
		if _, err := tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{}); err != nil {
			t.Errorf("there is room again, and yet: %v", err)
		}

		for err = nil; err == nil; _, err = b.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{}) {
		}
		retry := wantLimit(t, err, limit.Calls, counted)
		if _, err := tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{}); err != nil {
			t.Errorf("another client pays for it: %v", err)
		}
		if retry <= 0 {
			t.Fatal("nobody says when to try again")
		}
		time.Sleep(retry)
		if _, err := b.tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{}); err != nil {
			t.Errorf("tried again when told to: %v", err)
		}
	})
}

// serveMany serves a page of n buttons.
func (b *bench) serveMany(n int) {
	b.browser.Serve(shopURL, func() actortest.Screen {
		s := actortest.Screen{Title: "Shop"}
		for range n {
			s.Body = append(s.Body, actortest.Button(strings.Repeat("Pay ", 20)))
		}
		return s
	})
}

// watchOn starts a stream with a client, and reads its first message, which is small.
func (b *bench) watchOn(ctx context.Context, dom domtapv1.DomServiceClient, tab string) (domtapv1.DomService_WatchDomClient, error) {
	most := int32(1)
	stream, err := dom.WatchDom(ctx, &domtapv1.WatchDomRequest{TabId: tab, MaxElements: &most})
	if err == nil {
		_, err = stream.Recv()
	}
	return stream, err
}

func TestAStreamWhoseMessageIsTooLargeSaysSo(t *testing.T) {
	inBubble(t, Config{Limits: limit.Config{ResponseBytes: 20_000}}, func(t *testing.T, b *bench) {
		b.serveMany(400)
		tab, _ := b.open(shopURL)
		stream, err := b.dom.WatchDom(t.Context(), &domtapv1.WatchDomRequest{TabId: tab.GetId(), FullSnapshot: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = stream.Recv()
		wantLimit(t, err, limit.Response, nil)
	})
}

func TestHealthStreamsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, Config{Token: testToken}, "tcp")
		defer b.close()
		client := healthv1.NewHealthClient(b.conn)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		watch := func() error {
			stream, err := client.Watch(ctx, &healthv1.HealthCheckRequest{})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		}
		for range 100 {
			if err := watch(); err != nil {
				t.Fatal(err)
			}
		}
		wantLimit(t, watch(), "health_streams", nil)
	})
}

func TestAClientThatAsksTooOftenDoesNotFillTheLog(t *testing.T) {
	var log bytes.Buffer
	cfg := Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Limits: limit.Config{CallsPerSecond: 1, Burst: 1}}
	inBubble(t, cfg, func(t *testing.T, b *bench) {
		for range 50 {
			_, _ = b.tabs.ListTabs(t.Context(), &domtapv1.ListTabsRequest{}) // most calls are refused
		}
	})
	if n := strings.Count(log.String(), "ResourceExhausted"); n > 0 {
		t.Errorf("%d lines say so", n)
	}
}
