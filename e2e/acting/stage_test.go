// Package acting tests every kind of action in real Chromium: its effect, the events that the page receives, and the conditions under which
// it is refused.
package acting

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// html serves a page from a string.
func html(page string) http.HandlerFunc { return testenv.HTML("<!doctype html>" + page) }

// stage is a tab with a page that tests act on.
type stage struct {
	t   *testing.T
	d   *testenv.Daemon
	tab string
}

// staged opens a page for a test that runs in parallel with others, in a session of the test alone.
func staged(t *testing.T, page string, flags ...string) *stage {
	t.Helper()
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": html(page)})
	d := testenv.Apart(t, flags...)
	return &stage{t: t, d: d, tab: d.Open(url)}
}

// atOnce limits how many cases of a test run concurrently.
const atOnce = 6

// sideBySide runs the cases of a test as subtests, some of them concurrently, each in a separate session and tab. It is for cases that
// mostly wait, for example for an action that is retried for two seconds before it is refused.
func sideBySide[C any](t *testing.T, cases map[string]C, run func(s *stage, c C)) {
	t.Helper()
	d := testenv.Shared(t)
	running := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for name, c := range cases {
		running <- struct{}{}
		session := "case-" + strings.ReplaceAll(name, " ", "-")
		all.Go(func() {
			defer func() { <-running }()
			t.Run(name, func(t *testing.T) { run(&stage{t: t, d: d.In(t, session)}, c) })
		})
	}
	all.Wait()
}

// show replaces the page, or opens the tab with it.
func (s *stage) show(page string) {
	s.t.Helper()
	s.tab = s.d.Show(s.tab, testenv.Pages(s.t, map[string]http.HandlerFunc{"/": html(page)}))
}

// at returns the target of the element with a text, a placeholder or a name attribute. While a frame has not answered, at reads the page
// again, because the element may be in the frame.
func (s *stage) at(text string) *domtapv1.Target {
	s.t.Helper()
	ctx := testenv.Within(s.t, testenv.Patience)
	for {
		all := s.d.All(s.tab)
		for _, e := range all.GetElements() {
			if e.GetText() == text || e.GetPlaceholder() == text || e.GetName() == text {
				return &domtapv1.Target{Ref: proto.Uint32(e.GetRef())}
			}
		}
		if len(all.GetMetadata().GetLateFrames()) == 0 || ctx.Err() != nil {
			s.t.Fatalf("no element %q among %v", text, all)
		}
	}
}

// noted returns the same target as at, after the page has recorded the rows of all elements. It records the rows of the first read after
// its answer. Changes before that are refused as unsure.
func (s *stage) noted(text string) *domtapv1.Target {
	s.t.Helper()
	s.at(text)
	return s.at(text)
}

// try performs one step.
func (s *stage) try(ctx context.Context, step *domtapv1.Step) (*domtapv1.StepResult, error) {
	r, err := s.d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{step}})
	if err != nil {
		return nil, err
	}
	return r.GetResults()[0], nil
}

// do performs one step, which must succeed, and returns its summary.
func (s *stage) do(step *domtapv1.Step) string {
	s.t.Helper()
	r, err := s.try(s.t.Context(), step)
	if err != nil {
		s.t.Fatalf("%v: %v", step, err)
	}
	return r.GetSummary()
}

// refused performs one step, which must fail with a reason and an error that contains the given texts.
func (s *stage) refused(step *domtapv1.Step, why string, says ...string) {
	s.t.Helper()
	_, err := s.try(s.t.Context(), step)
	if testenv.Reason(err) != why && !(why == "INVALID" && err != nil) {
		s.t.Errorf("%v: got %v, want %s", step, err, why)
		return
	}
	for _, word := range says {
		if !strings.Contains(err.Error(), word) {
			s.t.Errorf("%v: %v does not say %q", step, err, word)
		}
	}
}

// is checks the value of an expression in the page, as text.
func (s *stage) is(expression, want string) {
	s.t.Helper()
	if got := s.eval(expression); got != want {
		s.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

// eval runs an expression in the page's main world and returns its value as text. It awaits promises.
func (s *stage) eval(expression string) string {
	s.t.Helper()
	var out struct {
		Result struct {
			Value string `json:"value"`
		} `json:"result"`
	}
	err := s.d.Browser.Page(s.d.Session).Call(s.t.Context(), "Runtime.evaluate", map[string]any{
		"expression": "(async () => String(await (" + expression + ")))()", "returnByValue": true, "awaitPromise": true}, &out)
	if err != nil {
		s.t.Fatal(err)
	}
	return out.Result.Value
}

// The steps.

func click(at *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at}}}
}

func hover(at *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: at}}}
}

func typing(at *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: at, Text: text}}}
}

func fill(at *domtapv1.Target, text string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at, Text: text}}}
}

func key(at *domtapv1.Target, key string, repeat int32) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: at, Key: key, Repeat: repeat}}}
}

func selecting(at *domtapv1.Target, values ...string) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: at, Values: values}}}
}

func check(at *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: at}}}
}

func uncheck(at *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: at}}}
}

func scroll(at *domtapv1.Target, dx, dy float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: at, DeltaX: dx, DeltaY: dy}}}
}

func drag(at, to *domtapv1.Target, dx, dy float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: at, To: to, DeltaX: dx, DeltaY: dy}}}
}

func point(x, y float64) *domtapv1.Target { return &domtapv1.Target{X: &x, Y: &y} }
