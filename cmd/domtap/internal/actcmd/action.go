// Package actcmd holds the commands that act on a page: one for each action, form, dialog, downloads
// and eval. An action command makes one step of an Interact call.
package actcmd

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/deadline"
	"github.com/domtap/domtap/internal/refs"
)

// action describes the command of one action.
type action struct {
	name                 string
	short, long, example string
	// args names the arguments besides the target, as the help shows them. If the last one ends with an ellipsis, it repeats.
	args []string
	// field means that the words of a target are the label of a field instead of the text of an element.
	field bool
	// optionalTarget allows the command without a target.
	optionalTarget bool
	// focused makes the focused element the target if the arguments name none.
	focused bool
	flags   func(*pflag.FlagSet, *options)
	step    func(t *domtapv1.Target, args []string, o *options) (*domtapv1.Step, error)
}

// options holds the values of all flags except the target flags.
type options struct {
	button    string
	count     int32
	hold      time.Duration
	modifiers []string
	submit    bool
	// focused acts on the focused element, whatever TEXT looks like.
	focused bool
	repeat  int32
	by      string
	// to is the end to scroll to: start or end.
	to        string
	toAt      string
	waypoints []string
	byPath    bool
	// said is set when the target comes from the arguments and not from a flag.
	said bool
}

// Actions returns the commands of all actions.
func Actions() []cli.Command {
	var all []cli.Command
	for i := range actions {
		all = append(all, cli.Command{Name: actions[i].name, Make: actions[i].command})
	}
	return all
}

// command returns the command of an action.
func (a *action) command(app *cli.App) *cobra.Command {
	cmd := &cobra.Command{Short: a.short, Long: a.long, Example: a.example, ValidArgsFunction: app.CompleteRefs}
	var each bool
	app.EachFlag(cmd, &each)
	step := a.bind(cmd, func(argument string) (string, error) { return readText(app, argument) })
	app.TabCommand(cmd)
	cmd.RunE = app.WithClientFor(noLimit, func(ctx context.Context, c *cli.Client, args []string) error {
		one, err := step(args)
		if err != nil {
			return err
		}
		answer, err := interact(ctx, app, c, []*domtapv1.Step{one}, each)
		if err != nil {
			return err
		}
		return printOutcome(app.Printer(), answer)
	})
	return cmd
}

// noLimit sets no time limit on work that calls interact, because interact derives its own limit from the steps.
func noLimit() time.Duration { return 0 }

// interact sends the steps as one turn of the command's tab. If each is set, the response also lists the changes that the steps asked for.
func interact(ctx context.Context, app *cli.App, c *cli.Client, steps []*domtapv1.Step, each bool) (*domtapv1.InteractResponse, error) {
	ctx, cancel := cli.WithTimeout(ctx, deadline.Steps(app.Flags.Timeout, steps))
	defer cancel()
	id, err := c.TabID(ctx)
	if err != nil {
		return nil, err
	}
	return c.Actions.Interact(ctx, &domtapv1.InteractRequest{
		TabId: id, Steps: steps, ClientId: c.ID, Format: app.Printer().DiffFormat(), Brief: app.Printer().Brief(each),
	})
}

// readText returns a TEXT argument. For "-" it reads standard input and removes the last line break.
func readText(a *cli.App, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	text, err := a.ReadFile("-")
	if err != nil {
		return "", exit.Errorf(exit.Failure, "", "read the text from standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// printOutcome prints what an action did, even if one of its steps failed.
func printOutcome(p *cli.Printer, answer *domtapv1.InteractResponse) error {
	if err := p.ShowDiff(answer, render.Outcome(answer)); err != nil {
		return err
	}
	var reason string
	var errs []string
	for _, result := range answer.GetResults() {
		if !result.GetOk() {
			reason = cmp.Or(reason, result.GetReason())
			errs = append(errs, result.GetError())
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return exit.FromReason(reason, strings.Join(errs, "\n"))
}

// bind defines the flags and the arguments of an action on its command. The returned function creates the step from the arguments. text
// reads a TEXT argument.
func (a *action) bind(cmd *cobra.Command, text func(argument string) (string, error)) func(args []string) (*domtapv1.Step, error) {
	var t target
	var o options
	t.register(cmd.Flags())
	if a.flags != nil {
		a.flags(cmd.Flags(), &o)
	}
	words := append([]string{a.name, "REF"}, a.args...)
	if a.focused {
		words[1] = "[REF]"
	}
	if a.optionalTarget {
		words = append(append([]string{a.name}, a.args...), "[REF]")
	}
	cmd.Use = strings.Join(words, " ")
	cmd.Args = func(_ *cobra.Command, args []string) error { return a.checkArgs(args, &t, &o) }
	return func(args []string) (*domtapv1.Step, error) {
		target, rest, err := a.split(args, &t, &o)
		if err != nil {
			return nil, err
		}
		if len(a.args) > 0 && a.args[0] == "TEXT" {
			if rest[0], err = text(rest[0]); err != nil {
				return nil, err
			}
		}
		return a.step(target, rest, &o)
	}
}

// toFocus reports whether the arguments act on the focused element. A ref alone does not: it means that TEXT is missing.
func (a *action) toFocus(args []string, o *options) bool {
	if !a.focused || len(args) != len(a.args) {
		return false
	}
	if o.focused {
		return true
	}
	_, isRef := refs.Parse(args[0])
	return !isRef
}

// repeats reports whether the last argument may occur several times.
func (a *action) repeats() bool {
	return len(a.args) > 0 && strings.HasSuffix(a.args[len(a.args)-1], "…")
}

// others returns the arguments that an action needs besides its target. It returns none if a flag already sets the end of the drag.
func (a *action) others(o *options) []string {
	if o.by != "" || o.toAt != "" {
		return nil
	}
	return a.args
}

// targetAt returns the index of the first target word in the arguments.
func (a *action) targetAt(o *options) int {
	if a.optionalTarget {
		return len(a.others(o))
	}
	return 0
}

// targetWords returns the number of arguments that form the target. It is two if the first is a role and the second a name.
func (a *action) targetWords(args []string, o *options) int {
	others, at := len(a.others(o)), a.targetAt(o)
	switch {
	case a.toFocus(args, o) || len(args) <= at:
		return 0
	case len(args) > others+1 && slices.Contains(Roles, args[at]) && !a.repeats():
		return 2
	}
	return 1
}

// checkArgs checks the number of arguments. A target by a flag needs no REF.
func (a *action) checkArgs(args []string, t *target, o *options) error {
	var required []string
	if o.focused && t.given() {
		return exit.Errorf(exit.Usage, "use one or the other", "--focused and a target exclude each other")
	}
	if !t.given() && !o.focused && !a.optionalTarget && !a.toFocus(args, o) {
		required = []string{"REF"}
	}
	required = append(required, a.others(o)...)
	most := len(required)
	switch {
	case a.repeats():
		most = -1
	case t.onlyRole():
		most++
	case t.given():
	case a.optionalTarget:
		most += max(1, a.targetWords(args, o))
	case a.targetWords(args, o) == 2:
		most++
	}
	return cli.CheckArgs(args, required, most)
}

// split returns the target, from the flags or the arguments, and the remaining arguments.
func (a *action) split(args []string, t *target, o *options) (*domtapv1.Target, []string, error) {
	if t.given() {
		message, err := t.message()
		if at := a.targetAt(o); err == nil && t.onlyRole() && !a.repeats() && len(args) > len(a.others(o)) {
			message.Name = args[at]
			args = slices.Concat(args[:at], args[at+1:])
		}
		return message, args, err
	}
	words := a.targetWords(args, o)
	if words == 0 {
		if t.within != "" || t.nth != 0 {
			return nil, nil, exit.Errorf(exit.Usage, `for example: --role button --name Edit --within "Grace Hopper"`, "--within and --nth need a target")
		}
		return nil, args, nil
	}
	o.said = true
	at := a.targetAt(o)
	message := byArguments(args[at:at+words], a.field, t.nth != 0)
	if last := args[at+words-1]; message.Ref != nil && t.within != "" && refs.IsNumber(last) {
		message = &domtapv1.Target{Text: last} // a ref needs no --within, so the number is a text, such as a day in a calendar
	}
	message.Within, message.Nth = t.within, t.nth
	return message, slices.Concat(args[:at], args[at+words:]), nil
}
