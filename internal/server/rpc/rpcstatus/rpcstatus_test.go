package rpcstatus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/rules"
)

// wantCode fails unless err has the code, and the reason if one is given.
func wantCode(t *testing.T, err error, code codes.Code, reason string) {
	t.Helper()
	if status.Code(err) != code || reason != "" && Reason(err) != reason {
		t.Errorf("got %v with reason %q, want code %v with reason %q", err, Reason(err), code, reason)
	}
}

func TestErrorTable(t *testing.T) {
	for kind := apierr.NotFound; kind <= apierr.Fenced; kind++ {
		m, ok := kinds[kind]
		if !ok {
			t.Errorf("kind %d has no code", kind)
		}
		wrapped := fmt.Errorf("while testing: %w", &apierr.Error{Kind: kind, Message: "do this", Detail: map[string]string{"ref": "12"}})
		err := From(wrapped)
		wantCode(t, err, m.code, m.reason)
		if !strings.Contains(err.Error(), "do this") {
			t.Errorf("kind %d lost its message: %v", kind, err)
		}
	}
	for _, c := range []struct {
		err  error
		code codes.Code
	}{
		{nil, codes.OK},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), codes.DeadlineExceeded},
		{fmt.Errorf("read: %w", context.Canceled), codes.Canceled},
		{&apierr.Error{Kind: apierr.Navigation, Err: context.DeadlineExceeded}, codes.DeadlineExceeded},
		{&apierr.Error{Kind: apierr.Closed, Err: context.Canceled}, codes.Aborted},
		{errors.New("no idea"), codes.Internal},
		{status.Error(codes.DataLoss, "kept"), codes.DataLoss},
		{&rules.Unsupported{Field: "x", Instead: "y"}, codes.Unimplemented},
		{&rules.Invalid{Violations: []rules.Violation{{Field: "x", Description: "y"}}}, codes.InvalidArgument},
	} {
		wantCode(t, From(c.err), c.code, "")
	}
	if metadata := From(&apierr.Error{Kind: apierr.Stale, Detail: map[string]string{"bad": "\xff"}}); status.Code(metadata) != codes.FailedPrecondition {
		t.Errorf("details that do not encode lose the error: %v", metadata)
	}
}

func TestErrorsOfSearches(t *testing.T) {
	for kind := search.Off; kind <= search.Rejected; kind++ {
		m, ok := searches[kind]
		if !ok {
			t.Errorf("kind %d has no code", kind)
		}
		err := From(fmt.Errorf("while testing: %w", &search.Error{Kind: kind, Provider: "brave", Message: "do this", RetryAfter: time.Minute}))
		wantCode(t, err, m.code, m.reason)
		var retry, field bool
		for _, detail := range status.Convert(err).Details() {
			switch d := detail.(type) {
			case *errdetails.ErrorInfo:
				if d.GetMetadata()["provider"] != "brave" {
					t.Errorf("kind %d: no provider in %v", kind, d)
				}
			case *errdetails.RetryInfo:
				retry = d.GetRetryDelay().AsDuration() == time.Minute
			case *errdetails.BadRequest:
				field = d.GetFieldViolations()[0].GetField() == "query"
			}
		}
		if !retry || field != (kind == search.Rejected) || !strings.Contains(err.Error(), "brave: do this") {
			t.Errorf("kind %d: %v", kind, err)
		}
		if got := Limit(err); got != "" {
			t.Errorf("kind %d is a limit of the daemon: %q", kind, got)
		}
	}
	wantCode(t, From(&search.Error{Kind: search.Rejected + 1}), codes.Internal, "UNKNOWN_KIND")
}

func TestErrorsNameTheTimeOfTheNextAttempt(t *testing.T) {
	var found *errdetails.RetryInfo
	for _, detail := range status.Convert(From(&apierr.Error{Kind: apierr.Lost, RetryAfter: 1500 * time.Millisecond})).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			found = info
		}
	}
	if d := found.GetRetryDelay().AsDuration(); d != 1500*time.Millisecond {
		t.Errorf("try again after %v", d)
	}
	if n := len(status.Convert(From(&apierr.Error{Kind: apierr.Lost})).Details()); n != 1 {
		t.Errorf("%d details of an error that nobody knows the end of", n)
	}
}

func TestLimitNamesTheLimitOfAnError(t *testing.T) {
	err := From(apierr.Exceeded("mailbox", 64, "tab t1 has 64 calls waiting: wait"))
	if got := Limit(err); got != "mailbox" {
		t.Errorf("the limit is %q", got)
	}
	if got := Limit(From(apierr.Errorf(apierr.NotFound, "x"))); got != "" {
		t.Errorf("no limit, and yet %q", got)
	}
}
