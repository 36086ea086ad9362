package readcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const waitHelp = `Wait until all conditions of the flags hold at the same time, then print what met them and what changed.

The command returns as soon as the conditions hold, immediately if they already do. If --timeout ends first,
the exit code is 5 and the error describes what the page showed instead.

--role, --name, --text, --ref and --selector describe one element. --gone waits until no such element exists.
Texts match in part and regardless of case, unless --exact is given. --text alone matches a text anywhere on the
page. --url is a part of the URL or, with a *, a pattern for the whole URL. CONDITION is a flag without its
dashes: text, gone, url, role or selector.`

// Wait returns the command wait.
func Wait(a *cli.App) *cobra.Command {
	var w waitFlags
	var each bool
	cmd := a.TabCommand(&cobra.Command{
		Use:   "wait [CONDITION TEXT] [TAB]",
		Short: "Wait until a page meets a condition",
		Long:  waitHelp,
		Example: `  domtap wait text "Order placed"
  domtap wait --role progressbar --gone --timeout 1m
  domtap wait --url '*/done' --network-idle
  domtap wait t2 --selector '#total.final' --quiet 500ms`,
		Args:              cobra.MaximumNArgs(3),
		ValidArgsFunction: a.CompleteTabs,
	})
	w.register(cmd.Flags())
	a.EachFlag(cmd, &each)
	cmd.RunE = a.WithNavigation(func(ctx context.Context, c *cli.Client, args []string) error {
		args, err := expandCondition(cmd.Flags(), args)
		if err == nil {
			err = cli.CheckArgs(args, nil, 1)
		}
		if err != nil {
			return exit.Errorf(exit.Usage, `for example: domtap wait text "Done"`, "%w", err)
		}
		until, err := w.condition(cmd.Flags())
		if err != nil {
			return err
		}
		if len(args) == 1 {
			c.Tab = args[0]
		}
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		done := a.Waiting("waiting for " + w.words(cmd.Flags()))
		answer, err := c.DOM.WaitFor(ctx, &domtapv1.WaitForRequest{
			TabId: id, Until: until, Timeout: a.Flags.NavigationTimeout(), ClientId: c.ID, Format: a.Printer().DiffFormat(),
			Brief: a.Printer().Brief(each),
		})
		done()
		if err != nil {
			return err
		}
		return a.Printer().ShowDiff(answer, render.Waited(answer))
	})
	return cmd
}

// ParseWait returns the step of a wait from the arguments of its command. The words must have passed cli.App.Check. It returns nil without
// an error for a wait on a tab, or with a flag that no step has. Such a line runs as a command of its own.
func ParseWait(words []string) (*domtapv1.Step, error) {
	var w waitFlags
	cmd := &cobra.Command{}
	w.register(cmd.Flags())
	var timeout time.Duration
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "")
	args, common, err := cli.ParseAlone(cmd, words)
	if err != nil {
		return nil, nil // a flag that only the command has, such as --each
	}
	args, err = expandCondition(cmd.Flags(), args)
	if err != nil {
		return nil, err
	}
	until, err := w.condition(cmd.Flags())
	if err != nil || len(args) > 0 || common {
		return nil, err
	}
	step := &domtapv1.WaitStep{Until: until}
	if timeout > 0 {
		step.Timeout = durationpb.New(timeout)
	}
	return &domtapv1.Step{Action: &domtapv1.Step_Wait{Wait: step}}, nil
}

// waitFlags holds the conditions to wait for.
type waitFlags struct {
	role, name, text, selector, within, url string
	ref                                     uint32
	exact, gone, visible, enabled           bool
	networkIdle, quiet                      time.Duration
	change                                  bool
}

func (w *waitFlags) register(f *pflag.FlagSet) {
	f.StringVar(&w.role, "role", "", "an element with this ARIA role, such as button")
	f.StringVar(&w.name, "name", "", "an element with this accessible name")
	f.StringVar(&w.text, "text", "", "an element with this text, value or placeholder")
	cli.RefFlag(f, &w.ref, "ref", "the element with this ref")
	f.StringVar(&w.selector, "selector", "", "an element that this CSS selector matches")
	f.StringVar(&w.within, "within", "", "only an element inside this: a text of its row, item, group or dialog, a role, or a ref")
	f.BoolVar(&w.exact, "exact", false, "match the whole name and text, with case")
	f.BoolVar(&w.gone, "gone", false, "no such element exists")
	f.BoolVar(&w.visible, "visible", false, "the element is visible; a selector alone also matches hidden elements")
	f.BoolVar(&w.enabled, "enabled", false, "the element is visible and not disabled")
	f.StringVar(&w.url, "url", "", "the page has this URL")
	f.DurationVar(&w.networkIdle, "network-idle", 0, "no request was in flight for this long (without a value: 500ms)")
	f.Lookup("network-idle").NoOptDefVal = "500ms"
	f.DurationVar(&w.quiet, "quiet", 0, "the page did not change for this long")
	f.BoolVar(&w.change, "change", false, "anything changed since the command started")
	cli.MarkRare(f, "change", "enabled", "exact", "visible", "within")
}

// condition returns the condition that the given flags describe.
func (w *waitFlags) condition(f *pflag.FlagSet) (*domtapv1.WaitCondition, error) {
	until := &domtapv1.WaitCondition{Url: w.url, Change: w.change}
	e := &domtapv1.ElementCondition{Role: w.role, Name: w.name, Text: w.text, Selector: w.selector, Exact: w.exact, Within: w.within}
	if f.Changed("ref") {
		e.Ref = proto.Uint32(w.ref)
	}
	described := e.Role != "" || e.Name != "" || e.Text != "" || e.Selector != "" || e.Ref != nil
	states := 0
	for _, s := range []struct {
		is    bool
		state domtapv1.ElementState
	}{
		{w.gone, domtapv1.ElementState_ELEMENT_STATE_GONE},
		{w.visible, domtapv1.ElementState_ELEMENT_STATE_VISIBLE},
		{w.enabled, domtapv1.ElementState_ELEMENT_STATE_ENABLED},
	} {
		if s.is {
			e.State = s.state
			states++
		}
	}
	if states > 1 || (states > 0 || w.exact || w.within != "") && !described {
		return nil, exit.Errorf(exit.Usage, "for example: domtap wait --role progressbar --gone",
			"use one of --gone, --visible and --enabled, together with --role, --name, --text, --ref or --selector")
	}
	if described {
		until.Element = e
	}
	if f.Changed("network-idle") {
		until.NetworkIdle = durationpb.New(w.networkIdle)
	}
	if f.Changed("quiet") {
		until.Quiet = durationpb.New(w.quiet)
	}
	if proto.Equal(until, &domtapv1.WaitCondition{}) {
		return nil, exit.Errorf(exit.Usage, `for example: domtap wait --text "Done"`, "nothing to wait for")
	}
	return until, nil
}

// conditionWords maps the conditions that need no dashes, as in wait text "Order placed", to their flags.
var conditionWords = map[string][]string{"text": {"text"}, "gone": {"gone", "text"}, "url": {"url"}, "role": {"role"}, "selector": {"selector"}}

// expandCondition sets the flags that the first arguments stand for, and returns the other arguments.
func expandCondition(f *pflag.FlagSet, args []string) ([]string, error) {
	if len(args) < 2 || conditionWords[args[0]] == nil {
		return args, nil
	}
	for _, name := range conditionWords[args[0]] {
		value := args[1]
		if f.Lookup(name).Value.Type() == "bool" {
			value = "true"
		}
		if err := f.Set(name, value); err != nil {
			return nil, err
		}
	}
	return args[2:], nil
}

// words describes the conditions as they were given: text "Done", and url */done.
func (w *waitFlags) words(given *pflag.FlagSet) string {
	own := pflag.NewFlagSet("words", pflag.ContinueOnError)
	new(waitFlags).register(own)
	var words []string
	own.VisitAll(func(f *pflag.Flag) {
		switch value := given.Lookup(f.Name).Value; {
		case !given.Changed(f.Name):
		case value.Type() == "string":
			words = append(words, fmt.Sprintf("%s %q", f.Name, value))
		case value.Type() == "bool":
			words = append(words, f.Name)
		default:
			words = append(words, f.Name+" "+value.String())
		}
	})
	return strings.Join(words, ", ")
}

// parseUntil parses the conditions of --until: KEY=VALUE with the flag names of wait, or the name alone if the flag needs no value. A
// prefix gone:, visible: or enabled: selects the state of an element.
func parseUntil(conditions []string) (*domtapv1.WaitCondition, error) {
	f := pflag.NewFlagSet("until", pflag.ContinueOnError)
	var w waitFlags
	w.register(f)
	for _, condition := range conditions {
		key, value, valued := strings.Cut(condition, "=")
		if state, rest, stated := strings.Cut(key, ":"); stated {
			if state != "gone" && state != "visible" && state != "enabled" {
				return nil, badUntil(condition, fmt.Errorf("%q is not gone, visible or enabled", state))
			}
			key = rest
			_ = f.Set(state, "true") // the flag exists, and true is valid
		}
		flag := f.Lookup(key)
		if flag == nil {
			return nil, badUntil(condition, fmt.Errorf("unknown condition %q", key))
		}
		if !valued {
			if value = flag.NoOptDefVal; value == "" {
				return nil, badUntil(condition, fmt.Errorf("%s needs a value", key))
			}
		}
		if err := f.Set(key, value); err != nil {
			return nil, badUntil(condition, err)
		}
	}
	return w.condition(f)
}

func badUntil(condition string, err error) error {
	return exit.Errorf(exit.Usage, "use a flag of domtap wait, such as text=Done, gone:role=progressbar, url=*/done or network-idle", "invalid --until %q: %w", condition, err)
}
