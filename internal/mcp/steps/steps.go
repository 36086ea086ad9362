// Package steps converts the steps of an action, as models write them, to steps of the gRPC API. It is lenient if an argument has only one
// possible meaning. Its errors describe to the model what is missing. It makes no calls.
package steps

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
)

// MaxTokens is the range of max_tokens.
var MaxTokens = args.Range{Low: 200, High: 50000, Zero: true}

// maxTimeout is the maximum timeout of a wait that the daemon accepts.
const maxTimeout = 5 * time.Minute

// Arguments holds the arguments of one step. The action determines which of them apply.
type Arguments struct {
	Action      string                `json:"action"`
	Ref         args.Ref              `json:"ref"`
	Role        string                `json:"role"`
	Name        args.Text             `json:"name"`
	Text        args.Text             `json:"text"`
	Label       args.Text             `json:"label"`
	Placeholder args.Text             `json:"placeholder"`
	TestID      string                `json:"test_id"`
	Selector    string                `json:"selector"`
	Within      args.Text             `json:"within"`
	Nth         args.Number           `json:"nth"`
	X           args.Number           `json:"x"`
	Y           args.Number           `json:"y"`
	Value       args.Words            `json:"value"`
	Values      args.Words            `json:"values"`
	Key         args.Words            `json:"key"`
	Waypoints   args.List[args.Place] `json:"waypoints"`
	Submit      args.Bool             `json:"submit"`
	Gone        args.Bool             `json:"gone"`
	URL         string                `json:"url"`
	NetworkIdle args.Bool             `json:"network_idle"`
	Timeout     args.Seconds          `json:"timeout"`
	Button      string                `json:"button"`
	Modifiers   args.List[string]     `json:"modifiers"`
	MaxTokens   args.Number           `json:"max_tokens"`
	FullPage    args.Bool             `json:"full_page"`
	Marks       args.Bool             `json:"marks"`
}

// target returns the target of the step, or nil if it names none.
func (s *Arguments) target() *domtapv1.Target {
	t := &domtapv1.Target{
		Ref: s.Ref.Pointer(), Role: s.Role, Name: string(s.Name), Text: string(s.Text), Label: string(s.Label), Placeholder: string(s.Placeholder),
		TestId: s.TestID, Selector: s.Selector, Within: string(s.Within), Nth: int32(s.Nth.Value),
	}
	if s.X.Set || s.Y.Set {
		t.X, t.Y = proto.Float64(s.X.Value), proto.Float64(s.Y.Value)
	}
	if proto.Equal(t, &domtapv1.Target{}) {
		return nil
	}
	return t
}

// valuesOrValue returns Values, or Value if Values is unset.
func (s *Arguments) valuesOrValue() []string {
	if s.Values != nil {
		return s.Values
	}
	return s.Value
}

// stepMakers maps actions to functions that convert arguments to steps.
var stepMakers = map[string]func(s *Arguments, c *args.Clamps) (*domtapv1.Step, error){
	"click": (*Arguments).click,
	"double_click": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: s.target()}}}, nil
	},
	"hover": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: s.target()}}}, nil
	},
	"type": (*Arguments).typing,
	"fill": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: s.target(), Text: s.Value.First()}}}, nil
	},
	"press": (*Arguments).press,
	"select": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Select{Select: &domtapv1.SelectStep{Target: s.target(), Values: s.valuesOrValue()}}}, nil
	},
	"check": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Check{Check: &domtapv1.CheckStep{Target: s.target()}}}, nil
	},
	"uncheck": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Uncheck{Uncheck: &domtapv1.UncheckStep{Target: s.target()}}}, nil
	},
	"scroll":     (*Arguments).scroll,
	"drag":       (*Arguments).drag,
	"mouse_down": (*Arguments).mouseDown,
	"mouse_move": (*Arguments).mouseMove,
	"mouse_up": func(*Arguments, *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}, nil
	},
	"upload": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Upload{Upload: &domtapv1.UploadStep{Target: s.target(), Paths: s.valuesOrValue()}}}, nil
	},
	"wait": (*Arguments).wait,
	"read": func(s *Arguments, c *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Read{Read: &domtapv1.ReadStep{
			MaxTokens: c.Int32("max_tokens", s.MaxTokens, MaxTokens), Format: domtapv1.Format_FORMAT_DENSE}}}, nil
	},
	"screenshot": func(s *Arguments, _ *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Screenshot{Screenshot: &domtapv1.ScreenshotStep{FullPage: s.FullPage.Value, Marks: s.Marks.Value}}}, nil
	},
	"back": func(*Arguments, *args.Clamps) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Back{Back: &domtapv1.BackStep{}}}, nil
	},
}

// Actions returns the sorted names of the actions.
func Actions() []string { return args.Names(stepMakers) }

// Step converts the arguments to a step. It clamps numbers that are out of range and records that in c. The error is written for the model.
func (s *Arguments) Step(c *args.Clamps) (*domtapv1.Step, error) {
	if s.Action == "" {
		return nil, fmt.Errorf("action is required: one of %s", strings.Join(Actions(), ", "))
	}
	maker, err := args.Pick("action", s.Action, stepMakers)
	if err != nil {
		return nil, err
	}
	if n := s.Nth.Value; n != float64(int32(n)) { // rounding would select another element
		return nil, fmt.Errorf("nth must be a whole number, 1 for the first element from the top, -1 for the last, not %v", n)
	}
	s.settle()
	return maker(s, c)
}

// settle moves arguments with only one possible meaning to their proper place: the key of press, and the text to type or fill if there is
// another target.
func (s *Arguments) settle() {
	if s.Value != nil {
		return
	}
	switch strings.ToLower(s.Action) {
	case "press":
		s.Value = s.Key
	case "type":
		if s.Text != "" { // type needs a value, and without a target it types into the focused element
			s.Value, s.Text = args.Words{string(s.Text)}, ""
		}
	case "fill":
		if other := s.Ref.Set || s.Role+string(s.Label+s.Placeholder)+s.TestID+s.Selector != ""; other && s.Text != "" {
			s.Value, s.Text = args.Words{string(s.Text)}, ""
		}
	}
}

// typing types the value into the target, or into the focused element if there is no target.
func (s *Arguments) typing(*args.Clamps) (*domtapv1.Step, error) {
	return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: s.target(), Text: s.Value.First(), Submit: s.Submit.Value}}}, nil
}

// held splits a key into its name and the duration of the hold, such as "ArrowRight hold 500ms".
func held(key string) (string, *durationpb.Duration, error) {
	name, long, found := strings.Cut(key, " hold")
	if !found {
		return key, nil, nil
	}
	if strings.TrimSpace(long) == "" {
		return name, durationpb.New(time.Second), nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(long))
	if err != nil || d <= 0 || d > maxHold*time.Second {
		return "", nil, fmt.Errorf("value must be a key, optionally with a hold time of at most 10s, such as ArrowRight hold 500ms; not %q", key)
	}
	return name, durationpb.New(d), nil
}

// press presses a key. If there is a text but no value, it types the text.
func (s *Arguments) press(c *args.Clamps) (*domtapv1.Step, error) {
	if s.Value == nil && s.Text != "" {
		s.Value, s.Text = args.Words{string(s.Text)}, ""
		return s.typing(c)
	}
	key, hold, err := held(s.Value.First())
	if err != nil {
		return nil, err
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Target: s.target(), Key: key, Hold: hold}}}, nil
}

// maxHold is the maximum hold that the daemon accepts, in seconds.
const maxHold = 10

// click clicks the target. The words of the value are options: a button, modifiers, double or triple, and the duration of a hold.
func (s *Arguments) click(*args.Clamps) (*domtapv1.Step, error) {
	step, err := s.clickOptions()
	if err != nil {
		return nil, err
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: step}}, nil
}

// clickOptions returns a click on the target with the options in the value.
func (s *Arguments) clickOptions() (*domtapv1.ClickStep, error) {
	step := &domtapv1.ClickStep{Target: s.target(), Button: s.Button, Modifiers: s.Modifiers}
	for _, word := range strings.FieldsFunc(strings.Join(s.Value, " "), func(r rune) bool { return r == ' ' || r == '+' || r == ',' }) {
		if err := clickHow(step, strings.ToLower(word)); err != nil {
			return nil, err
		}
	}
	return step, nil
}

// mouseDown presses a button on the target, with the options of a click, and keeps it pressed.
func (s *Arguments) mouseDown(*args.Clamps) (*domtapv1.Step, error) {
	how, err := s.clickOptions()
	if err == nil && how.GetCount() > 1 {
		err = fmt.Errorf("mouse_down presses once: double_click clicks twice")
	}
	if err != nil {
		return nil, err
	}
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{
		Target: how.GetTarget(), Button: how.GetButton(), Modifiers: how.GetModifiers(), Hold: how.GetHold()}}}, nil
}

// mouseMove moves the pointer to the target, and further by the distance in the value.
func (s *Arguments) mouseMove(*args.Clamps) (*domtapv1.Step, error) {
	step := &domtapv1.MouseMoveStep{Target: s.target(), Waypoints: places(s.Waypoints)}
	if by := s.Value.First(); by != "" {
		var distance args.Place
		if err := distance.UnmarshalJSON([]byte(by)); err != nil || distance.Ref.Set {
			return nil, fmt.Errorf("value must be how far to move on, \"x,y\", not %q", by)
		}
		step.DeltaX, step.DeltaY = distance.X, distance.Y
	}
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: step}}, nil
}

// modifiers maps names of modifier keys, including those that models write, to the names in the API.
var modifiers = map[string]string{"alt": "Alt", "control": "Control", "ctrl": "Control", "meta": "Meta", "cmd": "Meta", "command": "Meta", "shift": "Shift"}

// counts maps words to numbers of clicks.
var counts = map[string]int32{"single": 1, "double": 2, "triple": 3}

// clickHow applies one word to a click.
func clickHow(step *domtapv1.ClickStep, word string) error {
	switch {
	case word == "left" || word == "middle" || word == "right":
		step.Button = word
		return nil
	case modifiers[word] != "":
		step.Modifiers = append(step.Modifiers, modifiers[word])
		return nil
	case counts[word] > 0:
		step.Count = counts[word]
		return nil
	case word == "hold":
		if step.Hold == nil {
			step.Hold = durationpb.New(time.Second)
		}
		return nil
	}
	if held, err := time.ParseDuration(word); err == nil && 0 < held && held <= maxHold*time.Second {
		step.Hold = durationpb.New(held)
		return nil
	}
	return fmt.Errorf("value must say how to click: right, middle, Control, Shift, Alt, Meta, triple, or how long to hold, such as 1s; not %q", word)
}

// scroll scrolls the target into view, or scrolls by a distance.
func (s *Arguments) scroll(c *args.Clamps) (*domtapv1.Step, error) {
	step := &domtapv1.ScrollStep{Target: s.target(), Modifiers: s.Modifiers}
	const farthest = 100_000
	switch word := s.Value.First(); word {
	case "":
	case "end":
		step.DeltaY = farthest
	case "start":
		step.DeltaY = -farthest
	default:
		distance, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, fmt.Errorf("value must be how many pixels to scroll down, start, end, or absent to scroll the target into view; not %q", word)
		}
		step.DeltaY = c.Float("value", args.Number{Set: true, Value: distance}, args.Range{Low: -farthest, High: farthest})
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: step}}, nil
}

// drag drops the target on the element or the point in the value.
func (s *Arguments) drag(*args.Clamps) (*domtapv1.Step, error) {
	var to args.Place
	if err := to.UnmarshalJSON([]byte(s.Value.First())); err != nil {
		return nil, fmt.Errorf("value must be the ref or the point \"x,y\" to drop on, not %q", s.Value.First())
	}
	step := &domtapv1.DragStep{Target: s.target(), To: place(to), Waypoints: places(s.Waypoints)}
	return &domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: step}}, nil
}

func places(all []args.Place) (out []*domtapv1.Target) {
	for _, one := range all {
		out = append(out, place(one))
	}
	return out
}

func place(p args.Place) *domtapv1.Target {
	if p.Ref.Set {
		return &domtapv1.Target{Ref: p.Ref.Pointer()}
	}
	return &domtapv1.Target{X: proto.Float64(p.X), Y: proto.Float64(p.Y)}
}

// wait waits for a target, a URL or an idle network.
func (s *Arguments) wait(c *args.Clamps) (*domtapv1.Step, error) {
	step := &domtapv1.WaitStep{Target: s.target(), Gone: s.Gone.Value, Timeout: c.Timeout(s.Timeout, maxTimeout)}
	if s.URL != "" || s.NetworkIdle.Value {
		step.Until = &domtapv1.WaitCondition{Url: s.URL}
		if s.NetworkIdle.Value {
			step.Until.NetworkIdle = durationpb.New(0)
		}
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: step}}, nil
}
