package steps

import (
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
)

func TestTheValueOfAClickSaysHow(t *testing.T) {
	for value, want := range map[string]*domtapv1.ClickStep{
		"":                  {},
		"right":             {Button: "right"},
		"Control":           {Modifiers: []string{"Control"}},
		"ctrl+shift":        {Modifiers: []string{"Control", "Shift"}},
		"triple":            {Count: 3},
		"hold 1s":           {Hold: durationpb.New(time.Second)},
		"hold":              {Hold: durationpb.New(time.Second)},
		"800ms":             {Hold: durationpb.New(800 * time.Millisecond)},
		"Meta, right":       {Button: "right", Modifiers: []string{"Meta"}},
		"hard":              nil,
		"hold 11s":          nil,
		"hold -1s":          nil,
		"hold 1s, then 2 s": nil,
	} {
		arguments := &Arguments{Action: "click"}
		if value != "" {
			arguments.Value = args.Words{value}
		}
		got, err := arguments.Step(&args.Clamps{})
		if (err != nil) != (want == nil) || want != nil && !proto.Equal(got.GetClick(), want) {
			t.Errorf("%q: got %v, %v", value, got, err)
		}
	}
}

func TestTheMouseOfModels(t *testing.T) {
	at := &domtapv1.Target{Role: "slider"}
	for _, c := range []struct {
		given Arguments
		want  *domtapv1.Step
	}{
		{Arguments{Action: "mouse_down", Role: "slider", Value: args.Words{"right Shift hold 2s"}},
			&domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: at, Button: "right", Modifiers: []string{"Shift"}, Hold: durationpb.New(2 * time.Second)}}}},
		{Arguments{Action: "mouse_down", Value: args.Words{"triple"}}, nil},
		{Arguments{Action: "mouse_move", Value: args.Words{"80,-5"}}, &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{DeltaX: 80, DeltaY: -5}}}},
		{Arguments{Action: "mouse_move", Role: "slider"}, &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: at}}}},
		{Arguments{Action: "mouse_move", Value: args.Words{"e9"}}, nil},
		{Arguments{Action: "mouse_up"}, &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}},
		{Arguments{Action: "press", Value: args.Words{"ArrowRight hold 500ms"}}, &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "ArrowRight", Hold: durationpb.New(500 * time.Millisecond)}}}},
		{Arguments{Action: "press", Value: args.Words{"ArrowRight hold long"}}, nil},
	} {
		got, err := c.given.Step(&args.Clamps{})
		if (err != nil) != (c.want == nil) || c.want != nil && !proto.Equal(got, c.want) {
			t.Errorf("%+v: got %v, %v", c.given, got, err)
		}
	}
}

// TestNthIsAWholeNumber tries valid and invalid numbers. Invalid ones must not be rounded.
func TestNthIsAWholeNumber(t *testing.T) {
	for value, right := range map[float64]bool{1: true, 2: true, -1: true, 0: true, 1.5: false, -0.5: false, 1e12: false, math.Inf(1): false} {
		arguments := &Arguments{Action: "click", Role: "button", Nth: args.Number{Set: true, Value: value}}
		got, err := arguments.Step(&args.Clamps{})
		if (err == nil) != right || right && got.GetClick().GetTarget().GetNth() != int32(value) {
			t.Errorf("%v: got %v, %v", value, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "nth must be a whole number") {
			t.Errorf("%v: the error is %v", value, err)
		}
	}
}
