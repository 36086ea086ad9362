package readcmd

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Request returns the command request.
func Request(a *cli.App) *cobra.Command {
	var body bool
	var save string
	var most int32
	cmd := a.TabCommand(&cobra.Command{
		Use:   "request ID",
		Short: "Print a request from the log with its headers, timing and body",
		Long: `Print one request of a page. ID is the number that domtap log --network prints after the time. Credentials are
replaced by ***. --body adds the body of the response if the browser still has it. The browser keeps the newest
bodies, each of at most 1 MiB. --save writes the body to a file. FILE - is standard output.`,
		Example: "  domtap log --network\n  domtap request 12\n  domtap request 12 --body\n  domtap request 12 --save answer.json",
		Args:    cli.Args("ID"),
	})
	f := cmd.Flags()
	f.BoolVar(&body, "body", false, "print the body of the response")
	f.StringVar(&save, "save", "", "write the body of the response to this file")
	f.Int32Var(&most, "max-bytes", 256<<10, "maximum number of bytes of the body, 1 to 1048576")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		id, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil {
			return exit.Errorf(exit.Usage, "run domtap log --network to list the requests", "%q is no number of a request", args[0])
		}
		tab, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		r := &domtapv1.GetRequestRequest{TabId: tab, RequestId: id, Body: body || save != ""}
		if r.GetBody() {
			r.MaxBodyBytes = bodyBytes(f.Changed("max-bytes"), most, save != "")
		}
		answer, err := c.Pages.GetRequest(ctx, r)
		if err != nil {
			return err
		}
		if save != "" {
			return saveBody(a, save, answer)
		}
		return a.Printer().Show(answer, func() string { return render.Request(answer, body) })
	})
	return cmd
}

// bodyBytes returns the limit of a body: the requested limit, or 1 MiB if the whole body is wanted. nil selects the daemon's default.
func bodyBytes(asked bool, most int32, whole bool) *int32 {
	switch {
	case asked:
		return proto.Int32(most)
	case whole:
		return proto.Int32(1 << 20)
	}
	return nil
}

// saveBody writes a body to a file. If the body is incomplete, it reports that.
func saveBody(a *cli.App, file string, answer *domtapv1.GetRequestResponse) error {
	if why := answer.GetBodyMissing(); why != "" {
		return exit.Errorf(exit.NotFound, "read the body soon after the request", "there is no body: %s", why)
	}
	if answer.GetBodyTruncated() {
		a.Note("domtap: the file has %d of %d bytes; raise --max-bytes", len(answer.GetBody()), answer.GetBodySize())
	}
	return a.SaveSecret(file, answer.GetBody(), "the body")
}

// HAR returns the command har.
func HAR(a *cli.App) *cobra.Command {
	var bodies bool
	var most int32
	cmd := a.TabCommand(&cobra.Command{
		Use:   "har FILE",
		Short: "Save the requests of a page as an HTTP archive (HAR)",
		Long: `Save the requests of a tab as HAR 1.2, for the developer tools of browsers and other programs. Credentials are
replaced by ***: cookies, headers such as authorization, and parameters such as access_token. --bodies adds the
bodies of responses that the browser still has. Bodies are not masked and may contain secrets. FILE - writes to
standard output.`,
		Example: "  domtap har page.har\n  domtap har --bodies page.har",
		Args:    cli.Args("FILE"),
	})
	f := cmd.Flags()
	f.BoolVar(&bodies, "bodies", false, "add the bodies of responses")
	f.Int32Var(&most, "max-bytes", 256<<10, "omit bodies with more bytes than this, 1 to 1048576")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		tab, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		r := &domtapv1.ExportHarRequest{TabId: tab, Bodies: bodies, MaxBodyBytes: bodyBytes(bodies && f.Changed("max-bytes"), most, false)}
		answer, err := c.Pages.ExportHar(ctx, r)
		if err != nil {
			return err
		}
		if err := a.SaveSecret(args[0], render.JSON(answer.GetHar()), "the archive"); err != nil {
			return err
		}
		if args[0] != "-" {
			a.Note("domtap: %s", render.Archive(answer))
		}
		return nil
	})
	return cmd
}
