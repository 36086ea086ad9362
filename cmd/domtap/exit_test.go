package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/plural"
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
		"nonsense", "open", "open a b", "tabs x", "click", "click a b c", "type 1", "fill 1", "press", "press a 1 2", "select 1", "check", "check 1 2", "check 1 --text x",
		"scroll", "form", "form --file Photo", "form --file Photo=/nowhere/x.png", "scroll --by 1", "scroll --to up", "scroll --to end --by 0,1", "click --at 1;2", "drag 1", "drag 1 --by 1,2 --to-at 1,2", "upload 1", "drag 1 2 --by 1,2",
		"tabs --nonsense", "open x --wait soon", "tabs -o yaml", "tabs --timeout never", "tabs --timeout -1s",
		"open x --viewport big", "open x --viewport 1x", "shot page.gif", "shot page",
		"wait", "wait --gone", "wait --exact", "wait --text x --gone --visible", "wait --quiet soon", "wait t1 t2 --text x",
		"watch --until nonsense", "watch --until nonsense=1", "watch --until text", "watch --until hidden:text=x", "watch --until quiet=x",
		"compact --since 1", "dom --max-elements x", "tabs --addr nonsense", "tabs --addr unix:relative", "serve --listen= --socket=",
		"serve --metrics nonsense", "serve --max-tabs 0", "serve --freeze-idle 1ms", "serve --page-nice 20", "serve --page-nice 5 --remote http://127.0.0.1:1", "serve --freeze-idle 1h --headless=false", "serve --log-level loud",
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
	want := "domtap: ref 12 was a button\nhint: " + "the element is gone or has changed; run domtap compact to see the current refs" + "\n"
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

// hang does not answer until the call ends.
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

// hinted matches a command or a flag in a hint.
var hinted = regexp.MustCompile(`domtap ([a-z]+)(?: (new|list|accept|dismiss)\b)?((?: --[a-z-]+)*)|(--[a-z-]+)`)

// TestHintsNameCommandsAndFlagsThatThereAre lets every command that calls the daemon fail in every way.
func TestHintsNameCommandsAndFlagsThatThereAre(t *testing.T) {
	daemon := newFakeDaemon(t)
	var failure error
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) { return nil, failure }
	daemon.start(t)
	root := newRoot(newApp(nil, nil, nil, nil))
	for _, failure = range failures(t) {
		for _, line := range []string{"open x.example", "wait --text x", "click 1", "tabs", "session close x", "batch x.example", "close t1", "dom"} {
			cmd := daemon.at()
			got := cmd.run(t, strings.Fields(line)...)
			_, hint, _ := strings.Cut(got.errors, "\nhint: ")
			for _, m := range hinted.FindAllStringSubmatch(hint, -1) {
				named := strings.TrimSpace(m[1] + " " + m[2])
				if named == "" {
					named = line
				}
				found, _, err := root.Find(strings.Fields(named))
				if err != nil || m[1] != "" && m[2] == "" && found.Name() != m[1] || m[2] != "" && found.Name() != m[2] {
					t.Errorf("%s: the hint %q names a command that there is not: %v", line, hint, err)
					continue
				}
				for _, flag := range strings.Fields(m[3] + m[4]) {
					if found.Flags().Lookup(strings.TrimPrefix(flag, "--")) == nil && !servesWith(root, flag) {
						t.Errorf("%s: the hint %q names %s, which %s has not", line, hint, flag, named)
					}
				}
			}
		}
	}
}

// servesWith reports whether a flag is a flag of the daemon, which hints about its limits name.
func servesWith(root *cobra.Command, flag string) bool {
	serve, _, _ := root.Find([]string{"serve"})
	return strings.HasPrefix(flag, "--max-") && serve.Flags().Lookup(strings.TrimPrefix(flag, "--")) != nil
}

// failures returns statuses of every code, with every detail that changes the hint.
func failures(t *testing.T) []error {
	t.Helper()
	var all []error
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		all = append(all, status.Error(code, "no"))
	}
	for _, info := range []*errdetails.ErrorInfo{
		{Metadata: map[string]string{"resource": "tab"}}, {Metadata: map[string]string{"resource": "session"}}, {Metadata: map[string]string{"resource": "frame"}},
		{Metadata: map[string]string{"limit": "tabs"}}, {Metadata: map[string]string{"limit": "sessions"}},
		{Reason: "STALE_REF"}, {Reason: "NOT_ACTIONABLE"}, {Reason: "NOT_DELIVERED"}, {Reason: "NAVIGATED_AWAY"}, {Reason: "CURSOR_EXPIRED"}, {Reason: "TARGET_NOT_FOUND"},
		{Reason: "DIALOG_OPEN"}, {Reason: "DOWNLOAD"}, {Reason: "NO_DIALOG"}, {Reason: "TAB_CLOSED"}, {Reason: "RIGHTS"}, {Reason: "EVALUATE_OFF"}, {Reason: "WAIT_TIMEOUT"},
	} {
		st, err := status.New(codes.FailedPrecondition, "no").WithDetails(info)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, st.Err())
	}
	return append(all, status.Error(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`))
}

// TestHintsNameWhatIsMissing checks the hints for each kind of resource that does not exist.
func TestHintsNameWhatIsMissing(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
		st, err := status.New(codes.NotFound, `unknown session "nope"`).WithDetails(&errdetails.ErrorInfo{Reason: "NOT_FOUND", Metadata: map[string]string{"resource": "session"}})
		if err != nil {
			t.Error(err)
		}
		return nil, st.Err()
	}
	daemon.start(t)
	got := daemon.at().run(t, "open", "x.example", "--session", "nope")
	if got.code != exit.NotFound || !strings.Contains(got.errors, "\nhint: run domtap session list") || strings.Contains(got.errors, "domtap tabs") {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsAreJSONToo(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
		st, err := status.New(codes.FailedPrecondition, "ref 12\nwas \u202ea <button>").WithDetails(&errdetails.ErrorInfo{Reason: "STALE_REF", Metadata: map[string]string{"ref": "12"}})
		if err != nil {
			t.Error(err)
		}
		return nil, st.Err()
	}
	daemon.start(t)
	type report struct {
		Message, Hint, Status, Reason string
		ExitCode                      int
		Details                       map[string]string
	}
	run := func(cmd command, args ...string) (result, report) {
		t.Helper()
		got := cmd.run(t, args...)
		var all struct{ Error report }
		if err := json.Unmarshal([]byte(got.errors), &all); err != nil || strings.Count(got.errors, "\n") != 1 || got.out != "" {
			t.Errorf("%v: it said %q, %q: %v", args, got.errors, got.out, err)
		}
		if all.Error.ExitCode != got.code || all.Error.Message == "" {
			t.Errorf("%v: exit code %d, it said %q", args, got.code, got.errors)
		}
		return got, all.Error
	}
	_, e := run(daemon.at(), "click", "12", "-o", "json")
	if e.Status != "FAILED_PRECONDITION" || e.Reason != "STALE_REF" || e.Details["ref"] != "12" || e.ExitCode != exit.Precondition ||
		!strings.HasPrefix(e.Message, "ref 12 was ") || strings.Contains(e.Message, "\u202e") || !strings.Contains(e.Hint, "domtap compact") {
		t.Errorf("got %+v", e)
	}
	byVariable := daemon.at()
	byVariable.env["DOMTAP_OUTPUT"] = "json"
	run(byVariable, "tabs")
	run(byVariable, "tabs", "--nonsense")
	for _, line := range []string{"tabs -o json --nonsense", "tabs --nonsense -o json", "dom --json", "click -ojson", "nonsense -o json", "shot page.gif --output=json", "tabs --output json x"} {
		run(daemon.at(), strings.Fields(line)...)
	}
	if got := daemon.at().run(t, "type", "1", "--", "-o", "json"); !strings.HasPrefix(got.errors, "domtap: ") {
		t.Errorf("what is typed is not a flag: %q", got.errors)
	}
}

func TestTheNearestCommandOrFlagIsSuggested(t *testing.T) {
	for line, want := range map[string]string{
		"opne x.example":           "did you mean: domtap open x.example",
		"compct":                   "did you mean: domtap compact",
		"tab":                      "did you mean: domtap tabs",
		"session lst":              "did you mean: domtap session list",
		"dialog acept":             "did you mean: domtap dialog accept",
		"token nwe x":              "did you mean: domtap token new x",
		"open x --timeot 1s":       "did you mean: domtap open x --timeout 1s",
		"compact --max_tokens 500": "did you mean: domtap compact --max-tokens 500",
		"shot x.png --fullpage":    "did you mean: domtap shot x.png --full-page",
		"snapsht":                  "did you mean: domtap snapshot",
		"serve --cdp-ur x":         "did you mean: domtap serve --cdp-url x",
		"zzz":                      "run domtap --help to list the commands",
		"open --zzz x":             "usage: domtap open URL, for example: domtap open https://example.com",
	} {
		cmd, _ := isolated(t)
		got := cmd.run(t, strings.Fields(line)...)
		if got.code != exit.Usage || !strings.HasSuffix(got.errors, "\nhint: "+want+"\n") || strings.Count(got.errors, "\n") != 2 {
			t.Errorf("%s: exit code %d, it said %q, want %q", line, got.code, got.errors, want)
		}
	}
}

func TestABatchWithAPageThatFailedFails(t *testing.T) {
	page := func(url, reason string) *domtapv1.BatchResult {
		r := &domtapv1.BatchResult{Url: url, Text: "fine"}
		if reason != "" {
			r.Error, r.Reason, r.Text = "it did not come", reason, ""
		}
		return r
	}
	for want, results := range map[int][]*domtapv1.BatchResult{
		exit.OK:           {page("https://a.example", ""), page("https://b.example", "")},
		exit.Precondition: {page("https://a.example", ""), page("https://b.example", "NAVIGATION_FAILED"), page("https://c.example", "NAVIGATION_FAILED")},
		exit.Denied:       {page("https://b.example", "URL_POLICY")},
		exit.Failure:      {page("https://b.example", "URL_POLICY"), page("https://c.example", "NAVIGATION_FAILED")},
	} {
		daemon := newFakeDaemon(t)
		daemon.answer = func(context.Context, proto.Message) (proto.Message, error) {
			return &domtapv1.BatchResponse{Results: results}, nil
		}
		daemon.start(t)
		got := daemon.at().run(t, "batch", "a.example")
		if got.code != want || strings.Count(got.out, "==> ") != len(results) {
			t.Errorf("exit code %d, want %d: %+v", got.code, want, got)
		}
		if want != exit.OK && !strings.Contains(got.errors, "of "+plural.Of(len(results), "page")+" failed; the first: https://b.example: it did not come") {
			t.Errorf("it said %q", got.errors)
		}
	}
}

func TestNoDaemonIsStartedAtAnAddressThatIsNamed(t *testing.T) {
	cmd, dir := isolated(t)
	cmd.start = func(_ context.Context, at endpoint.Places) error {
		t.Errorf("a daemon was started at %s", at.Socket)
		return errors.New("started")
	}
	socket := filepath.Join(dir, "none.sock")
	want := "domtap: no daemon answers at unix://" + socket + ": no such file or directory\n"
	if got := cmd.run(t, "tabs", "--addr", "unix://"+socket); got.code != exit.Unavailable || !strings.HasPrefix(got.errors, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
	cmd.env["DOMTAP_ADDR"] = "unix://" + socket
	if got := cmd.run(t, "open", "x.example"); got.code != exit.Unavailable || !strings.HasPrefix(got.errors, want) {
		t.Errorf("got %+v, want %q", got, want)
	}
	cmd.env["DOMTAP_ADDR"] = "127.0.0.1:1"
	for _, line := range []string{"tabs", "health"} {
		if got := cmd.run(t, line); got.code != exit.Unavailable || !strings.HasPrefix(got.errors, "domtap: no daemon answers at 127.0.0.1:1: connection refused\n") {
			t.Errorf("%s: %+v", line, got)
		}
	}
	for _, line := range []string{"health", "socket", "ui"} {
		if got := cmd.run(t, line, "--addr", "unix://"+socket); got.code != exit.Unavailable || !strings.HasPrefix(got.errors, want) {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
	found, code := examineWith(t, cmd, "--chrome", fakeBrowser(t), "--addr", "unix://"+socket)
	if f := found["daemon"]; code != exit.Failure || f.Status != doctor.Fail || !strings.Contains(f.Found, "no daemon answers at") {
		t.Errorf("exit code %d, %+v", code, f)
	}
}
