package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// play is a daemon that sends the streams of a test, one after the other. It repeats the last one.
type play struct {
	domtapv1.DomServiceClient
	streams []stream
	// requests holds the received requests.
	requests []*domtapv1.WatchDomRequest
	// open counts the streams whose reader has not left.
	open atomic.Int32
}

// stream holds the messages of one WatchDom call and its final error. If the error is nil, the stream stays open until the reader leaves.
type stream struct {
	messages []*domtapv1.WatchDomResponse
	end      error
}

func (p *play) WatchDom(ctx context.Context, r *domtapv1.WatchDomRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[domtapv1.WatchDomResponse], error) {
	s := p.streams[min(len(p.requests), len(p.streams)-1)]
	p.requests = append(p.requests, r)
	p.open.Add(1)
	context.AfterFunc(ctx, func() { p.open.Add(-1) })
	return &playing{ctx: ctx, stream: s}, nil
}

type playing struct {
	grpc.ServerStreamingClient[domtapv1.WatchDomResponse]
	ctx    context.Context
	stream stream
	at     int
}

func (p *playing) Recv() (*domtapv1.WatchDomResponse, error) {
	if p.at < len(p.stream.messages) {
		p.at++
		m := p.stream.messages[p.at-1]
		if m.Sequence == 0 {
			m.Sequence = uint64(p.at)
		}
		return m, nil
	}
	if p.stream.end != nil {
		return nil, p.stream.end
	}
	<-p.ctx.Done()
	return nil, status.FromContextError(p.ctx.Err()).Err()
}

// These functions return the messages of a play.

func snapshot(epoch string, revision uint64, texts ...string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Epoch: epoch, Revision: revision, Event: &domtapv1.WatchDomResponse_Snapshot{
		Snapshot: &domtapv1.Snapshot{Elements: elements(texts...), Url: "http://page/", Title: "Page"}}}
}

func resync(epoch string, revision uint64, reason string, texts ...string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Epoch: epoch, Revision: revision, Event: &domtapv1.WatchDomResponse_Resync{
		Resync: &domtapv1.Resync{Reason: reason, Snapshot: &domtapv1.Snapshot{Elements: elements(texts...), Url: "http://page/"}}}}
}

// adds returns a diff that inserts an element at the start.
func adds(epoch string, from, to uint64, ref uint32, text string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Epoch: epoch, Revision: to, Event: &domtapv1.WatchDomResponse_Diff{Diff: &domtapv1.Diff{
		FromRevision: from, ToRevision: to, Added: []*domtapv1.Element{{Ref: ref, Text: text}}, AddedCount: 1}}}
}

func closed(epoch string, revision uint64) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Epoch: epoch, Revision: revision, Event: &domtapv1.WatchDomResponse_TabStatus{
		TabStatus: &domtapv1.TabStatusChange{Status: domtapv1.TabStatus_TAB_STATUS_CLOSED}}}
}

func because(code codes.Code, reason string) error {
	s, err := status.New(code, "because").WithDetails(&errdetails.ErrorInfo{Reason: reason})
	if err != nil {
		panic(err)
	}
	return s.Err()
}

var cut = status.Error(codes.Unavailable, "connection reset by peer")

// follow follows a play and returns a line for each update, and the error at the end.
func follow(ctx context.Context, p *play, o FollowOptions) ([]string, error) {
	tab := (&Client{Dom: p}).Tab("t1")
	var lines []string
	for u, err := range tab.Follow(ctx, o) {
		if err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("%s%d %s", u.State.GetEpoch(), u.State.GetRevision(), line(u.State.GetElements())))
	}
	return lines, nil
}

// asked describes the points from which streams were requested to resume.
func asked(p *play) string {
	var words []string
	for _, r := range p.requests {
		word := "new"
		if r.FromRevision != nil {
			word = fmt.Sprintf("%s%d", r.GetEpoch(), r.GetFromRevision())
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestFollowGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{streams: []stream{
			{[]*domtapv1.WatchDomResponse{snapshot("e", 5, "a"), adds("e", 5, 6, 1, "b")}, cut},
			{nil, cut},
			{[]*domtapv1.WatchDomResponse{adds("e", 6, 9, 2, "c")}, because(codes.DeadlineExceeded, "SLOW_READER")},
			{[]*domtapv1.WatchDomResponse{resync("f", 2, "epoch_changed", "x")}, cut}, // the daemon was restarted
			{[]*domtapv1.WatchDomResponse{adds("f", 2, 3, 7, "y"), closed("f", 3)}, io.EOF},
		}}
		lines, err := follow(t.Context(), p, FollowOptions{})
		expect(t, "updates", strings.Join(lines, "\n"), strings.Join([]string{
			"e5 [0 a]", "e6 [1 b] [0 a]", "e9 [2 c] [1 b] [0 a]", "f2 [0 x]", "f3 [7 y] [0 x]", "f3 [7 y] [0 x]"}, "\n"))
		expect(t, "asked for", asked(p), "new e6 e6 e9 f2")
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestFollowGoesOnInAnotherProcess(t *testing.T) {
	from, err := Take(nil, snapshot("e", 5, "a"))
	if err != nil {
		t.Fatal(err)
	}
	p := &play{streams: []stream{{[]*domtapv1.WatchDomResponse{adds("e", 5, 8, 1, "b")}, io.EOF}}}
	view := &domtapv1.WatchDomRequest{ViewportOnly: true, OmitInitial: true, TabId: "other"}
	lines, err := follow(t.Context(), p, FollowOptions{From: from, View: view})
	expect(t, "updates", strings.Join(lines, "\n"), "e8 [1 b] [0 a]")
	if r := p.requests[0]; err != nil || r.GetFromRevision() != 5 || !r.GetViewportOnly() || r.GetOmitInitial() || r.GetTabId() != "t1" {
		t.Errorf("asked for %v, and ended with %v", r, err)
	}
	expect(t, "the state that was given", line(from.GetElements()), "[0 a]")
}

// After a message that does not fit, Follow discards its state and reads the page again.
func TestFollowResyncsAfterALostMessage(t *testing.T) {
	skipped := adds("e", 5, 6, 1, "b")
	skipped.Sequence = 3
	stranger := adds("e", 5, 6, 0, "a")
	for name, broken := range map[string]*domtapv1.WatchDomResponse{
		"a revision": adds("e", 4, 6, 1, "b"), "another epoch": adds("f", 5, 6, 1, "b"), "a message": skipped, "an element twice": stranger,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &play{streams: []stream{
				{[]*domtapv1.WatchDomResponse{snapshot("e", 5, "a"), broken}, nil},
				{[]*domtapv1.WatchDomResponse{snapshot("e", 7, "a", "b"), closed("e", 7)}, io.EOF},
			}}
			var causes []error
			lines, err := follow(t.Context(), p, FollowOptions{Lost: func(cause error, _ time.Duration) { causes = append(causes, cause) }})
			expect(t, name, strings.Join(lines, ", "), "e5 [0 a], e7 [0 a] [1 b], e7 [0 a] [1 b]")
			expect(t, name, asked(p), "new new")
			if err != nil || len(causes) != 1 || !errors.Is(causes[0], ErrMismatch) {
				t.Errorf("%s: %v, because of %v", name, err, causes)
			}
		})
	}
}

func TestFollowEndsWhereTryingAgainMendsNothing(t *testing.T) {
	for _, test := range []struct {
		end  error
		gone bool
	}{
		{because(codes.NotFound, "NOT_FOUND"), true},
		{because(codes.Aborted, "TAB_CLOSED"), true},
		{because(codes.InvalidArgument, "INVALID"), false},
		{because(codes.FailedPrecondition, "STALE_REF"), false},
		{status.Error(codes.Unauthenticated, "no token"), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &play{streams: []stream{{[]*domtapv1.WatchDomResponse{snapshot("e", 1, "a")}, cut}, {nil, test.end}}}
			_, err := follow(t.Context(), p, FollowOptions{})
			if !errors.Is(err, test.end) || errors.Is(err, ErrTabGone) != test.gone || len(p.requests) != 2 {
				t.Errorf("%v: it ended with %v after %s", test.end, err, asked(p))
			}
		})
	}
}

func TestFollowWaitsLongerEachTimeAndNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{streams: []stream{{[]*domtapv1.WatchDomResponse{snapshot("e", 1, "a")}, cut}, {nil, cut}}}
		began := time.Now()
		var waits []time.Duration
		_, err := follow(t.Context(), p, FollowOptions{Patience: time.Minute, Lost: func(_ error, wait time.Duration) { waits = append(waits, wait) }})
		if !errors.Is(err, cut) {
			t.Errorf("it ended with %v", err)
		}
		if took := time.Since(began); took <= time.Minute || took > time.Minute+longestWait {
			t.Errorf("it tried for %v", took)
		}
		for i, wait := range waits {
			most := min(longestWait, shortestWait<<i)
			if wait < most/2 || wait >= most {
				t.Errorf("attempt %d waited %v, want %v to %v", i+1, wait, most/2, most)
			}
		}
	})
}

// A crashed page immediately reports its status on every new stream. That must not make Follow retry in a tight loop.
func TestFollowGivesACrashedPageTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crashed := stream{[]*domtapv1.WatchDomResponse{closed("e", 1)}, because(codes.Unavailable, "PAGE_LOST")}
		p := &play{streams: []stream{{[]*domtapv1.WatchDomResponse{snapshot("e", 1, "a")}, crashed.end}, crashed}}
		_, err := follow(t.Context(), p, FollowOptions{Patience: time.Minute})
		if Reason(err) != "PAGE_LOST" || len(p.requests) > 40 {
			t.Errorf("%d attempts, then %v", len(p.requests), err)
		}
	})
}

func TestFollowLeavesAStreamThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{streams: []stream{
			{[]*domtapv1.WatchDomResponse{snapshot("e", 5, "a")}, nil},
			{[]*domtapv1.WatchDomResponse{closed("e", 5)}, io.EOF},
		}}
		began := time.Now()
		_, err := follow(t.Context(), p, FollowOptions{})
		expect(t, "asked for", asked(p), "new e5")
		if took := time.Since(began); err != nil || took < maxSilence || took > maxSilence+longestWait {
			t.Errorf("it took %v and ended with %v", took, err)
		}
	})
}

// No stream stays open after the caller leaves the loop or the context ends.
func TestFollowLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{streams: []stream{{[]*domtapv1.WatchDomResponse{snapshot("e", 5, "a")}, nil}}}
		for range (&Client{Dom: p}).Tab("t1").Follow(t.Context(), FollowOptions{}) {
			break
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := follow(ctx, p, FollowOptions{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end of its time ended it with %v", err)
		}
		waiting := &play{streams: []stream{{nil, cut}}}
		ctx, cancel = context.WithCancel(t.Context())
		if _, err := follow(ctx, waiting, FollowOptions{Lost: func(error, time.Duration) { cancel() }}); !errors.Is(err, context.Canceled) {
			t.Errorf("the end of its context ended it with %v", err)
		}
		synctest.Wait()
		if open := p.open.Load() + waiting.open.Load(); open != 0 {
			t.Errorf("%d streams are open", open)
		}
	})
}
