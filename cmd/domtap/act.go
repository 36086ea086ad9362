package main

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func clickCommand(a *app) *cobra.Command {
	cmd := a.tabCommand(&cobra.Command{
		Use:   "click REF",
		Short: "Click an element, and print what that changed",
		Long: `Click the element with this ref, wait until the page has come to rest, and print what
changed. A ref is never given to another element: when the element is gone, the click is
refused (exit code 4) and hits nothing else.`,
		Example:           "  domtap compact | grep Pay\n  domtap click 12",
		Args:              exactly("the ref of an element"),
		ValidArgsFunction: a.completeRefs,
	})
	cmd.RunE = a.acting(func(_ context.Context, target *domtapv1.Target, _ []string) (*domtapv1.Step, error) {
		return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: target}}}, nil
	})
	return cmd
}

func typeCommand(a *app) *cobra.Command {
	var submit bool
	cmd := a.tabCommand(&cobra.Command{
		Use:   "type REF TEXT",
		Short: "Type into an element, and print what that changed",
		Long: `Focus the element with this ref, type TEXT after what is there, and print what changed.

TEXT - reads the text from standard input, so that a password does not appear in the list of
processes. A TEXT that begins with a dash goes after two dashes: domtap type 7 -- -5`,
		Example:           "  domtap type 7 \"a@b.example\" --submit\n  pass show shop | domtap type 8 -",
		Args:              exactly("the ref of an element", "a text"),
		ValidArgsFunction: a.completeRefs,
	})
	cmd.Flags().BoolVar(&submit, "submit", false, "press Enter afterwards")
	cmd.RunE = a.acting(func(_ context.Context, target *domtapv1.Target, rest []string) (*domtapv1.Step, error) {
		text, err := a.typedText(rest[0])
		return &domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: target, Text: text, Submit: submit}}}, err
	})
	return cmd
}

// typedText is the argument, or standard input without its last line break.
func (a *app) typedText(argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	text, err := io.ReadAll(a.in)
	if err != nil {
		return "", exit.Errorf(exit.Failure, "", "read the text from standard input: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// makeStep makes the step for an element from the arguments after its ref.
type makeStep func(ctx context.Context, target *domtapv1.Target, rest []string) (*domtapv1.Step, error)

// acting wraps a command that does one step to the element named by its first argument.
func (a *app) acting(step makeStep) func(*cobra.Command, []string) error {
	return a.calling(func(ctx context.Context, c *client, args []string) error {
		ref, err := parseRef(args[0])
		if err != nil {
			return err
		}
		one, err := step(ctx, &domtapv1.Target{Ref: proto.Uint32(ref)}, args[1:])
		if err != nil {
			return err
		}
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		answer, err := c.actions.Interact(ctx, &domtapv1.InteractRequest{TabId: id, Steps: []*domtapv1.Step{one}})
		if err != nil {
			return err
		}
		return a.printer().outcome(answer)
	})
}

// parseRef reads a ref as the compact text prints it, with or without its brackets.
func parseRef(text string) (uint32, error) {
	bare := strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	ref, err := strconv.ParseUint(bare, 10, 32)
	if err != nil {
		return 0, exit.Errorf(exit.Usage, "domtap compact prints the ref of every element in brackets", "%q is no ref", text)
	}
	return uint32(ref), nil
}

// outcome prints what an action did, also when one of its steps failed.
func (p *printer) outcome(answer *domtapv1.InteractResponse) error {
	var err error
	if p.json {
		err = p.message(answer)
	} else {
		err = p.diff(render.Outcome(answer))
	}
	if err != nil {
		return err
	}
	for _, result := range answer.GetResults() {
		if !result.GetOk() {
			return exit.OfReason(result.GetReason(), result.GetError())
		}
	}
	return nil
}
