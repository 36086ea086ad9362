package steps

import (
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestEveryStepBecomesItsActions converts every kind of step, with all fields set, and checks the actions.
func TestEveryStepBecomesItsActions(t *testing.T) {
	at := &domtapv1.Target{Ref: proto.Uint32(7)}
	second := durationpb.New(time.Second)
	point := &domtapv1.Target{X: proto.Float64(3), Y: proto.Float64(4)}
	for _, c := range []struct {
		step *domtapv1.Step
		want []driver.Action
	}{
		{&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at, Button: "right", Modifiers: []string{"Alt"}}}},
			[]driver.Action{{Kind: driver.Click, Location: driver.At(7), Button: "right", Modifiers: []string{"Alt"}, Clicks: 1}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: at, Count: 3, Hold: second}}}, []driver.Action{{Kind: driver.Click, Location: driver.At(7), Clicks: 3, Hold: time.Second}}},
		{&domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: point}}},
			[]driver.Action{{Kind: driver.Click, Location: driver.AtPoint(driver.Point{X: 3, Y: 4}), Clicks: 2}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: at}}}, []driver.Action{{Kind: driver.Hover, Location: driver.At(7)}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: at, Text: "x", Submit: true}}},
			[]driver.Action{{Kind: driver.Type, Location: driver.At(7), Text: "x"}, {Kind: driver.Press, Location: driver.At(7), Text: "Enter"}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: at, Text: "x"}}}, []driver.Action{{Kind: driver.Fill, Location: driver.At(7), Text: "x"}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "F5", Repeat: 3}}},
			[]driver.Action{{Kind: driver.Press, Location: driver.At(dom.NoRef), Text: "F5", Repeat: 3}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: at, Values: []string{"a", "b"}}}},
			[]driver.Action{{Kind: driver.Select, Location: driver.At(7), Values: []string{"a", "b"}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: at}}}, []driver.Action{{Kind: driver.Check, Location: driver.At(7)}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: at}}}, []driver.Action{{Kind: driver.Uncheck, Location: driver.At(7)}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaX: 1, DeltaY: 2}}},
			[]driver.Action{{Kind: driver.Scroll, Location: driver.At(dom.NoRef), Delta: driver.Point{X: 1, Y: 2}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: at, To: point, Hold: second}}},
			[]driver.Action{{Kind: driver.Drag, Hold: time.Second, Location: driver.At(7), To: new(driver.AtPoint(driver.Point{X: 3, Y: 4}))}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Target: at, DeltaX: 5, Waypoints: []*domtapv1.Target{at, point}}}},
			[]driver.Action{{Kind: driver.Drag, Location: driver.At(7), Delta: driver.Point{X: 5}, Waypoints: []driver.Location{driver.At(7), driver.AtPoint(driver.Point{X: 3, Y: 4})}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: at, Paths: []string{"/a"}, Files: []*domtapv1.UploadFile{{Name: "n", Content: []byte("c")}}}}},
			[]driver.Action{{Kind: driver.Upload, Location: driver.At(7), Paths: []string{"/a"}, Files: []driver.File{{Name: "n", Content: []byte("c")}}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: at, Button: "right", Modifiers: []string{"Alt"}, Hold: second}}},
			[]driver.Action{{Kind: driver.MouseDown, Location: driver.At(7), Button: "right", Modifiers: []string{"Alt"}, Hold: time.Second}}},
		{&domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{DeltaX: 5, DeltaY: 6, Moves: 3, Waypoints: []*domtapv1.Target{at, point}}}},
			[]driver.Action{{Kind: driver.MouseMove, Location: driver.At(dom.NoRef), Delta: driver.Point{X: 5, Y: 6}, Moves: 3, Waypoints: []driver.Location{driver.At(7), driver.AtPoint(driver.Point{X: 3, Y: 4})}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}, []driver.Action{{Kind: driver.MouseUp, Location: driver.At(dom.NoRef)}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: "F5", Hold: second}}}, []driver.Action{{Kind: driver.Press, Location: driver.At(dom.NoRef), Text: "F5", Hold: time.Second}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: 2, Modifiers: []string{"Control"}}}},
			[]driver.Action{{Kind: driver.Scroll, Location: driver.At(dom.NoRef), Delta: driver.Point{Y: 2}, Modifiers: []string{"Control"}}}},
		{&domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}, nil},
	} {
		if got := Actions(c.step); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v:\ngot  %+v\nwant %+v", c.step, got, c.want)
		}
	}
}
