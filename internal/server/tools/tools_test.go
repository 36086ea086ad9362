package tools

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

const (
	completed = domtapv1.ToolStatus_TOOL_STATUS_COMPLETED
	failed    = domtapv1.ToolStatus_TOOL_STATUS_FAILED
	none      = domtapv1.Verdict_VERDICT_NO_CHANGE
	changed   = domtapv1.Verdict_VERDICT_CHANGED
	navigated = domtapv1.Verdict_VERDICT_NAVIGATED
	confirmed = domtapv1.Agreement_AGREEMENT_CONFIRMED
	unknown   = domtapv1.Agreement_AGREEMENT_UNCONFIRMED
	contrary  = domtapv1.Agreement_AGREEMENT_CONTRADICTED
)

// TestAgreement compares each kind of claim with each kind of effect.
func TestAgreement(t *testing.T) {
	get, post := []*domtapv1.ToolRequest{{Method: "GET"}}, []*domtapv1.ToolRequest{{Method: "GET"}, {Method: "POST"}}
	for name, c := range map[string]struct {
		readOnly bool
		status   domtapv1.ToolStatus
		effect   effect
		want     domtapv1.Agreement
	}{
		"wrote nothing":                   {false, completed, effect{verdict: none}, unknown},
		"changed a text":                  {false, completed, effect{verdict: changed}, confirmed},
		"asked the server":                {false, completed, effect{verdict: none, requests: get}, confirmed},
		"navigated":                       {false, completed, effect{verdict: navigated}, confirmed},
		"read nothing":                    {true, completed, effect{verdict: none}, confirmed},
		"read from the server":            {true, completed, effect{verdict: none, requests: get}, confirmed},
		"read while a text changed":       {true, completed, effect{verdict: changed}, unknown},
		"read and changed elements":       {true, completed, effect{verdict: changed, elements: true}, contrary},
		"read and wrote":                  {true, completed, effect{verdict: none, requests: post}, contrary},
		"read and navigated":              {true, completed, effect{verdict: navigated}, contrary},
		"failed":                          {false, failed, effect{verdict: none}, confirmed},
		"failed and asked":                {false, failed, effect{verdict: none, requests: get}, confirmed},
		"failed while a text changed":     {false, failed, effect{verdict: changed}, unknown},
		"failed and wrote":                {false, failed, effect{verdict: none, requests: post}, contrary},
		"waits for a person":              {false, domtapv1.ToolStatus_TOOL_STATUS_PENDING, effect{verdict: changed, elements: true}, domtapv1.Agreement_AGREEMENT_UNSPECIFIED},
		"did not answer":                  {false, domtapv1.ToolStatus_TOOL_STATUS_TIMED_OUT, effect{verdict: changed}, domtapv1.Agreement_AGREEMENT_UNSPECIFIED},
		"canceled after it had navigated": {false, domtapv1.ToolStatus_TOOL_STATUS_CANCELED, effect{verdict: navigated}, contrary},
	} {
		if got := agreement(driver.Tool{ReadOnly: c.readOnly}, &domtapv1.ToolClaim{Status: c.status}, c.effect); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestOutputsAreCutAtTheBudget cuts an output so that one more character would exceed the budget.
func TestOutputsAreCutAtTheBudget(t *testing.T) {
	claim := claimOf(&driver.ToolClaim{Status: driver.ToolCompleted, Output: strings.Repeat("tea, größer ", 1000)}, 200)
	if n := tokens.Count(claim.GetOutput()); !claim.GetOutputCut() || n > 200 || n < 195 {
		t.Errorf("the output has %d tokens, cut: %v", n, claim.GetOutputCut())
	}
	if claim := claimOf(&driver.ToolClaim{Output: "short"}, 200); claim.GetOutputCut() || claim.GetOutput() != "short" {
		t.Errorf("a short output: %v", claim)
	}
}

// TestFindNamesWhatThePageOffers checks the errors for names that are unknown or not unique.
func TestFindNamesWhatThePageOffers(t *testing.T) {
	info := actor.Info{Tools: &driver.ToolsChanged{Tools: []driver.Tool{{Name: "a"}, {Name: "b"}, {Name: "b", Frame: "F"}}}}
	if tool, err := find(info, "b", "F"); err != nil || tool.Frame != "F" {
		t.Errorf("b of a frame: %v, %v", tool, err)
	}
	for _, c := range []struct {
		info  actor.Info
		name  string
		kind  apierr.ErrorKind
		words string
	}{{info, "b", apierr.Ambiguous, "the main frame, F"}, {info, "c", apierr.NotFound, "but: a, b"}, {actor.Info{}, "c", apierr.NotFound, "offers no tools"}} {
		if _, err := find(c.info, c.name, ""); !apierr.Is(err, c.kind) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestASchemaThatIsNestedTooDeeplyChecksNothing(t *testing.T) {
	schema := func(n int) driver.Tool {
		return driver.Tool{Name: "order", Schema: strings.Repeat(`{"not":{"not":`, n) + `{"type":"object","required":["a"]}` + strings.Repeat("}}", n)}
	}
	for n, refused := range map[int]bool{0: true, 10: true, 1000: false} {
		if err := checkInput(schema(n), "{}"); (err != nil) != refused {
			t.Errorf("a schema that is nested %d times: %v", 2*n, err)
		}
	}
}

// FuzzInputsAreCheckedInTime checks that no schema of a page makes a check panic or endless.
func FuzzInputsAreCheckedInTime(f *testing.F) {
	for _, schema := range []string{
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}`, `{"allOf":[{"$ref":"#"}]}`, `{"allOf":[{"$reF":"#"}]}`, `{"allOf":[{"$\u0072ef":"#"}]}`, `{"$defs":{"a":{"$dynamicRef":"#a"}}}`,
		`{"properties":{"a":{"pattern":"(a+)+$"}}}`, `true`, `[]`, `{"type":["object","null"],"if":{},"then":false}`, `{"uniqueItems":true,"multipleOf":0}`,
	} {
		f.Add(schema, `{"n": 1, "a": "aaaaaaaaaaaaaaaaaaaaaaaa!"}`)
	}
	f.Fuzz(func(t *testing.T, schema, input string) {
		if err := checkInput(driver.Tool{Name: "t", Schema: schema}, input); err != nil && !apierr.Is(err, apierr.Invalid) {
			t.Errorf("%v", err)
		}
	})
}
