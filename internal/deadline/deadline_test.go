package deadline

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestStepsThatWaitOrHoldTakeLonger(t *testing.T) {
	held := durationpb.New(4 * time.Second)
	click := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Hold: held}}}
	press := &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Hold: held}}}
	down := &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Hold: held}}}
	drag := &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: &domtapv1.DragStep{Hold: held}}}
	short := &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{}}}
	long := &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: &domtapv1.WaitStep{Timeout: durationpb.New(time.Minute)}}}
	plain := &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{}}}
	for _, c := range []struct {
		call, want time.Duration
		steps      []*domtapv1.Step
	}{
		{30 * time.Second, 30 * time.Second, nil},
		{30 * time.Second, 30 * time.Second, []*domtapv1.Step{plain}},
		{30 * time.Second, 34 * time.Second, []*domtapv1.Step{click}},
		{30 * time.Second, 34 * time.Second, []*domtapv1.Step{press}},
		{30 * time.Second, 34 * time.Second, []*domtapv1.Step{down}},
		{30 * time.Second, 34 * time.Second, []*domtapv1.Step{drag}},
		{30 * time.Second, 40 * time.Second, []*domtapv1.Step{short}},
		{30 * time.Second, 90 * time.Second, []*domtapv1.Step{long}},
		{5 * time.Second, 23 * time.Second, []*domtapv1.Step{press, down, short}},
		{0, 0, []*domtapv1.Step{press, long}},
	} {
		if got := Steps(c.call, c.steps); got != c.want {
			t.Errorf("%v for %v: got %v, want %v", c.call, c.steps, got, c.want)
		}
	}
}
