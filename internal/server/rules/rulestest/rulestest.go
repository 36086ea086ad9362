// Package rulestest tests the rules of a service.
package rulestest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/internal/server/rules"
)

// Seconds returns a duration of n seconds.
func Seconds(n int) *durationpb.Duration { return durationpb.New(time.Duration(n) * time.Second) }

// Pass fails the test for requests that the rules refuse.
func Pass(t *testing.T, table rules.Table, all ...proto.Message) {
	t.Helper()
	for _, r := range all {
		if err := table.Check(r); err != nil {
			t.Errorf("%T %v: %v", r, r, err)
		}
	}
}

// Refuse fails the test unless the rules refuse a request with an error that names exactly the given fields, separated by spaces, and
// describes each.
func Refuse(t *testing.T, table rules.Table, request proto.Message, want string) {
	t.Helper()
	var invalid *rules.Invalid
	if err := table.Check(request); !errors.As(err, &invalid) {
		t.Errorf("%T wanting %s: got %v", request, want, err)
		return
	}
	var fields []string
	for _, v := range invalid.Violations {
		fields = append(fields, v.Field)
		if v.Description == "" {
			t.Errorf("%T: the violation of %s says nothing", request, v.Field)
		}
	}
	if got := strings.Join(fields, " "); got != want {
		t.Errorf("%T: violations of %s, want %s", request, got, want)
	}
}

// Suggest fails the test unless the error of a request names an unsupported field and says what works instead.
func Suggest(t *testing.T, table rules.Table, request proto.Message, field, says string) {
	t.Helper()
	var unsupported *rules.Unsupported
	err := table.Check(request)
	if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Field, field) || !strings.Contains(err.Error(), says) {
		t.Errorf("%T: got %v, want it to name %s and %s", request, err, field, says)
	}
}
