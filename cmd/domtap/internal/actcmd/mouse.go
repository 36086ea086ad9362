package actcmd

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// mouseHelp describes the steps.
const mouseHelp = `Press a button, move the pointer and release the button, in at most 32 steps:
  down [PLACE]          press the button at a place, or at the pointer
  move PLACE…           move to each place in turn
  move [PLACE] by X,Y   move by a distance from a place, or from the pointer
  up                    release the button
  press KEY             press a key, such as Escape
A PLACE is a ref, or a point X,Y of the viewport.

If the button is still down at the end, it is released. The target flags name the place of the first
step without a place. Quote a distance that begins with a dash together with its step: "move by -20,0".`

// Mouse returns the command that presses, moves and releases the mouse in one turn.
func Mouse(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mouse STEP…", Short: "Press, move and release the mouse, and print what changed",
		Long:    mouseHelp,
		Example: "  domtap mouse down 12 move by 80,0 up\n  domtap mouse down 100,100 move 150,100 150,150 100,100 up\n  domtap mouse down move by 0,40 up --role slider\n  domtap mouse down move by 0,40 up --role slider --name Volume --hold 500ms",
	}
	var t target
	var down domtapv1.MouseDownStep
	var hold time.Duration
	var moves int32
	var each bool
	app.EachFlag(cmd, &each)
	t.register(cmd.Flags())
	cmd.Flags().StringVar(&down.Button, "button", "", "left, middle or right (default left)")
	cmd.Flags().StringArrayVar(&down.Modifiers, "modifier", nil, "hold Alt, Control, Meta or Shift until the release; may be repeated")
	cmd.Flags().DurationVar(&hold, "hold", 0, "hold the button for this long before moving, at most 10s")
	cmd.Flags().Int32Var(&moves, "moves", 0, "number of pointer moves along each line, 1 to 100 (default 8)")
	cli.MarkRare(cmd.Flags(), "hold", "modifier", "moves")
	app.TabCommand(cmd)
	cmd.Args = func(_ *cobra.Command, args []string) error {
		return cli.CheckArgs(args, []string{"STEP…"}, -1)
	}
	cmd.RunE = app.WithClientFor(noLimit, func(ctx context.Context, c *cli.Client, args []string) error {
		down.Hold = holding(hold)
		m := mouseSteps{words: strings.Fields(strings.Join(args, " ")), down: &down, moves: moves}
		var err error
		if t.given() {
			if m.at, err = t.message(); err != nil {
				return err
			}
		}
		steps, err := m.all()
		if err != nil {
			return err
		}
		answer, err := interact(ctx, app, c, steps, each)
		if err != nil {
			return err
		}
		return printOutcome(app.Printer(), answer)
	})
	return cmd
}

// parseMouse returns the steps of the command mouse. It returns none if the words have flags.
func parseMouse(words []string) ([]*domtapv1.Step, error) {
	if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--") }) {
		return nil, nil
	}
	m := mouseSteps{words: strings.Fields(strings.Join(words, " ")), down: &domtapv1.MouseDownStep{}}
	return m.all()
}

// mouseSteps parses the steps of the mouse.
type mouseSteps struct {
	words []string
	// at is the place from the flags. It is nil if there is none or a step has used it.
	at    *domtapv1.Target
	down  *domtapv1.MouseDownStep
	moves int32
}

func (m *mouseSteps) next() (word string) {
	word, m.words = m.words[0], m.words[1:]
	return word
}

// all parses all steps.
func (m *mouseSteps) all() (steps []*domtapv1.Step, err error) {
	for len(m.words) > 0 {
		var one *domtapv1.Step
		switch verb := m.next(); verb {
		case "down":
			one, err = m.press()
		case "move":
			one, err = m.move()
		case "up":
			one = &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}
		case "press":
			if len(m.words) == 0 {
				return nil, exit.Errorf(exit.Usage, "domtap mouse down 4 move 9 press Escape", "missing KEY after press")
			}
			one = &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: m.next()}}}
		default:
			return nil, exit.Errorf(exit.Usage, "domtap mouse down 12 move by 80,0 up", "a step is down, move, up or press, not %q", verb)
		}
		if err != nil {
			return nil, err
		}
		steps = append(steps, one)
	}
	return steps, nil
}

// places parses the places that follow.
func (m *mouseSteps) places() (found []*domtapv1.Target, err error) {
	for len(m.words) > 0 {
		switch m.words[0] {
		case "down", "move", "up", "press", "by":
			return found, nil
		}
		one, err := byPlace("STEP", m.next())
		if err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, nil
}

func (m *mouseSteps) press() (*domtapv1.Step, error) {
	places, err := m.places()
	if err == nil && len(places) > 1 {
		err = exit.Errorf(exit.Usage, "domtap mouse down 12 move 9 up", "down takes one place")
	}
	if err != nil {
		return nil, err
	}
	step := &domtapv1.MouseDownStep{Button: m.down.GetButton(), Modifiers: m.down.GetModifiers(), Hold: m.down.GetHold()}
	if len(places) == 1 {
		step.Target = places[0]
	} else {
		step.Target, m.at = m.at, nil
	}
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: step}}, nil
}

func (m *mouseSteps) move() (*domtapv1.Step, error) {
	step := &domtapv1.MouseMoveStep{Moves: m.moves}
	places, err := m.places()
	if err != nil {
		return nil, err
	}
	if n := len(places) - 1; n >= 0 {
		step.Target, step.Waypoints = places[n], places[:n]
	} else {
		step.Target, m.at = m.at, nil
	}
	if len(m.words) > 0 && m.words[0] == "by" {
		m.next()
		if len(m.words) == 0 {
			return nil, exit.Errorf(exit.Usage, "domtap mouse down 12 move by 80,0 up", "missing X,Y after by")
		}
		if step.DeltaX, step.DeltaY, err = pair("by", m.next()); err != nil {
			return nil, err
		}
	}
	if step.GetTarget() == nil && step.GetDeltaX() == 0 && step.GetDeltaY() == 0 {
		return nil, exit.Errorf(exit.Usage, "domtap mouse down 12 move by 80,0 up", "move needs a place or a distance")
	}
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: step}}, nil
}
