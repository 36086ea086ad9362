package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestStatusesBecomeExitCodes(t *testing.T) {
	for code, want := range map[codes.Code]int{
		codes.Unknown:            1,
		codes.Internal:           1,
		codes.Unimplemented:      1,
		codes.ResourceExhausted:  1,
		codes.InvalidArgument:    2,
		codes.NotFound:           3,
		codes.FailedPrecondition: 4,
		codes.Aborted:            4,
		codes.DeadlineExceeded:   5,
		codes.Unavailable:        6,
		codes.PermissionDenied:   7,
		codes.Unauthenticated:    7,
	} {
		daemon := newFakeDaemon(t)
		daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
			return nil, status.Error(code, "two\nlines")
		}
		daemon.start(t)
		got := daemon.at().run(t, "close", "t1")
		if got.code != want || !strings.HasPrefix(got.errors, "domtap: two lines\n") {
			t.Errorf("%v: exit code %d, want %d; it said %q", code, got.code, want, got.errors)
		}
	}
}

func TestUsageErrorsAreExitCode2(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	for _, line := range []string{
		"nonsense", "open", "open a b", "tabs x", "click", "click x", "click -1", "click 4294967296", "type 1", "fill 1", "press", "press a 1 2", "select 1", "check", "check 1 2", "check 1 --text x",
		"scroll", "scroll --by 1", "click --at 1;2", "drag 1", "drag 1 --by 1,2 --to-at 1,2", "upload 1", "drag 1 2 --by 1,2",
		"tabs --nonsense", "open x --wait soon", "tabs -o yaml", "tabs --timeout never", "tabs --timeout -1s",
		"open x --viewport big", "open x --viewport 1x", "shot page.gif", "shot page",
		"wait", "wait --gone", "wait --exact", "wait --text x --gone --visible", "wait --quiet soon", "wait t1 t2 --text x",
		"watch --until nonsense", "watch --until nonsense=1", "watch --until text", "watch --until hidden:text=x", "watch --until quiet=x",
		"compact --since 1", "dom --max-elements x", "tabs --addr nonsense", "tabs --addr unix:relative", "serve --listen= --socket=",
		"serve --metrics nonsense", "serve --max-tabs 0", "serve --log-level loud",
		"serve --url-policy pubic", "serve --url-policy file=/nowhere", "serve --url-policy public --remote http://127.0.0.1:1", "serve --url-policy public --chrome-flag --proxy-server=x:1",
		"mcp x", "mcp --tools everything", "mcp --http 0.0.0.0:80", "mcp --http nonsense", "mcp --log-level loud",
	} {
		got := daemon.at().run(t, strings.Fields(line)...)
		if got.code != exit.Usage {
			t.Errorf("%s: exit code %d, want 2; it said %q", line, got.code, got.errors)
		}
		if lines := strings.Count(got.errors, "\n"); lines < 1 || lines > 2 || !strings.HasPrefix(got.errors, "domtap: ") {
			t.Errorf("%s: it said %q, want a line and a hint", line, got.errors)
		}
		if got.out != "" {
			t.Errorf("%s: it printed %q", line, got.out)
		}
	}
}

func TestReasonsGiveExactHints(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.InteractRequest); !ok {
			return nil, nil
		}
		stale, err := status.New(codes.FailedPrecondition, "ref 12 was a button").WithDetails(&errdetails.ErrorInfo{Reason: "STALE_REF"})
		if err != nil {
			t.Error(err)
		}
		return nil, stale.Err()
	}
	daemon.start(t)
	got := daemon.at().run(t, "click", "12")
	want := "domtap: ref 12 was a button\nhint: " + "the element is gone; domtap compact shows the refs of now" + "\n"
	if got.code != exit.Precondition || got.errors != want {
		t.Errorf("exit code %d, %q; want 4, %q", got.code, got.errors, want)
	}
}

func TestAFailedStepIsAFailure(t *testing.T) {
	for reason, want := range map[string]int{"STALE_REF": exit.Precondition, "INVALID": exit.Usage, "PAGE_LOST": exit.Unavailable, "": exit.Failure} {
		daemon := newFakeDaemon(t)
		daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
			if _, ok := r.(*domtapv1.InteractRequest); !ok {
				return nil, nil
			}
			return &domtapv1.InteractResponse{Verdict: domtapv1.Verdict_VERDICT_NO_CHANGE, Results: []*domtapv1.StepResult{{Error: "no", Reason: reason}}}, nil
		}
		daemon.start(t)
		got := daemon.at().run(t, "click", "1")
		if got.code != want || got.out != "" || !strings.HasPrefix(got.errors, "domtap: no\n") {
			t.Errorf("reason %q: %+v, want exit code %d", reason, got, want)
		}
	}
}

func TestNoTabIsNotFound(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		return &domtapv1.ListTabsResponse{}, nil
	}
	daemon.start(t)
	cmd := daemon.at()
	delete(cmd.env, "DOMTAP_TAB")
	if got := cmd.run(t, "compact"); got.code != exit.NotFound || !strings.Contains(got.errors, "domtap open URL") {
		t.Errorf("got %+v", got)
	}
	if got := daemon.at().run(t, "tabs"); got.code != exit.OK || !strings.Contains(got.out, "no tab is open") {
		t.Errorf("got %+v", got)
	}
}

// hang answers nothing until the call ends.
func hang(ctx context.Context, _ proto.Message) (proto.Message, error) {
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func TestTimeoutIsExitCode5(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = hang
	daemon.start(t)
	got := daemon.at().run(t, "tabs", "--timeout", "50ms")
	if got.code != exit.Timeout || !strings.HasPrefix(got.errors, "domtap: no answer in time\nhint: ") {
		t.Errorf("got %+v", got)
	}
}

func TestAnInterruptedCommandIsExitCode130(t *testing.T) {
	daemon := newFakeDaemon(t)
	ctx, interrupt := context.WithCancel(t.Context())
	daemon.answer = func(ctx context.Context, r proto.Message) (proto.Message, error) {
		interrupt()
		return hang(ctx, r)
	}
	daemon.start(t)
	cmd := daemon.at()
	cmd.ctx = ctx
	if got := cmd.run(t, "tabs"); got.code != exit.Interrupted || got.errors != "domtap: interrupted\n" {
		t.Errorf("got %+v", got)
	}
}

func TestADaemonThatIsFarAwayIsExitCode6(t *testing.T) {
	cmd := command{env: map[string]string{"DOMTAP_STATE_DIR": t.TempDir()}}
	if got := cmd.run(t, "tabs", "--addr", "127.0.0.1:1"); got.code != exit.Unavailable {
		t.Errorf("got %+v", got)
	}
}

func TestNavigationsLetTheDaemonGiveUpFirst(t *testing.T) {
	daemon := newFakeDaemon(t)
	var left time.Duration
	daemon.answer = func(ctx context.Context, _ proto.Message) (proto.Message, error) {
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return nil, nil
	}
	daemon.start(t)
	if got := daemon.at().run(t, "open", "x.example", "--timeout", "10s"); got.code != exit.OK || left <= 10*time.Second {
		t.Errorf("exit code %d; the call had %v, want more than the 10 s of the navigation", got.code, left)
	}
}
