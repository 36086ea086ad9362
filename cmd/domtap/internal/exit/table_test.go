package exit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/endpoint"
)

// answered returns an error as the daemon returns it.
func answered(t *testing.T, code codes.Code, message, reason string, details map[string]string) error {
	t.Helper()
	st := status.New(code, message)
	if reason != "" {
		with, err := st.WithDetails(&errdetails.ErrorInfo{Reason: reason, Metadata: details})
		if err != nil {
			t.Fatal(err)
		}
		st = with
	}
	return st.Err()
}

// waits describes a command that has the flag --wait.
func waits(flag string) bool { return flag == "wait" }

func TestFailuresHaveTheirMessageHintAndCode(t *testing.T) {
	const (
		longer  = "use a longer --timeout"
		doctor  = "run domtap doctor to check the browser, socket and daemon"
		there   = "domtap serve starts a daemon there; without --addr, commands find this user's daemon, or start it"
		refused = "check that a daemon listens there and whether it uses TLS (--tls-ca, --tls-client-cert)"
	)
	st := func(code codes.Code, message, reason string) error { return answered(t, code, message, reason, nil) }
	named := func(resource string) error {
		return answered(t, codes.NotFound, "there is none", "NOT_FOUND", map[string]string{"resource": resource})
	}
	for _, c := range []struct {
		err           error
		has           HasFlag
		message, hint string
		code          int
	}{
		{st(codes.Unknown, "m", ""), nil, "m", "", Failure},
		{st(codes.Internal, "m", ""), nil, "m", "", Failure},
		{st(codes.Code(99), "m", ""), nil, "m", "", Failure},
		{st(codes.InvalidArgument, "m", "INVALID"), nil, "m", "", Usage},
		{st(codes.OutOfRange, "m", ""), nil, "m", "", Usage},
		{st(codes.NotFound, "m", ""), nil, "m", "", NotFound},
		{named("tab"), nil, "there is none", "run domtap tabs to list the open tabs", NotFound},
		{named("session"), nil, "there is none", "run domtap session list to list the sessions, or domtap session new NAME to create one", NotFound},
		{named("frame"), nil, "there is none", "run domtap dom --json to see the frame of each element", NotFound},
		{st(codes.FailedPrecondition, "m", ""), nil, "m", "run domtap compact to see the current page", Precondition},
		{st(codes.FailedPrecondition, "m", "STALE_REF"), nil, "m", "the element is gone or has changed; run domtap compact to see the current refs", Precondition},
		{st(codes.Aborted, "m", "TAB_CLOSED"), nil, "m", "run domtap tabs to list the open tabs", Precondition},
		{st(codes.DeadlineExceeded, "the page did not answer", ""), nil, "the page did not answer", longer, Timeout},
		{st(codes.DeadlineExceeded, "the page did not answer", ""), waits, "the page did not answer", longer + ", or wait for less with --wait commit", Timeout},
		{st(codes.DeadlineExceeded, "timed out", "WAIT_TIMEOUT"), nil, "timed out", "run domtap compact to see the page, or use a longer --timeout", Timeout},
		{st(codes.DeadlineExceeded, "context deadline exceeded", ""), nil, "no answer in time", longer, Timeout},
		{st(codes.DeadlineExceeded, `latest balancer error: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`, ""), nil,
			"no daemon answers at 127.0.0.1:1: connection refused", there, Timeout},
		{st(codes.Unavailable, "the browser is gone", "PAGE_LOST"), nil, "the browser is gone", doctor, Unavailable},
		{st(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`, ""), nil,
			"no daemon answers at 127.0.0.1:1: connection refused", there, Unavailable},
		{st(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial unix /s: connect: no such file or directory"`, ""), nil,
			"no daemon answers at unix:///s: no such file or directory", there, Unavailable},
		{st(codes.Unavailable, `connection error: desc = "transport: Error while dialing: dial tcp: lookup x.invalid: no such host"`, ""), nil,
			"no daemon answers: lookup x.invalid: no such host", there, Unavailable},
		{st(codes.Unavailable, `connection error: desc = "transport: authentication handshake failed: tls: first record does not look like a TLS handshake"`, ""), nil,
			"the daemon refuses the connection: tls: first record does not look like a TLS handshake", refused, Unavailable},
		{st(codes.Unavailable, `connection error: desc = "error reading server preface: EOF"`, ""), nil, "the daemon refuses the connection: EOF", refused, Unavailable},
		{st(codes.Unavailable, "error reading from server: EOF", ""), nil, "the connection to the daemon was lost: EOF", doctor, Unavailable},
		{st(codes.Unavailable, "transport is closing", ""), nil, "the connection to the daemon was lost", doctor, Unavailable},
		{st(codes.PermissionDenied, "m", "URL_POLICY"), nil, "m", "", Denied},
		{st(codes.Unauthenticated, "m", ""), nil, "m", "run domtap token to print the token of this user's daemon, or name another file with --token-file", Denied},
		{answered(t, codes.ResourceExhausted, "m", "LIMIT_REACHED", map[string]string{"limit": "tabs"}), nil, "m", "close tabs that you do not need: domtap close TAB", Failure},
		{answered(t, codes.ResourceExhausted, "m", "LIMIT_REACHED", map[string]string{"limit": "streams"}), nil, "m", "", Failure},
		{st(codes.Canceled, "context canceled", ""), nil, "interrupted", "", Interrupted},
		{context.Canceled, nil, "interrupted", "", Interrupted},
		{fmt.Errorf("stop: %w", context.DeadlineExceeded), nil, "stop: context deadline exceeded", longer, Timeout},
		{&endpoint.Error{Kind: endpoint.Misused, Err: errors.New("m"), Hint: "h"}, nil, "m", "h", Usage},
		{&endpoint.Error{Kind: endpoint.Denied, Err: errors.New("m")}, nil, "m", "", Denied},
		{&endpoint.Error{Kind: endpoint.Unreachable, Err: errors.New("m"), Hint: "h"}, nil, "m", "h", Unavailable},
		{Errorf(Precondition, "h", "m"), nil, "m", "h", Precondition},
		{errors.New("m"), nil, "m", "", Failure},
		{FromReason("STALE_REF", "m"), nil, "m", "the element is gone or has changed; run domtap compact to see the current refs", Precondition},
		{FromReason("NAVIGATION_FAILED", "m"), nil, "m", "check the URL, and check that its server answers", Precondition},
		{FromReason("NEW_ONE", "m"), nil, "m", "", Failure},
	} {
		var got *Error
		if !errors.As(Classify(c.err, c.has), &got) {
			t.Errorf("%v was not classified", c.err)
		} else if got.Error() != c.message || got.Hint != c.hint || got.Code != c.code {
			t.Errorf("%v:\ngot  %q, %q, %d\nwant %q, %q, %d", c.err, got.Error(), got.Hint, got.Code, c.message, c.hint, c.code)
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		if statuses[code].code == 0 {
			t.Errorf("the table has no row for %v", code)
		}
	}
	for reason := range reasonsOfTheDaemon(t) {
		if reasons[reason].code == 0 {
			t.Errorf("the table has no row for the reason %s", reason)
		}
	}
	for name, r := range reasons {
		for _, hint := range []string{r.hint, r.alternative} {
			if strings.Contains(hint, "\n") || strings.HasSuffix(hint, ".") {
				t.Errorf("%s: the hint %q is not one plain line", name, hint)
			}
		}
	}
}

// reason matches the places where the server sets the reason of an error: the table of package rpcstatus, and calls of Info.
var reason = regexp.MustCompile(`(?:Info\(|\{codes\.\w+, )"([A-Z_]+)"`)

// reasonsOfTheDaemon returns the reasons in the source of the packages server and cluster.
func reasonsOfTheDaemon(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	internal := filepath.Join("..", "..", "..", "..", "internal")
	read := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range reason.FindAllSubmatch(text, -1) {
			found[string(m[1])] = true
		}
		return err
	}
	err := errors.Join(filepath.WalkDir(filepath.Join(internal, "server"), read), filepath.WalkDir(filepath.Join(internal, "cluster"), read))
	if err != nil || len(found) < 20 {
		t.Fatalf("only %d reasons were found: %v", len(found), err)
	}
	return found
}
