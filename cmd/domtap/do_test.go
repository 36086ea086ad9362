package main

import (
	"cmp"
	"context"
	"os"
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

// TestActionsThatFollowEachOtherAreOneTurn runs five commands, of which four become one call.
func TestActionsThatFollowEachOtherAreOneTurn(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	got := daemon.at().run(t, "do", "--tab", "t1", "click button Save --nth 2", `fill Name "Ada L"`, "press Enter", `wait gone Loading --timeout 3s`, "tabs")
	if got.code != exit.OK || !strings.Contains(got.out, "t1") {
		t.Fatalf("got %d, %q, %q", got.code, got.out, got.errors)
	}
	var turns []*domtapv1.InteractRequest
	for _, r := range daemon.requests {
		if r, ok := r.(*domtapv1.InteractRequest); ok {
			turns = append(turns, r)
		}
	}
	if len(turns) != 1 || turns[0].GetTabId() != "t1" || len(turns[0].GetSteps()) != 4 {
		t.Fatalf("the daemon got %v", turns)
	}
	steps := turns[0].GetSteps()
	if got := steps[0].GetClick().GetTarget(); !proto.Equal(got, &domtapv1.Target{Role: "button", Name: "Save", Nth: 2}) {
		t.Errorf("the click is at %v", got)
	}
	if got := steps[1].GetFill(); got.GetTarget().GetLabel() != "Name" || got.GetText() != "Ada L" {
		t.Errorf("the fill is %v", got)
	}
	if got := steps[3].GetWait(); got.GetTimeout().GetSeconds() != 3 || got.GetUntil().GetElement().GetState() != domtapv1.ElementState_ELEMENT_STATE_GONE {
		t.Errorf("the wait is %v", got)
	}
}

// TestAStepWithATabIsACommandOfItsOwn checks that a step for another tab is not part of a turn.
func TestAStepWithATabIsACommandOfItsOwn(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	if got := daemon.at().run(t, "do", "--tab", "t1", "click 1", "click 2 --tab t2", "click 3"); got.code != exit.OK {
		t.Fatalf("got %d, %q", got.code, got.errors)
	}
	var tabs []string
	for _, r := range daemon.requests {
		if r, ok := r.(*domtapv1.InteractRequest); ok {
			tabs = append(tabs, r.GetTabId())
		}
	}
	if strings.Join(tabs, " ") != "t1 t2 t1" {
		t.Errorf("the turns were on %v", tabs)
	}
}

// TestStepsThatHoldHaveMoreTime checks the deadlines that the daemon receives: the hold time is added to the timeout.
func TestStepsThatHoldHaveMoreTime(t *testing.T) {
	daemon := newFakeDaemon(t)
	var left time.Duration
	daemon.answer = func(ctx context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.InteractRequest); ok {
			deadline, _ := ctx.Deadline()
			left = time.Until(deadline)
		}
		return nil, nil
	}
	daemon.start(t)
	for _, args := range [][]string{
		{"do", "--tab", "t1", "--timeout", "1m", "press ArrowRight --hold 10s", "click 3 --hold 10s", "drag 3 4 --hold 10s"},
		{"click", "3", "--hold", "10s", "--tab", "t1", "--timeout", "1m"},
		{"mouse", "--tab", "t1", "--timeout", "1m", "--hold", "10s", "down 3 up down 4 up down 5 up"},
	} {
		left = 0
		if got := daemon.at().run(t, args...); got.code != exit.OK || left <= time.Minute || left > 90*time.Second {
			t.Errorf("%v: exit code %d, %q; the daemon had %v", args, got.code, got.errors, left)
		}
	}
}

// TestATurnIgnoresTheArgumentsOfTheProcess runs steps as one turn in a process whose arguments have a flag that a turn does not have.
func TestATurnIgnoresTheArgumentsOfTheProcess(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	args := os.Args
	os.Args = []string{"domtap", "do", "--each", "click 1"}
	t.Cleanup(func() { os.Args = args })
	if got := daemon.at().run(t, "do", "--tab", "t1", "--each", "click 1"); got.code != exit.OK || len(daemon.requests) == 0 {
		t.Errorf("got %d, %q, and the daemon %v", got.code, got.errors, daemon.requests)
	}
}

// TestAWaitForNothingIsRefusedBeforeTheFirstStep checks that all steps are validated first, including waits.
func TestAWaitForNothingIsRefusedBeforeTheFirstStep(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	got := daemon.at().run(t, "do", "--tab", "t1", "click 1", "wait load")
	if got.code != exit.Usage || !strings.Contains(got.errors, "nothing was done") || len(daemon.requests) > 0 {
		t.Errorf("got %d, %q, and the daemon %v", got.code, got.errors, daemon.requests)
	}
}

// TestABudgetOutOfRangeIsRefusedBeforeTheFirstStep checks that flags of reads are also validated first.
func TestABudgetOutOfRangeIsRefusedBeforeTheFirstStep(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	got := daemon.at().run(t, "do", "--tab", "t1", "click 1", "find x --max-tokens 30")
	if got.code != exit.Usage || !strings.Contains(got.errors, "must be 0, or 200 to 50000; nothing was done") || len(daemon.requests) > 0 {
		t.Errorf("got %d, %q, and the daemon %v", got.code, got.errors, daemon.requests)
	}
}

// TestSearchesOfOnePagePrintItsHeaderOnce searches a page twice, and then another one.
func TestSearchesOfOnePagePrintItsHeaderOnce(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		find, ok := r.(*domtapv1.FindRequest)
		if !ok {
			return nil, nil
		}
		page := "https://one.example/"
		if find.GetQuery() == "c" {
			page = "https://two.example/"
		}
		return &domtapv1.FindResponse{Text: "URL: " + page + "\n[1] " + find.GetQuery() + " (button)\n"}, nil
	}
	got := daemon.start(t).at().run(t, "do", "--tab", "t1", "find a", "find b", "find c")
	const want = "URL: https://one.example/\n[1] a (button)\n[1] b (button)\nURL: https://two.example/\n[1] c (button)\n"
	if got.code != exit.OK || got.out != want {
		t.Errorf("got %d, %q, want %q", got.code, got.out, want)
	}
}

// TestTheMouseIsPartOfATurn checks that its steps run in one turn with the steps around them.
func TestTheMouseIsPartOfATurn(t *testing.T) {
	daemon := newFakeDaemon(t)
	turns := 0
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.InteractRequest); !ok {
			return nil, nil
		}
		turns++
		steps := r.(*domtapv1.InteractRequest).GetSteps()
		if len(steps) != 5 || steps[1].GetMouseDown() == nil || steps[2].GetMouseMove() == nil || steps[3].GetMouseUp() == nil {
			t.Errorf("the turn is %v", steps)
		}
		return &domtapv1.InteractResponse{Results: []*domtapv1.StepResult{{Ok: true, Summary: "click: ok"}, {Error: "the button is gone"}}}, nil
	}
	got := daemon.start(t).at().run(t, "do", "--tab", "t1", "click 1", "mouse down 5,5 move by 0,9 up", "click 2")
	if turns != 1 || !strings.Contains(got.errors, "mouse down 5,5 move by 0,9 up: the button is gone") {
		t.Errorf("%d turns, %q", turns, got.errors)
	}
}

// TestStepsTakeNegativeNumbers fills in a number that begins like a flag.
func TestStepsTakeNegativeNumbers(t *testing.T) {
	daemon := newFakeDaemon(t).start(t)
	if got := daemon.at().run(t, "do", "--tab", "t1", "fill 7 -40"); got.code != 0 || len(daemon.requests) == 0 {
		t.Errorf("got %d, %q, and the daemon %v", got.code, got.errors, daemon.requests)
	}
}

// TestANavigationOnTheWayPrintsAlertsAlone navigates and continues. An error page is reported.
func TestANavigationOnTheWayPrintsAlertsAlone(t *testing.T) {
	daemon := newFakeDaemon(t)
	status := int32(200)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		if _, ok := r.(*domtapv1.NavigateRequest); !ok {
			return nil, nil
		}
		return &domtapv1.NavigateResponse{Tab: &domtapv1.Tab{Id: "t1", Url: "https://one.example/", HttpStatus: status}, Outcome: []*domtapv1.Outcome{
			{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, Text: "Orders"}, {Kind: domtapv1.OutcomeKind_OUTCOME_KIND_ALERT, Text: "Closed today"},
		}}, nil
	}
	daemon.start(t)
	got := daemon.at().run(t, "do", "--tab", "t1", "goto one.example", "snapshot")
	if got.code != exit.OK || !strings.HasPrefix(got.out, "! alert: Closed today\n") || strings.Contains(got.out, "Orders") || strings.Contains(got.out, "STATUS") {
		t.Errorf("got %d, %q, %q", got.code, got.out, got.errors)
	}
	status = 404
	if got := daemon.at().run(t, "do", "--tab", "t1", "goto one.example", "snapshot"); !strings.Contains(got.out, " 404 ") {
		t.Errorf("of an error it says %q", got.out)
	}
}

// TestPhrasesThatNothingHasTogetherAreFoundOneByOne searches for two names in a list.
func TestPhrasesThatNothingHasTogetherAreFoundOneByOne(t *testing.T) {
	daemon := newFakeDaemon(t)
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		find, ok := r.(*domtapv1.FindRequest)
		if !ok {
			return nil, nil
		}
		answer := &domtapv1.FindResponse{Text: "URL: x\n# No match\n"}
		if find.GetQuery() == "Ada Lovelace" || find.GetQuery() == "Hopper" {
			answer.Text, answer.Matches = "URL: x\n[1] "+find.GetQuery()+"\n", []*domtapv1.FindMatch{{}}
		}
		return answer, nil
	}
	daemon.start(t)
	if got, want := daemon.at().run(t, "find", "--tab", "t1", "Ada Lovelace", "Hopper").out, "URL: x\n[1] Ada Lovelace\n[1] Hopper\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := daemon.at().run(t, "find", "--tab", "t1", "sign", "in").out, "URL: x\n# No match\n"; got != want {
		t.Errorf("words without quotes: got %q, want %q", got, want)
	}
}

// TestAFailedStepPrintsAnUnreadPage opens a page and acts on it before reading it.
func TestAFailedStepPrintsAnUnreadPage(t *testing.T) {
	daemon := newFakeDaemon(t)
	reason := "TARGET_NOT_FOUND"
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		switch r.(type) {
		case *domtapv1.InteractRequest:
			return &domtapv1.InteractResponse{DiffText: "+ [3] Hint (button)\n", Results: []*domtapv1.StepResult{
				{Ok: true, Summary: "click: ok"}, {Error: "it failed", Reason: reason}}}, nil
		case *domtapv1.GetCompactRequest:
			return &domtapv1.GetCompactResponse{Text: "URL: https://one.example/\n[3] Hint (button)\n"}, nil
		}
		return nil, nil
	}
	daemon.start(t)
	const page = "URL: https://one.example/\n[3] Hint (button)\n"
	for _, test := range []struct {
		name    string
		args    []string
		printed bool
	}{
		{"after goto", []string{"goto one.example", "click A", "click B"}, true},
		{"after a search", []string{"goto one.example", "find Hint", "click A", "click B"}, true},
		{"after a read", []string{"goto one.example", "snapshot", "click A", "click B"}, false},
		{"on a page opened earlier", []string{"click A", "click B"}, false},
	} {
		got := daemon.at().run(t, append([]string{"do", "--tab", "t1"}, test.args...)...)
		if got.code != exit.Precondition || strings.HasSuffix(got.out, page) != test.printed || strings.Contains(got.out, "+ [3]") == test.printed {
			t.Errorf("%s: got %d, %q", test.name, got.code, got.out)
		}
		if strings.Contains(got.errors, "hint:") == test.printed {
			t.Errorf("%s: the errors are %q", test.name, got.errors)
		}
	}
	reason = "UPLOAD_POLICY"
	if got := daemon.at().run(t, "do", "--tab", "t1", "goto one.example", "click A", "click B"); got.code != exit.Denied || !strings.Contains(got.out, "+ [3]") {
		t.Errorf("a denied step hides the change before it: got %d, %q", got.code, got.out)
	}
	reason = "DIALOG_OPEN"
	if got := daemon.at().run(t, "do", "--tab", "t1", "goto one.example", "click A", "click B"); !strings.HasSuffix(got.out, page) || !strings.Contains(got.errors, "domtap dialog accept") {
		t.Errorf("the page replaces the hint to answer a dialog: got %q, %q", got.out, got.errors)
	}
}

// TestASearchScrollsUntilSomethingMatches searches a list whose rows the page creates while it scrolls.
func TestASearchScrollsUntilSomethingMatches(t *testing.T) {
	daemon := newFakeDaemon(t)
	scrolls, end := 0, 3
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		switch r := r.(type) {
		case *domtapv1.FindRequest:
			if scrolls == 2 && (r.GetQuery() == "Pump" || r.GetQuery() == "Bilge pump") {
				return &domtapv1.FindResponse{Text: "URL: x\n[7] Pump\n", Matches: []*domtapv1.FindMatch{{}}}, nil
			}
			return &domtapv1.FindResponse{Text: "URL: x\n# No match\n"}, nil
		case *domtapv1.InteractRequest:
			results := make([]*domtapv1.StepResult, len(r.GetSteps()))
			for i := range results {
				results[i] = &domtapv1.StepResult{Ok: true, Summary: "scroll: ok"}
			}
			if scrolls == end {
				results[len(results)-1].Summary = "scroll: nothing scrolled: it is at its end, or does not scroll"
			} else {
				scrolls++
			}
			return &domtapv1.InteractResponse{Results: results}, nil
		}
		return nil, nil
	}
	daemon.start(t)
	if got := daemon.at().run(t, "find", "--tab", "t1", "--scroll", "Pump"); got.out != "URL: x\n[7] Pump\n" || scrolls != 2 {
		t.Errorf("got %q after %d scrolls", got.out, scrolls)
	}
	scrolls = 0
	if got := daemon.at().run(t, "find", "--tab", "t1", "--scroll", "Bilge pump", "Pump"); got.out != "URL: x\n[7] Pump\n[7] Pump\n" || scrolls != 2 {
		t.Errorf("of two phrases: got %q after %d scrolls", got.out, scrolls)
	}
	if got := daemon.at().run(t, "find", "--tab", "t1", "--scroll", "Mast"); got.out != "URL: x\n# No match\n" || scrolls != end {
		t.Errorf("without any match: got %q after %d scrolls", got.out, scrolls)
	}
	if got := daemon.at().run(t, "find", "--tab", "t1", "Mast"); got.code != exit.OK || scrolls != end {
		t.Errorf("without the flag: got %d after %d scrolls", got.code, scrolls)
	}
}

// TestASearchEndsWhereScrollingDoes searches pages at whose end nothing matches, or something matches late.
func TestASearchEndsWhereScrollingDoes(t *testing.T) {
	daemon := newFakeDaemon(t)
	var summary string
	var ticks, late bool
	var scrolls, waits int
	daemon.answer = func(_ context.Context, r proto.Message) (proto.Message, error) {
		switch r := r.(type) {
		case *domtapv1.FindRequest:
			if late && waits > 0 {
				return &domtapv1.FindResponse{Text: "URL: x\n[7] Pump\n", Matches: []*domtapv1.FindMatch{{}}, Revision: 2}, nil
			}
			return &domtapv1.FindResponse{Text: "URL: x\n# No match\n", Revision: 1}, nil
		case *domtapv1.InteractRequest:
			results := make([]*domtapv1.StepResult, len(r.GetSteps()))
			for i, step := range r.GetSteps() {
				results[i] = &domtapv1.StepResult{Ok: true, Summary: "wait: ok"}
				if step.GetWait() == nil {
					scrolls++
					results[i].Summary = "scroll: " + summary
				} else if waits++; ticks {
					st, err := status.New(codes.DeadlineExceeded, "it always changes").WithDetails(&errdetails.ErrorInfo{Reason: "WAIT_TIMEOUT"})
					return nil, cmp.Or(err, st.Err())
				}
			}
			return &domtapv1.InteractResponse{Results: results}, nil
		}
		return nil, nil
	}
	daemon.start(t)
	const none, pump = "URL: x\n# No match\n", "URL: x\n[7] Pump\n"
	const end = "nothing scrolled: it is at its end, or does not scroll"
	for _, test := range []struct {
		name, summary string
		ticks, late   bool
		want          string
	}{
		{"at the end", end, false, false, none},
		{"content that comes at the end", end, false, true, pump},
		{"a page that always changes", end, true, false, none},
		{"a page that handles the wheel", "ok, the page handled the wheel itself", false, false, none},
		{"a frame", "ok, a frame under the pointer may have scrolled", false, false, none},
	} {
		summary, ticks, late, scrolls, waits = test.summary, test.ticks, test.late, 0, 0
		if got := daemon.at().run(t, "find", "--tab", "t1", "--scroll", "Pump"); got.code != exit.OK || got.out != test.want || scrolls != 2 || waits != 1 {
			t.Errorf("%s: got %d, %q after %d scrolls and %d waits", test.name, got.code, got.out, scrolls, waits)
		}
	}
}
