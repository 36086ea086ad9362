// Package networkcmd provides the commands about the network of sessions: route.
package networkcmd

import (
	"context"
	"fmt"
	"mime"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/routes"
)

// Route returns the command route with its subcommands.
func Route(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "route",
		Short: "Block, mock and rewrite requests of a session",
		Long: `Block, mock or rewrite the requests of a session whose URL matches a PATTERN, in all tabs. If several routes
match a request, the newest one applies.

PATTERN matches the whole URL. * matches any text without a slash, ** any text, and {a,b} one of these texts.
All other characters match themselves.`,
		Example: `  domtap route block '**/*.{png,jpg}'
  domtap route mock 'https://api.example.com/user' --json-body '{"name":"Ada"}'
  domtap route rewrite 'https://api.example.com/**' --set-header 'X-Debug: 1'
  domtap route list
  domtap route remove r1`,
	}
	cmd.AddCommand(block(a), mock(a), rewrite(a), listRoutes(a), remove(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

// matching holds the flags that select the requests of a route.
type matching struct {
	session        string
	types, methods []string
}

func (m *matching) register(a *cli.App, cmd *cobra.Command) {
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &m.session, "the session (default: the default session)")
	cmd.Flags().StringSliceVar(&m.types, "type", nil, "only requests of this type, such as image, font, fetch, xhr or document; may be repeated")
	cmd.Flags().StringSliceVar(&m.methods, "method", nil, "only requests with this method, such as POST; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(routes.Types, cobra.ShellCompDirectiveNoFileComp)) // fails only if the flag does not exist
}

// route returns the route that the flags describe, without an action.
func (m *matching) route(pattern string) *domtapv1.Route {
	r := &domtapv1.Route{UrlPattern: pattern, ResourceTypes: m.types}
	for _, method := range m.methods {
		r.Methods = append(r.Methods, strings.ToUpper(method))
	}
	return r
}

// add adds a route and prints it.
func (m *matching) add(ctx context.Context, a *cli.App, c *cli.Client, r *domtapv1.Route) error {
	answer, err := domtapv1.NewNetworkServiceClient(c.Conn).AddRoute(ctx, &domtapv1.AddRouteRequest{SessionId: m.session, Route: r})
	if err != nil {
		return err
	}
	return a.Printer().Show(answer.GetRoute(), func() string { return render.Cell(answer.GetRoute().GetId(), 40) + "\n" })
}

func block(a *cli.App) *cobra.Command {
	var m matching
	var reason cli.Choice
	cmd := &cobra.Command{
		Use:     "block PATTERN",
		Short:   "Fail matching requests and print the name of the route",
		Long:    "Fail matching requests without sending them, and print the name of the route.",
		Example: "  domtap route block '**/*.mp4'\n  domtap route block '**' --type image,media,font\n  domtap route block 'https://api.example.com/**' --reason timed_out",
		Args:    cli.Args("PATTERN"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	m.register(a, cmd)
	cli.ChoiceFlag(cmd, &reason, "reason", "", "the `REASON` of the failure: "+strings.Join(reasonWords(), ", "), reasonWords()...)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		r := m.route(args[0])
		r.Action = &domtapv1.Route_Abort{Abort: &domtapv1.RouteAbort{Reason: reasonOf(reason.Value)}}
		return m.add(ctx, a, c, r)
	})
	return cmd
}

const reasonPrefix = "ABORT_REASON_"

// reasonWords returns the abort reasons in the notation of the command line, the most common first.
func reasonWords() []string {
	var words []string
	for i := int32(1); domtapv1.AbortReason_name[i] != ""; i++ {
		words = append(words, strings.ToLower(strings.TrimPrefix(domtapv1.AbortReason_name[i], reasonPrefix)))
	}
	return words
}

func reasonOf(word string) domtapv1.AbortReason {
	return domtapv1.AbortReason(domtapv1.AbortReason_value[reasonPrefix+strings.ToUpper(word)])
}

// answer holds the flags of mock.
type answer struct {
	status               int32
	body, file, jsonBody string
	contentType          string
	headers              []string
}

func mock(a *cli.App) *cobra.Command {
	var m matching
	var with answer
	cmd := &cobra.Command{
		Use:   "mock PATTERN",
		Short: "Answer matching requests and print the name of the route",
		Long: `Answer matching requests in place of their server, and print the name of the route. Without --content-type,
the content type follows from the name of the file, and is text/plain for --body.`,
		Example: "  domtap route mock 'https://api.example.com/user' --json-body '{\"name\":\"Ada\"}'\n  domtap route mock '**/logo.png' --body-file logo.png\n  domtap route mock '**/orders' --method POST --status 503",
		Args:    cli.Args("PATTERN"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	m.register(a, cmd)
	f := cmd.Flags()
	f.Int32Var(&with.status, "status", 200, "the HTTP status of the response, 200 to 599")
	f.StringVar(&with.body, "body", "", "the body of the response")
	f.StringVar(&with.jsonBody, "json-body", "", "the body of the response, with the content type application/json")
	f.StringVar(&with.file, "body-file", "", "read the body from this `FILE`; - is standard input")
	f.StringVar(&with.contentType, "content-type", "", "the content type of the response")
	f.StringArrayVar(&with.headers, "header", nil, `a header of the response, "NAME: VALUE"; may be repeated`)
	cmd.MarkFlagsMutuallyExclusive("body", "json-body", "body-file")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		fulfill, err := with.message(a)
		if err != nil {
			return err
		}
		r := m.route(args[0])
		r.Action = &domtapv1.Route_Fulfill{Fulfill: fulfill}
		return m.add(ctx, a, c, r)
	})
	return cmd
}

// message returns the answer that the flags describe.
func (w *answer) message(a *cli.App) (*domtapv1.RouteFulfill, error) {
	headers, err := headersOf(w.headers)
	if err != nil {
		return nil, err
	}
	f := &domtapv1.RouteFulfill{Status: w.status, Headers: headers}
	kind := ""
	switch {
	case w.file != "":
		if f.Body, err = a.ReadFile(w.file); err != nil {
			return nil, err
		}
		kind = mime.TypeByExtension(filepath.Ext(w.file))
	case w.jsonBody != "":
		f.Body, kind = []byte(w.jsonBody), "application/json"
	case w.body != "":
		f.Body, kind = []byte(w.body), "text/plain; charset=utf-8"
	}
	if w.contentType != "" {
		kind = w.contentType
	}
	if kind != "" {
		f.Headers = append(f.Headers, &domtapv1.Header{Name: "Content-Type", Value: kind})
	}
	return f, nil
}

func headersOf(all []string) ([]*domtapv1.Header, error) {
	var out []*domtapv1.Header
	for _, header := range all {
		name, value, found := strings.Cut(header, ":")
		if !found {
			return nil, exit.Errorf(exit.Usage, "", "invalid header %q: no colon, as in %q", header, "X-Team: blue")
		}
		out = append(out, &domtapv1.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return out, nil
}

func rewrite(a *cli.App) *cobra.Command {
	var m matching
	var url, method string
	var set, gone []string
	cmd := &cobra.Command{
		Use:   "rewrite PATTERN",
		Short: "Change matching requests and print the name of the route",
		Long: `Send matching requests to another URL, with another method or with other headers, and print the name of the
route. The page sees the original URL.`,
		Example: "  domtap route rewrite 'https://example.com/app.js' --to http://127.0.0.1:8080/app.js\n  domtap route rewrite 'https://api.example.com/**' --set-header 'Authorization: Bearer X' --remove-header Referer",
		Args:    cli.Args("PATTERN"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	m.register(a, cmd)
	f := cmd.Flags()
	f.StringVar(&url, "to", "", "send the requests to this URL")
	f.StringVar(&method, "to-method", "", "send the requests with this method")
	f.StringArrayVar(&set, "set-header", nil, `add or replace this header, "NAME: VALUE"; may be repeated`)
	f.StringArrayVar(&gone, "remove-header", nil, "remove the header with this name; may be repeated")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		headers, err := headersOf(set)
		if err != nil {
			return err
		}
		r := m.route(args[0])
		r.Action = &domtapv1.Route_Modify{Modify: &domtapv1.RouteModify{Url: url, Method: strings.ToUpper(method), SetHeaders: headers, RemoveHeaders: gone}}
		return m.add(ctx, a, c, r)
	})
	return cmd
}

func listRoutes(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the routes of a session and the number of requests that each has matched",
		Long:  "List the routes of a session, newest first, and the number of requests that each has matched. With --json, print one Route per line.",
		Args:  cli.Args(),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &session, "the session (default: the default session)")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := domtapv1.NewNetworkServiceClient(c.Conn).ListRoutes(ctx, &domtapv1.ListRoutesRequest{SessionId: session})
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), answer.GetRoutes(), func(all []*domtapv1.Route) string {
			if len(all) == 0 {
				return "no routes\n"
			}
			return render.Routes(all)
		})
	})
	return cmd
}

func remove(a *cli.App) *cobra.Command {
	var session string
	var all bool
	cmd := &cobra.Command{
		Use:     "remove [ROUTE…]",
		Short:   "Remove routes of a session",
		Long:    "Remove the routes with these names from a session, or all routes with --all. domtap route list prints the names.",
		Example: "  domtap route remove r1 r2\n  domtap route remove --all",
		Args:    cli.Args("[ROUTE…]"), ValidArgsFunction: a.CompleteRoutes(&session),
	}
	a.Flags.Register(cmd)
	a.SessionFlag(cmd, &session, "the session (default: the default session)")
	cmd.Flags().BoolVar(&all, "all", false, "remove all routes of the session")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		if all == (len(args) > 0) {
			return exit.Errorf(exit.Usage, "run domtap route list to list the routes", "name the routes to remove, or use --all")
		}
		answer, err := domtapv1.NewNetworkServiceClient(c.Conn).RemoveRoutes(ctx, &domtapv1.RemoveRoutesRequest{SessionId: session, RouteIds: args})
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return fmt.Sprintf("removed: %d\n", len(answer.GetRoutes())) })
	})
	return cmd
}
