package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func waitCommand(a *app) *cobra.Command {
	var w waitFlags
	cmd := a.tabCommand(&cobra.Command{
		Use:   "wait [TAB]",
		Short: "Wait until a page shows what is waited for",
		Long: `Wait until everything that the flags say holds at once, then print what made it hold and what
changed meanwhile. It returns on the event, and at once when all holds already. When --timeout
ends before (exit code 5), the error says what the page showed instead.

--role, --name, --text, --ref and --selector describe one element; --gone waits until there is none.
Texts are compared without regard to case, and a part is enough, unless --exact is given. --text alone
finds a text anywhere on the page. --url is a part of the URL or, with a * in it, the whole.`,
		Example: `  domtap wait --text "Order placed"
  domtap wait --role progressbar --gone --timeout 1m
  domtap wait --url '*/done' --network-idle
  domtap wait t2 --selector '#total.final' --quiet 500ms`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeTabs,
	})
	w.register(cmd.Flags())
	cmd.RunE = a.navigating(func(ctx context.Context, c *client, args []string) error {
		until, err := w.condition(cmd.Flags())
		if err != nil {
			return err
		}
		if len(args) == 1 {
			c.tab = args[0]
		}
		return a.waitFor(ctx, c, until)
	})
	return cmd
}

// waitFor waits and prints what came.
func (a *app) waitFor(ctx context.Context, c *client, until *domtapv1.WaitCondition) error {
	id, err := c.tabID(ctx)
	if err != nil {
		return err
	}
	answer, err := c.dom.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: id, Until: until, Timeout: a.navigationTimeout()})
	if err != nil {
		return err
	}
	p := a.printer()
	if p.json {
		return p.message(answer)
	}
	return p.diff(render.Waited(answer))
}

// waitFlags say what to wait for.
type waitFlags struct {
	role, name, text, selector, url string
	ref                             uint32
	exact, gone, visible, enabled   bool
	networkIdle, quiet              time.Duration
	change                          bool
}

func (w *waitFlags) register(f *pflag.FlagSet) {
	f.StringVar(&w.role, "role", "", "an element with this ARIA role, such as button")
	f.StringVar(&w.name, "name", "", "an element with this accessible name")
	f.StringVar(&w.text, "text", "", "an element with this text, value or placeholder")
	f.Uint32Var(&w.ref, "ref", 0, "the element with this ref")
	f.StringVar(&w.selector, "selector", "", "an element that this CSS selector matches")
	f.BoolVar(&w.exact, "exact", false, "name and text are to be the whole text, in its own case")
	f.BoolVar(&w.gone, "gone", false, "no such element is there")
	f.BoolVar(&w.visible, "visible", false, "the element is shown; a selector alone matches hidden ones too")
	f.BoolVar(&w.enabled, "enabled", false, "the element is shown and not disabled")
	f.StringVar(&w.url, "url", "", "the page has this URL")
	f.DurationVar(&w.networkIdle, "network-idle", 0, "no request was under way for so long (alone: 500ms)")
	f.Lookup("network-idle").NoOptDefVal = "500ms"
	f.DurationVar(&w.quiet, "quiet", 0, "the page did not change for so long")
	f.BoolVar(&w.change, "change", false, "anything changed since the command began")
}

// condition makes the condition; what nobody set is left out.
func (w *waitFlags) condition(f *pflag.FlagSet) (*domtapv1.WaitCondition, error) {
	until := &domtapv1.WaitCondition{Url: w.url, Change: w.change}
	e := &domtapv1.ElementCondition{Role: w.role, Name: w.name, Text: w.text, Selector: w.selector, Exact: w.exact}
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
	if states > 1 || (states > 0 || w.exact) && !described {
		return nil, exit.Errorf(exit.Usage, "for example: domtap wait --role progressbar --gone",
			"--gone, --visible or --enabled goes with an element: --role, --name, --text, --ref or --selector; only one of the three does")
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

// parseUntil reads the conditions of --until: KEY=VALUE with the names of the flags of wait, or the name alone where
// a flag of wait needs no value; gone: and so on before it says the state of an element.
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
			_ = f.Set(state, "true") // the flag exists and takes it
		}
		flag := f.Lookup(key)
		if flag == nil {
			return nil, badUntil(condition, fmt.Errorf("there is no %q", key))
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
	return exit.Errorf(exit.Usage, "it is like a flag of domtap wait: text=Done, gone:role=progressbar, url=*/done, network-idle", "--until %q: %w", condition, err)
}
