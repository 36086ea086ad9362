package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func diffMessage(revision uint64, text string) *domtapv1.WatchDomResponse {
	return &domtapv1.WatchDomResponse{Revision: revision, Text: text, Event: &domtapv1.WatchDomResponse_Diff{
		Diff: &domtapv1.Diff{FromRevision: revision - 1, ToRevision: revision, AddedCount: 1}}}
}

// story returns a stream with every kind of message.
func story() []*domtapv1.WatchDomResponse {
	page := &domtapv1.Snapshot{Url: "https://x.example/", Title: "X", Elements: make([]*domtapv1.Element, 3)}
	return []*domtapv1.WatchDomResponse{
		{Revision: 4, Event: &domtapv1.WatchDomResponse_Snapshot{Snapshot: page}},
		diffMessage(5, "+ [5] New"),
		{Event: &domtapv1.WatchDomResponse_Heartbeat{}},
		{Event: &domtapv1.WatchDomResponse_Navigated{Navigated: &domtapv1.Navigated{Url: "https://x.example/2", Title: "Two"}}},
		{Revision: 9, Event: &domtapv1.WatchDomResponse_Resync{Resync: &domtapv1.Resync{Reason: "epoch_changed", Snapshot: page}}},
		{Event: &domtapv1.WatchDomResponse_TabStatus{TabStatus: &domtapv1.TabStatusChange{
			Status: domtapv1.TabStatus_TAB_STATUS_UNRESPONSIVE, Detail: "a dialog is open",
			Dialog: &domtapv1.Dialog{Type: domtapv1.DialogType_DIALOG_TYPE_CONFIRM, Message: "Sure?"}}}},
		diffMessage(10, ""),
	}
}

func TestWatchPrintsEveryKindOfMessage(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.stream = story()
	got := daemon.start(t).at().run(t, "watch")
	want := `Watching: https://x.example/ | X | 3 elements, from revision 4
+ [5] New
Navigated: https://x.example/2 | Two
Resync (epoch_changed): https://x.example/ | X | 3 elements, from revision 9
Status: unresponsive: a dialog is open | confirm dialog: Sure?
Changes: +1 -0 ~0
`
	if got.code != exit.OK || got.out != want {
		t.Errorf("exit code %d, got\n%s\nwant\n%s", got.code, got.out, want)
	}
}

func TestWatchPrintsMessagesAsJSON(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.stream = story()
	got := daemon.start(t).at().run(t, "watch", "-o", "json")
	if lines := strings.Count(got.out, "\n"); lines != len(story()) {
		t.Errorf("%d lines, want %d: %s", lines, len(story()), got.out)
	}
}

// holdOpen keeps a stream open until the client cancels it.
func holdOpen(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestWatchEndsByCountOrCondition(t *testing.T) {
	broken := func(context.Context) error { return status.Error(codes.Unavailable, "the browser is gone") }
	closed := func(context.Context) error { return nil }
	for _, test := range []struct {
		line string
		end  func(context.Context) error
		code int
	}{
		{"watch --count 1", holdOpen, exit.OK},
		{"watch --count 3", holdOpen, exit.OK}, // a resync counts as a change
		{"watch --count 4 --timeout 100ms", holdOpen, exit.Timeout},
		{"watch --timeout 100ms", holdOpen, exit.OK},
		{"watch --count 4", closed, exit.NotFound},
		{"watch", closed, exit.OK},
		{"watch", broken, exit.Unavailable},
	} {
		daemon := newFakeDaemon(t)
		daemon.stream, daemon.streamEnd = story(), test.end
		got := daemon.start(t).at().run(t, strings.Fields(test.line)...)
		if got.code != test.code {
			t.Errorf("%s: exit code %d, want %d; it said %q", test.line, got.code, test.code, got.errors)
		}
	}
}

func TestWatchStopsAfterTheLastWantedChange(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.stream, daemon.streamEnd = story(), holdOpen
	got := daemon.start(t).at().run(t, "watch", "-n", "1")
	if !strings.HasSuffix(got.out, "+ [5] New\n") {
		t.Errorf("got %q", got.out)
	}
}

func TestCtrlCEndsAWatchWell(t *testing.T) {
	daemon := newFakeDaemon(t)
	ctx, interrupt := context.WithCancel(t.Context())
	daemon.streamEnd = func(ctx context.Context) error {
		interrupt()
		return holdOpen(ctx)
	}
	cmd := daemon.start(t).at()
	cmd.ctx = ctx
	if got := cmd.run(t, "watch"); got.code != exit.OK || got.errors != "" {
		t.Errorf("got %+v", got)
	}
}

// DOMTAP_TIMEOUT limits single calls. It does not limit a watch, which would end for no visible reason.
func TestTheTimeoutVariableDoesNotBoundAWatch(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.streamEnd = func(ctx context.Context) error {
		if deadline, bounded := ctx.Deadline(); bounded {
			t.Errorf("the watch has a deadline: %v", deadline)
		}
		return nil
	}
	cmd := daemon.start(t).at()
	cmd.env["DOMTAP_TIMEOUT"] = "50ms"
	if got := cmd.run(t, "watch"); got.code != exit.OK {
		t.Errorf("got %+v", got)
	}
}

// The daemon evaluates the condition. The watch ends when the daemon reports that the condition is met, or why it is not.
func TestWatchUntil(t *testing.T) {
	late := func(code codes.Code) error { return status.Error(code, "timed out; nearest: button") }
	for _, test := range []struct {
		name string
		met  error
		end  func(context.Context) error
		code int
	}{
		{"met", nil, holdOpen, exit.OK},
		{"in vain", late(codes.DeadlineExceeded), holdOpen, exit.Timeout},
		{"refused", late(codes.InvalidArgument), holdOpen, exit.Usage},
		{"closed", late(codes.Aborted), func(context.Context) error { return nil }, exit.NotFound},
		{"crashed", late(codes.Unavailable), func(context.Context) error { return status.Error(codes.Unavailable, "crashed") }, exit.Unavailable},
	} {
		daemon := newFakeDaemon(t)
		daemon.stream, daemon.streamEnd = story()[:2], test.end
		daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
			if _, waits := r.(*domtapv1.WaitForRequest); waits {
				return nil, test.met
			}
			return nil, nil
		}
		got := daemon.start(t).at().run(t, "watch", "--until", "text=Done")
		if got.code != test.code {
			t.Errorf("%s: exit code %d, want %d; it said %q", test.name, got.code, test.code, got.errors)
		}
		if test.code == exit.OK && !strings.Contains(got.out, "+ [5] New") {
			t.Errorf("%s: the changes that came before are not printed: %q", test.name, got.out)
		}
	}
}

func TestWatchPrintsTimes(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.Local)
	message := diffMessage(5, "+ [5] New\n+ [6] Newer")
	message.ObservedAt = timestamppb.New(at)
	daemon := newFakeDaemon(t)
	daemon.stream = []*domtapv1.WatchDomResponse{message}
	if got := daemon.start(t).at().run(t, "watch", "--timestamps"); got.code != exit.OK || got.out != "05:06:07.089 + [5] New\n05:06:07.089 + [6] Newer\n" {
		t.Errorf("%+v", got)
	}
}
