package server

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// FuzzRequestsNeverPanic decodes any bytes as a GetDomRequest and passes the request through the checks and the handler, on a page with a
// frame. A request that passes the checks must not cause an internal error.
func FuzzRequestsNeverPanic(f *testing.F) {
	for _, r := range []*domtapv1.GetDomRequest{
		{}, {TabId: "t1"}, {TabId: "t1", FullSnapshot: true, Incremental: true, IncludeGeometry: true},
		{TabId: "t1", RootRef: proto.Uint32(1), FrameId: "F", MaxElements: proto.Int32(1), MaxTokens: proto.Int32(200)},
		{TabId: "t1", SinceRevision: proto.Uint64(2), Epoch: "e", IncludeAttributes: []string{"id", "x"}, ClientId: "c"},
	} {
		data, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	service, tab := fuzzed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := new(domtapv1.GetDomRequest)
		if proto.Unmarshal(data, r) != nil {
			return
		}
		if r.GetTabId() != "" {
			r.TabId = tab.ID()
		}
		if err := checkRequest(r); err != nil {
			if c := status.Code(err); c != codes.InvalidArgument && c != codes.Unimplemented {
				t.Errorf("the checks say %v", err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(identity.With(t.Context(), identity.Operator()), 10*time.Second)
		defer cancel()
		resp, err := service.GetDom(ctx, r)
		if ctx.Err() != nil {
			t.Errorf("the handler did not end: %v", err)
		}
		if c := status.Code(rpcstatus.From(err)); c == codes.Internal || c == codes.Unknown {
			t.Errorf("the handler says %v", err)
		}
		if limit := r.GetMaxElements(); err == nil && limit > 0 && !r.GetFullSnapshot() && len(resp.GetElements()) > int(limit) {
			t.Errorf("%d elements, limit %d", len(resp.GetElements()), limit)
		}
	})
}

// FuzzForeignCursorsAreRefused passes any string as a cursor to the checks and the handler. Every string except the returned cursor must be
// refused as invalid or expired.
func FuzzForeignCursorsAreRefused(f *testing.F) {
	service, tab := fuzzed(f)
	r := &domtapv1.GetDomRequest{TabId: tab.ID(), MaxElements: proto.Int32(5)}
	first, err := service.GetDom(identity.With(f.Context(), identity.Operator()), r)
	if err != nil {
		f.Fatal(err)
	}
	given := first.GetMetadata().GetNextCursor()
	for _, cursor := range []string{given, "c1", "c000000000", "C" + given[1:], given + " ", "\x00", "c-00000001", "🙂🙂🙂", "c999999999999999999999"} {
		f.Add(cursor)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		r := &domtapv1.GetDomRequest{TabId: tab.ID(), MaxElements: proto.Int32(5), Cursor: cursor}
		err := checkRequest(r)
		var answer *domtapv1.GetDomResponse
		if err == nil {
			answer, err = service.GetDom(identity.With(t.Context(), identity.Operator()), r)
		}
		err = rpcstatus.From(err)
		switch c := status.Code(err); {
		case cursor == "", cursor == given:
			if err != nil || len(answer.GetElements()) != 5 {
				t.Errorf("the cursor %q: %v", cursor, err)
			}
		case c == codes.InvalidArgument && slices.Equal(violatedFields(err), []string{"cursor"}):
		case c == codes.FailedPrecondition && rpcstatus.Reason(err) == "CURSOR_EXPIRED":
		default:
			t.Errorf("the cursor %q: %v", cursor, err)
		}
	})
}

// fuzzed returns a service, and a tab on a page with a frame.
func fuzzed(f *testing.F) (domtapv1.DomServiceServer, *actor.Tab) {
	f.Helper()
	browser := actortest.NewBrowser()
	browser.Serve(shopURL, func() actortest.Screen {
		frame := &actortest.Frame{ID: "F", Body: buttons("Inner", 3)}
		return actortest.Screen{Title: "Shop", Body: append(buttons("B", 12), actortest.Iframe("Frame", frame))}
	})
	pool := tabpool.New(browser, tabpool.Config{})
	f.Cleanup(func() {
		if err := pool.Close(context.WithoutCancel(f.Context())); err != nil {
			f.Log(err)
		}
	})
	server, err := New(pool, Config{})
	if err != nil {
		f.Fatal(err)
	}
	tab, err := pool.Open(f.Context(), tabpool.OpenOptions{URL: shopURL})
	if err != nil {
		f.Fatal(err)
	}
	return domServiceOf(server), tab
}
