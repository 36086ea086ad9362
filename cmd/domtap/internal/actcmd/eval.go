package actcmd

import (
	"context"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Eval returns the command eval.
func Eval(a *cli.App) *cobra.Command {
	var ref uint32
	var frame string
	cmd := a.TabCommand(&cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Evaluate JavaScript in a page, if the daemon allows it",
		Long: `Evaluate an expression in the page's main world and print the result as JSON. A function is called with
the element of --ref as its argument. A promise is awaited. Put statements into a function. EXPRESSION -
reads standard input. The daemon must run with domtap serve --allow-eval.`,
		Example: "  domtap eval document.title\n  domtap eval --ref 12 'el => el.outerHTML'",
		Args:    cli.Args("EXPRESSION"),
	})
	f := cmd.Flags()
	cli.RefFlag(f, &ref, "ref", "pass the element with this ref to the function")
	f.StringVar(&frame, "frame", "", "evaluate in this frame")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request := &domtapv1.EvaluateRequest{Expression: args[0], FrameId: frame}
		if args[0] == "-" {
			text, err := a.ReadFile("-")
			if err != nil {
				return err
			}
			request.Expression = string(text)
		}
		if f.Changed("ref") {
			request.Ref = proto.Uint32(ref)
		}
		var err error
		if request.TabId, err = c.TabID(ctx); err != nil {
			return err
		}
		answer, err := c.Pages.Evaluate(ctx, request)
		if err != nil {
			return err
		}
		if p := a.Printer(); p.JSON || answer.GetException() == "" {
			return p.Show(answer, func() string { return render.Result(answer.GetResultJson()) })
		}
		return exit.Errorf(exit.Failure, "", "the script threw: %s", answer.GetException())
	})
	return cmd
}
