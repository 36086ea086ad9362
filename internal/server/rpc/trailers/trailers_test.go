package trailers

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// full returns a status with all kinds of details.
func full(t testing.TB, code codes.Code, message, reason, fact string, count int) *status.Status {
	t.Helper()
	facts := map[string]string{}
	bad := new(errdetails.BadRequest)
	quota := new(errdetails.QuotaFailure)
	for i := range count {
		facts[fmt.Sprintf("fact%d", i)] = fact
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: fmt.Sprintf("a[%d]", i), Description: fact})
		quota.Violations = append(quota.Violations, &errdetails.QuotaFailure_Violation{Subject: "daemon", Description: fact})
	}
	s, err := status.New(code, message).WithDetails(
		&errdetails.ErrorInfo{Reason: reason, Domain: "domtap.dev", Metadata: facts}, bad, quota,
		&errdetails.RetryInfo{RetryDelay: durationpb.New(1)}, &errdetails.LocalizedMessage{Message: fact})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reasonOf(s *status.Status) string {
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			return i.GetReason()
		}
	}
	return ""
}

// FuzzEveryStatusFits checks the guarantees of Fit for any status.
func FuzzEveryStatusFits(f *testing.F) {
	f.Add(uint32(9), "element is gone: read the page again", "STALE_REF", "12", uint8(1))
	f.Add(uint32(9), strings.Repeat("確認する", 300), "AMBIGUOUS_TARGET", strings.Repeat("送信", 90), uint8(12))
	f.Add(uint32(3), strings.Repeat("%", 5000), "INVALID", strings.Repeat("x", 9000), uint8(255))
	f.Add(uint32(5), strings.Repeat("🙂\xff", 1300), "NOT_FOUND", "", uint8(0))
	f.Add(uint32(16), strings.Repeat("\x00\n", 3000), "", "ü", uint8(100))
	f.Fuzz(func(t *testing.T, code uint32, message, reason, fact string, count uint8) {
		code, fact = code%17, strings.ToValidUTF8(fact, "?")
		if code == 0 || len(reason) > 63 || !utf8.ValidString(reason) { // AIP-193 limits reasons to 63 characters
			t.Skip()
		}
		for _, s := range []*status.Status{full(t, codes.Code(code), message, reason, fact, int(count)), status.New(codes.Code(code), message)} {
			got := Fit(s)
			if size := Size(got.Proto()); size > Limit {
				t.Errorf("it takes %d bytes", size)
			}
			if got.Code() != s.Code() || reasonOf(got) != reasonOf(s) {
				t.Errorf("%v %q became %v %q", s.Code(), reasonOf(s), got.Code(), reasonOf(got))
			}
			if !utf8.ValidString(got.Message()) {
				t.Errorf("the message is not a text: %q", got.Message())
			}
			if _, err := proto.Marshal(got.Proto()); err != nil {
				t.Error(err)
			}
			if utf8.ValidString(message) && Size(s.Proto()) <= Limit && !proto.Equal(s.Proto(), got.Proto()) {
				t.Error("a status that fits is another")
			}
			if again := Fit(got); again != got {
				t.Error("what fits is cut once more")
			}
		}
	})
}

func TestOmittedElementsAreCounted(t *testing.T) {
	message := "12 elements are meant: " + strings.Repeat("保存する, ", 500) + "; use the ref of one of them"
	got := Fit(full(t, codes.FailedPrecondition, message, "AMBIGUOUS_TARGET", strings.Repeat("保存", 400), 40))
	if m := got.Message(); !strings.HasPrefix(m, "12 elements are meant: ") || !strings.HasSuffix(m, "; use the ref of one of them") {
		t.Errorf("message is %q", m)
	}
	var left int
	i := strings.Index(got.Message(), " … (")
	if _, err := fmt.Sscanf(got.Message()[max(i, 0):], " … (%d characters left out) … ", &left); err != nil {
		t.Fatalf("%v: %s", err, got.Message())
	}
	whole := utf8.RuneCountInString(message)
	if kept := utf8.RuneCountInString(got.Message()) - utf8.RuneCountInString(leftOut(left)); kept+left != whole {
		t.Errorf("%d characters are kept and %d left out of %d", kept, left, whole)
	}
	var facts map[string]string
	violations := 0
	for _, d := range got.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			facts = d.GetMetadata()
		case *errdetails.BadRequest:
			last := d.GetFieldViolations()[len(d.GetFieldViolations())-1]
			more := 0
			if _, err := fmt.Sscanf(last.GetDescription(), "%d more violations", &more); err != nil {
				t.Errorf("%v: %v", err, last)
			}
			violations = len(d.GetFieldViolations()) - 1 + more
		}
	}
	if facts[LeftOut] == "" || !strings.Contains(facts["fact0"], "more characters)") {
		t.Errorf("facts are %v", facts)
	}
	if violations != 40 {
		t.Errorf("%d violations are counted", violations)
	}
}

// The message of a status without details may use the whole limit.
func TestAPlainMessageIsCutNoMoreThanItMust(t *testing.T) {
	for _, text := range []string{"a", "é", "語", "🙂", "%"} {
		got := Fit(status.New(codes.NotFound, strings.Repeat(text, 10_000)))
		if size := Size(got.Proto()); size < Limit-100 || size > Limit {
			t.Errorf("%q takes %d bytes", text, size)
		}
		detailed, err := status.New(codes.NotFound, strings.Repeat(text, 10_000)).WithDetails([]protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: "A"}}...)
		if err != nil {
			t.Fatal(err)
		}
		if size := Size(Fit(detailed).Proto()); size < Limit-200 || size > Limit {
			t.Errorf("%q with details takes %d bytes", text, size)
		}
	}
}
