package actions

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/server/rules/rulestest"
)

func interact(all ...*domtapv1.Step) *domtapv1.InteractRequest {
	return &domtapv1.InteractRequest{TabId: "t1", Steps: all}
}

func waitStep(w *domtapv1.WaitStep) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: w}}
}

func click(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}
}

func ref(n uint32) *domtapv1.Target { return &domtapv1.Target{Ref: &n} }

func mouseDown(target *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: target}}}
}

func mouseMove(target *domtapv1.Target, dx float64, waypoints []*domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: target, DeltaX: dx, Waypoints: waypoints}}}
}

var mouseUp = &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}

func TestGoodRequestsPass(t *testing.T) {
	rulestest.Pass(t, Rules,
		interact(mouseDown(ref(1)), mouseMove(nil, -5, []*domtapv1.Target{ref(2)}), mouseUp, click(ref(3)), mouseDown(nil)),
		interact(click(ref(1)), mouseMove(nil, 5, nil), mouseMove(ref(2), 0, nil), mouseDown(nil)),
		interact(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Role: "button", Name: "Pay"}, Gone: true})),
		interact(waitStep(&domtapv1.WaitStep{Until: &domtapv1.WaitCondition{Text: "Done"}})),
		interact(click(ref(0))),
		interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "Enter"}}}),
		&domtapv1.InteractRequest{TabId: "t1", Url: "https://example.com/"},
	)
}

func TestBadFieldsAreNamed(t *testing.T) {
	noRef := uint32(1<<32 - 1)
	for _, c := range []struct {
		request proto.Message
		want    string
	}{
		{interact(waitStep(&domtapv1.WaitStep{Timeout: rulestest.Seconds(0)})), "steps[0].wait.timeout steps[0].wait"},
		{interact(waitStep(&domtapv1.WaitStep{Target: ref(1), Until: &domtapv1.WaitCondition{Change: true}})), "steps[0].wait"},
		{interact(waitStep(&domtapv1.WaitStep{Gone: true, Until: &domtapv1.WaitCondition{}})), "steps[0].wait.gone steps[0].wait.until"},
		{interact(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Text: "x", Selector: "y"}})), "steps[0].wait.target"},
		{interact(), "steps"},
		{interact(slices.Repeat([]*domtapv1.Step{click(ref(1))}, 33)...), "steps"},
		{interact(slices.Repeat([]*domtapv1.Step{{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{}}}}, 9)...), "steps"},
		{interact(click(&domtapv1.Target{Ref: proto.Uint32(1), Nth: 2})), "steps[0].click.target.nth"},
		{interact(click(&domtapv1.Target{Text: "Save", Nth: 100_001})), "steps[0].click.target.nth"},
		{interact(click(ref(1)), &domtapv1.Step{}), "steps[1]"},
		{interact(click(nil)), "steps[0].click.target"},
		{interact(click(&domtapv1.Target{})), "steps[0].click.target"},
		{interact(click(&domtapv1.Target{Ref: proto.Uint32(1), Text: "x"})), "steps[0].click.target"},
		{interact(click(ref(noRef))), "steps[0].click.target.ref"},
		{interact(click(&domtapv1.Target{Role: " ", Name: "Pay"}), click(&domtapv1.Target{Selector: strings.Repeat("a", 1001)})),
			"steps[0].click.target.role steps[1].click.target.selector"},
		{&domtapv1.InteractRequest{TabId: "t1", Steps: []*domtapv1.Step{click(ref(1))}, Format: domtapv1.Format_FORMAT_TREE}, "format"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{MaxTokens: proto.Int32(199)}}}), "steps[0].read.max_tokens"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{Marks: true, FullPage: true}}}),
			"steps[0].screenshot.marks"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{
			Target: ref(1), Button: "thumb", Modifiers: []string{"Shift", "Hyper"},
		}}}), "steps[0].click.button steps[0].click.modifiers[1]"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{}}}), "steps[0].press.key"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{
			Target: ref(1), Text: strings.Repeat("é", 100_001),
		}}}), "steps[0].type.text"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{}}}), "steps[0].scroll.target"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaX: math.NaN(), DeltaY: 1e9}}}), "steps[0].scroll.delta_x steps[0].scroll.delta_y"},
		{interact(click(&domtapv1.Target{X: proto.Float64(1)})), "steps[0].click.target.y"},
		{interact(click(&domtapv1.Target{X: proto.Float64(-1), Y: proto.Float64(math.Inf(1))})), "steps[0].click.target.x steps[0].click.target.y"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Repeat: 101}}}), "steps[0].press.repeat"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: &domtapv1.Target{X: proto.Float64(1), Y: proto.Float64(1)}}}}), "steps[0].fill.target"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Values: slices.Repeat([]string{"a"}, 101)}}}), "steps[0].select.target steps[0].select.values"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{}}}), "steps[0].check.target"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: ref(noRef)}}}), "steps[0].uncheck.target.ref"},
		{interact(mouseUp), "steps[0].mouse_up"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Dialog{Dialog: &domtapv1.DialogStep{PromptText: proto.String("Ada")}}}), "steps[0].dialog.prompt_text"},
		{interact(mouseDown(nil)), "steps[0].mouse_down.target"},
		{interact(mouseMove(nil, 1, nil)), "steps[0].mouse_move.target"},
		{interact(mouseDown(ref(1)), mouseMove(nil, 0, nil)), "steps[1].mouse_move.target"},
		{interact(mouseDown(ref(1)), mouseDown(nil)), "steps[1].mouse_down"},
		{interact(mouseDown(ref(1)), click(ref(1)), mouseUp, mouseUp), "steps[1] steps[3].mouse_up"},
		{interact(mouseDown(ref(1)), mouseMove(nil, 100_001, slices.Repeat([]*domtapv1.Target{ref(3)}, 33))), "steps[1].mouse_move.delta_x steps[1].mouse_move.waypoints"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: ref(1), Moves: 101}}}), "steps[0].mouse_move.moves"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: ref(1), Button: "thumb", Modifiers: []string{"Fn"}, Hold: rulestest.Seconds(11)}}}),
			"steps[0].mouse_down.button steps[0].mouse_down.modifiers[0] steps[0].mouse_down.hold"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Repeat: 2, Hold: rulestest.Seconds(1)}}}), "steps[0].press.hold"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "a", Hold: rulestest.Seconds(11)}}}), "steps[0].press.hold"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{Target: ref(1), Modifiers: []string{"Shift"}}}}), "steps[0].scroll.modifiers"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 1, Modifiers: []string{"Fn"}}}}), "steps[0].scroll.modifiers[0]"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1)}}}), "steps[0].drag.to"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), DeltaX: 1}}}), "steps[0].drag.to"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), Waypoints: []*domtapv1.Target{ref(3), {}}}}}), "steps[0].drag.waypoints[1]"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: ref(1), To: ref(2), Waypoints: slices.Repeat([]*domtapv1.Target{ref(3)}, 33)}}}), "steps[0].drag.waypoints"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: ref(1)}}}), "steps[0].upload"},
		{interact(&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: ref(1), Paths: []string{"a", "/b\x00"}, Files: []*domtapv1.UploadFile{
			{Name: "../x"}, {Name: "a/b"}, {Name: ""}, {Name: "big.bin", Content: make([]byte, 4<<20+1)}}}}}),
			"steps[0].upload.paths[0] steps[0].upload.paths[1] steps[0].upload.files[0].name steps[0].upload.files[1].name steps[0].upload.files[2].name steps[0].upload.files"},
	} {
		rulestest.Refuse(t, Rules, c.request, c.want)
	}
}

func TestUnsupportedFieldsAreNamed(t *testing.T) {
	for _, c := range []struct {
		request     proto.Message
		field, says string
	}{
		{interact(waitStep(&domtapv1.WaitStep{Target: &domtapv1.Target{Label: "Email"}})), "steps[0].wait.target.label", "name"},
	} {
		rulestest.Suggest(t, Rules, c.request, c.field, c.says)
	}
}

func TestInvalidFieldsAreReportedFirst(t *testing.T) {
	r := &domtapv1.InteractRequest{Url: "chrome://settings", Steps: []*domtapv1.Step{click(&domtapv1.Target{Text: "x"})}}
	var invalid *rules.Invalid
	if err := Rules.Check(r); !errors.As(err, &invalid) {
		t.Errorf("got %v, want the missing tab_id first", err)
	}
	r.TabId = "t1"
	var refused *apierr.Error
	if err := Rules.Check(r); !errors.As(err, &refused) || refused.Kind != apierr.Refused {
		t.Errorf("got %v, want the URL refused next", err)
	}
}

// The error must fit the trailers of a client that accepts 8 KiB of metadata.
func TestViolationsAreBounded(t *testing.T) {
	modifiers := make([]string, 100_000)
	step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: ref(1), Modifiers: modifiers}}}
	var invalid *rules.Invalid
	if err := Rules.Check(interact(step)); !errors.As(err, &invalid) || len(invalid.Violations) != 25 || len(err.Error()) > 4096 {
		t.Errorf("%d violations in %d bytes", len(invalid.Violations), len(invalid.Error()))
	}
}
