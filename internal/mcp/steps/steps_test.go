package steps

import (
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
