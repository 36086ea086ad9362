package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/internal/testenv"
)

// Long errors reach a client on gRPC's C core, which accepts at most 8 KiB of trailers: the errors of an ambiguous target with ten
// candidates in Chinese, of many unknown names in a request, and of a stream.
func TestLongErrorsReachPython(t *testing.T) {
	python := filepath.Join(built(t), "python")
	name := strings.Repeat("確認して送信する", 20)
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><title>十</title>")
	for range 10 {
		page.WriteString("<button>" + name + "</button>")
	}
	d := testenv.StartDaemon(t)
	url := testenv.Serve(t, testenv.HTML(page.String())) + "/"
	lines := run(t, filepath.Join(python, "python"), "testdata/errors.py", "unix:"+d.Socket, url, name)
	want := []struct{ call, code, reason, begins, ends string }{
		{"ambiguous", "FAILED_PRECONDITION", "AMBIGUOUS_TARGET", "10 elements match ", "; use the ref of one of them"},
		{"permissions", "INVALID_ARGUMENT", "", "settings.permissions[0]: ", ""},
		{"stream", "INVALID_ARGUMENT", "", "include_attributes", ""},
	}
	if len(lines) != len(want) {
		t.Fatalf("it said %q", lines)
	}
	for i, w := range want {
		var got struct{ Call, Code, Message, Details string }
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if got.Call != w.call || got.Code != w.code || !strings.HasPrefix(got.Message, w.begins) || !strings.HasSuffix(got.Message, w.ends) {
			t.Errorf("%s: %s %q", w.call, got.Code, got.Message)
		}
		if !strings.Contains(got.Message, " characters left out) … ") {
			t.Errorf("%s does not say how much is left out: %q", w.call, got.Message)
		}
		if reason := reasonIn(t, got.Details); reason != w.reason {
			t.Errorf("%s has the reason %q", w.call, reason)
		}
	}
}

// reasonIn returns the reason of a status in the characters U+0000 to U+00FF. A status without a reason must contain BadRequest details.
func reasonIn(t *testing.T, text string) string {
	t.Helper()
	var raw []byte
	for _, r := range text {
		raw = append(raw, byte(r))
	}
	p := new(spb.Status)
	if err := proto.Unmarshal(raw, p); err != nil {
		t.Fatal(err)
	}
	for _, d := range status.FromProto(p).Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			return d.GetReason()
		case *errdetails.BadRequest:
			return ""
		}
	}
	return fmt.Sprintf("no detail in %d bytes", len(raw))
}
