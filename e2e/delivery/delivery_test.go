package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// client is the client ID of the test.
const client = "delivery"

// plan describes what the page does to a control, and when.
type plan struct {
	// On is the trigger: an event type, "move", "timer" or "frame".
	On string `json:"on"`
	// What is the change; see swaps in scene.html.
	What string `json:"what"`
	UID  int    `json:"uid"`
	// Times limits how often the change occurs. Delay is the time between timer events in milliseconds.
	Times int `json:"times"`
	Delay int `json:"delay"`
}

var (
	// moments lists the triggers of a plan. Early changes precede the step and are not visible to the caller.
	moments = []string{"before", "before", "move", "mouseover", "pointerdown", "mousedown", "mouseup", "click", "keydown", "beforeinput", "input", "timer", "timer", "frame"}
	// doings lists the changes of a plan.
	doings = []string{"rename", "rename", "reuse", "reuse", "reuse", "reinsert", "reinsert", "rerender", "redraw", "order", "cover", "cover", "move", "slide", "hide", "disable", "readonly", "shorten", "refocus", "later", "prevent", "stop", "remove"}
)

// try is one attempted step.
type try struct {
	kind string
	on   known
	// to is the control at the end of a drag.
	to   known
	text string
	step *domtapv1.Step
	plan *plan
}

// String describes the attempt.
func (y try) String() string {
	p := "undisturbed"
	if y.plan != nil {
		p = fmt.Sprintf("%+v", *y.plan)
	}
	return fmt.Sprintf("%s on control %d (%v), %s", y.kind, y.on.uid, y.step, p)
}

// draw returns a random attempt.
func (s *scene) draw(rng *rand.Rand, n int) try {
	one := try{on: s.known[rng.IntN(len(s.known))], text: fmt.Sprintf("word %d", n)}
	at := &domtapv1.Target{Ref: proto.Uint32(one.on.ref)}
	kinds := map[string][]string{
		"button": {"click", "click", "click", "double", "right", "hover", "press", "scroll"},
		"text":   {"type", "type", "type", "fill", "fill", "click", "press"},
		"check":  {"check", "uncheck", "click"},
		"select": {"select"},
		"box":    {"drag", "drag", "click"},
		"zone":   {"click", "hover"},
	}[one.on.kind]
	one.kind = kinds[rng.IntN(len(kinds))]
	one.step = new(domtapv1.Step)
	switch one.kind {
	case "click":
		one.step.Action = &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at}}
	case "right":
		one.step.Action = &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at, Button: "right"}}
	case "double":
		one.step.Action = &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: at}}
	case "hover":
		one.step.Action = &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: at}}
	case "scroll":
		one.step.Action = &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: at}}
	case "press":
		one.text = "x"
		one.step.Action = &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: at, Key: one.text}}
	case "type":
		one.step.Action = &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: at, Text: one.text}}
	case "fill":
		one.step.Action = &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at, Text: one.text}}
	case "check":
		one.step.Action = &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: at}}
	case "uncheck":
		one.step.Action = &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: at}}
	case "select":
		one.text = []string{"Small", "Medium", "Large"}[rng.IntN(3)]
		one.step.Action = &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: at, Values: []string{one.text}}}
	case "drag":
		zones := slices.DeleteFunc(slices.Clone(s.known), func(k known) bool { return k.kind != "zone" })
		if len(zones) == 0 {
			one.kind = "hover"
			one.step.Action = &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: at}}
			break
		}
		one.to = zones[rng.IntN(len(zones))]
		one.step.Action = &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: at, To: &domtapv1.Target{Ref: proto.Uint32(one.to.ref)}}}
	}
	if rng.IntN(4) > 0 {
		one.plan = &plan{On: moments[rng.IntN(len(moments))], What: doings[rng.IntN(len(doings))], UID: one.on.uid,
			Times: 1 + rng.IntN(3), Delay: 1 + rng.IntN(40)}
		if one.plan.On == "frame" || one.plan.On == "timer" {
			one.plan.Times *= 5
		}
		if one.to.uid != 0 && rng.IntN(2) == 0 {
			one.plan.UID = one.to.uid
		}
	}
	return one
}

// outcome is the result of an attempt.
type outcome struct {
	result *domtapv1.StepResult
	record record
}

// do performs an attempt. If the call fails as a whole, nothing was done, and its result states that.
func (s *scene) do(one try, seed int) outcome {
	s.t.Helper()
	from := s.told[0]
	armed := one.plan
	if armed != nil && armed.On == "before" {
		s.number(".change(%v, %v, %v)", armed.What, armed.UID, seed)
		armed = nil
	}
	begin := s.number(".begin(%v, %v)", armed, seed)
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := s.d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{one.step}, ClientId: client})
	out := outcome{result: &domtapv1.StepResult{Delivered: domtapv1.Delivered_DELIVERED_NONE}}
	switch {
	case err == nil:
		out.result = r.GetResults()[0]
		from = begin
	case status.Code(err) == codes.FailedPrecondition:
		out.result.Error, out.result.Reason = err.Error(), testenv.Reason(err)
	default:
		s.t.Fatalf("%v: %v", one, err)
	}
	out.record = s.end()
	s.told = [2]int{from, out.record.Seq}
	return out
}

// judge returns an error if the answer is wrong.
func (s *scene) judge(one try, out outcome, before []identity) error {
	r, got := out.result, out.record
	var wrong []error
	if r.GetOk() != (r.GetDelivered() == domtapv1.Delivered_DELIVERED_ALL) {
		wrong = append(wrong, errors.New("ok and delivered contradict each other"))
	}
	wrong = append(wrong, s.touched(one, out, before))
	switch r.GetDelivered() {
	case domtapv1.Delivered_DELIVERED_ALL:
		if r.HealedRef == nil && !takenByItsPress(one, r) {
			wrong = append(wrong, s.arrived(one, got))
		}
	case domtapv1.Delivered_DELIVERED_NONE:
		if received := got.of(one.on.uid, "click", "input", "change", "drop"); len(received) > 0 {
			wrong = append(wrong, fmt.Errorf("said to be not delivered, and %s came", received[0].Type))
		}
	}
	return errors.Join(wrong...)
}

// takenByItsPress reports whether the page removed the element while it handled the press, and the answer states that.
func takenByItsPress(one try, r *domtapv1.StepResult) bool {
	said := map[string]string{"remove": "removed", "rerender": "removed", "redraw": "removed", "hide": "hid", "disable": "disabled"}
	return one.plan != nil && slices.Contains([]string{"pointerdown", "mousedown", "mouseup"}, one.plan.On) && said[one.plan.What] != "" &&
		strings.Contains(r.GetSummary(), "the page "+said[one.plan.What]+" it during the press")
}

// touched returns an error if another element received an event.
func (s *scene) touched(one try, out outcome, before []identity) error {
	for i, e := range out.record.touches() {
		named := e.UID == one.on.uid || one.to.uid != 0 && e.UID == one.to.uid
		if out.result.HealedRef != nil {
			named = named || slices.Contains(before, e.identity)
		}
		if !named {
			return fmt.Errorf("%s reached control %d (%s %s), which was not named", e.Type, e.UID, e.Name, e.Record)
		}
		if i == 0 && e.UID == one.on.uid && len(before) > 0 && !slices.Contains(before, e.identity) {
			return fmt.Errorf("%s reached control %d as (%s %s), and the caller was told of %v", e.Type, e.UID, e.Name, e.Record, before)
		}
	}
	return nil
}

// arrived returns an error if events of a complete action are missing.
func (s *scene) arrived(one try, got record) error {
	missing := func(what string) error { return fmt.Errorf("ok, and the page received no %s", what) }
	uid := one.on.uid
	switch one.kind {
	case "click":
		// A field may be clicked by its label. The browser then dispatches another click, to the field.
		labelled := s.kinds[uid] == "text" || s.kinds[uid] == "check"
		if len(got.of(uid, "click")) == 0 || !labelled && len(got.of(uid, "pointerdown", "mousedown")) == 0 {
			return missing("press and click")
		}
	case "double":
		if len(got.of(uid, "click")) < 2 {
			return missing("two clicks")
		}
	case "right":
		if len(got.of(uid, "contextmenu", "auxclick")) == 0 {
			return missing("contextmenu")
		}
	case "press":
		if len(got.of(uid, "keydown")) == 0 {
			return missing("keydown")
		}
	case "type", "fill":
		inputs := got.of(uid, "input")
		if len(inputs) == 0 {
			return missing("input")
		}
		last := inputs[len(inputs)-1].Value
		if one.kind == "fill" && last != one.text || !strings.HasSuffix(last, one.text) {
			return fmt.Errorf("ok, and the field held %q", last)
		}
	case "check", "uncheck":
		if held := s.eval(".held(%v)", uid); held != strconv.FormatBool(one.kind == "check") {
			return fmt.Errorf("ok, and the box is %s", held)
		}
	case "select":
		if held := s.eval(".held(%v)", uid); held != one.text {
			return fmt.Errorf("ok, and %s is selected", held)
		}
	case "drag":
		over := func(e event) bool {
			return (e.Type == "mouseup" || e.Type == "pointerup") && slices.Contains(e.Over, one.to.uid) || e.Type == "drop" && e.UID == one.to.uid
		}
		if len(got.of(uid, "pointerdown", "mousedown")) == 0 || !slices.ContainsFunc(got.Events, over) {
			return missing("press and release on the target")
		}
	}
	return nil
}

// TestAnswersAgreeWithThePage performs random steps and stops at the first wrong answer.
func TestAnswersAgreeWithThePage(t *testing.T) {
	steps := testenv.Steps(90)
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("DOMTAP_SEED"), 10, 64); err == nil {
		seed = n
	}
	base := serveScenes(t)
	d := testenv.StartDaemon(t)
	s := &scene{t: t, d: d, tab: d.Open("about:blank")}
	tally, wrong, done := map[string]int{}, 0, 0
	const round = 40
	for ; done < steps; done++ {
		rng := rand.New(rand.NewPCG(seed, uint64(done/round)<<32|uint64(done%round)))
		if done%round == 0 {
			s.show(strings.TrimSuffix(base, "/") + variants[done/round%len(variants)])
		}
		one := s.draw(rng, done)
		before := s.wasTold(one.on.uid)
		out := s.do(one, rng.IntN(1<<30))
		tally[one.kind+" "+strings.TrimPrefix(out.result.GetDelivered().String(), "DELIVERED_")+" "+out.result.GetReason()]++
		if err := s.judge(one, out, before); err != nil {
			wrong++
			t.Errorf("step %d of seed %d: %v\n%v\nanswer: %v\nthe page received:%v", done, seed, err, one, out.result, out.record)
			if wrong == 60 {
				t.Fatal("and so on")
			}
		}
		if rng.IntN(4) == 0 || out.result.GetReason() == "STALE_REF" || out.result.HealedRef != nil {
			s.read()
		}
	}
	t.Logf("%d steps, %d wrong answers", done, wrong)
	for _, key := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%6d %s", tally[key], key)
	}
}
