package daemoncmd

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/servecmd"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/mcp"
	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// mcpFlags holds the settings of the MCP server.
type mcpFlags struct {
	mcp.Options
	http      string
	tokenFile string
	logLevel  cli.Choice
}

// MCP returns the command mcp.
func MCP(a *cli.App) *cobra.Command {
	var m mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Run an MCP server with tools, resources and prompts",
		Long: `Serve the Model Context Protocol on standard input and output, for one host. With --http, serve streamable
HTTP at http://ADDR/mcp, for any number of hosts. The first call that needs the daemon starts it.

A model pays tokens for each tool, so the tools come in classes:
  core      browse and act
  page      read and extract
  storage   read and change cookies and web storage
  search    search the web, if the daemon has a search provider
  network   block, mock and rewrite requests
  all       all of these

The tabs of an MCP session are closed when the session ends.

domtap mcp install adds the server to the configuration of a host. docs/mcp.md describes more hosts.`,
		Example: `  domtap mcp install claude
  domtap mcp
  domtap mcp --tools all
  domtap mcp --http 127.0.0.1:7413`,
		Args: cli.Args(),
	}
	a.Flags.Register(cmd)
	m.register(cmd)
	cmd.AddCommand(install(a), uninstall(a))
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error { return serveMCP(ctx, a, to, &m) })
	return cmd
}

func (m *mcpFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.Tools, "tools", tools.Core, "the classes of tools: core, page, storage, search, network, all, or several of these separated by commas")
	f.StringVar(&m.http, "http", "", "serve streamable HTTP on this loopback address, such as 127.0.0.1:7413, with a bearer token")
	f.StringVar(&m.tokenFile, "http-token-file", "", "the file with the bearer token of --http, created if missing (default: the token of the daemon)")
	f.StringVar(&m.Session, "session", "", "the browser session to work in (default: the default session)")
	f.BoolVar(&m.KeepTabs, "keep-tabs", false, "keep tabs open when their MCP session ends")
	cli.ChoiceFlag(cmd, &m.logLevel, "log-level", "", "the log level on standard error", "warn", "debug", "info", "error")
	cli.BindEnv(f, "tools", "http", "http-token-file", "keep-tabs", "log-level")
}

// serveMCP serves until the host closes standard input. Over HTTP it serves until the context ends.
func serveMCP(ctx context.Context, a *cli.App, to endpoint.Target, m *mcpFlags) error {
	if _, err := tools.Select(m.Tools); err != nil {
		return exit.Errorf(exit.Usage, "", "--tools: %w", err)
	}
	client, err := a.Dial(to)
	if err != nil {
		return err
	}
	o := m.Options
	o.Version, o.Conn, o.Logger = a.Version, client.Conn, m.logger(a)
	o.Ensure = func(ctx context.Context) error { return a.EnsureDaemon(ctx, to) }
	o.Running = to.Answers
	if o.Search, err = hasSearch(ctx, a, to, client, m.Tools); err != nil {
		return errors.Join(err, client.Conn.Close())
	}
	server, err := mcp.New(ctx, o)
	if err != nil {
		return errors.Join(err, client.Conn.Close())
	}
	if m.http != "" {
		err = serveMCPOverHTTP(ctx, a, server, m)
	} else {
		err = server.ServeStdio(ctx, io.NopCloser(a.In), render.Exact(a.Out))
	}
	server.Close()
	return errors.Join(err, client.Conn.Close())
}

// searchLimit limits how long the daemon may take to list its search providers.
const searchLimit = 5 * time.Second

// hasSearch reports whether the daemon has a search provider, or a new daemon would have one. It does not query the daemon if
// classes contains no search tool.
func hasSearch(ctx context.Context, a *cli.App, to endpoint.Target, c *cli.Client, classes string) (bool, error) {
	if !tools.Selects(classes, tools.Search) {
		return false, nil
	}
	found := false
	if to.Answers(ctx) {
		ctx, cancel := context.WithTimeout(ctx, searchLimit)
		defer cancel()
		list, err := domtapv1.NewSearchServiceClient(c.Conn).ListSearchProviders(ctx, &domtapv1.ListSearchProvidersRequest{})
		found = err == nil && len(list.GetProviders()) > 0 // an earlier version of the daemon has no providers
	} else if a.Flags.Addr == "" {
		searcher, err := servecmd.Searcher(a.Lookup, a.Flags.StateDir)
		if err != nil {
			return false, exit.Errorf(exit.Usage, "see docs/search.md for the settings", "%w", err)
		}
		found = searcher != nil
	}
	if all, _ := tools.Select(classes); !found && len(tools.WithoutSearch(all)) == 0 { // the tool classes were validated before
		return false, exit.Errorf(exit.Usage, "configure one for the daemon, for example with DOMTAP_SEARCH_PROVIDER; see docs/search.md", "--tools %s: the daemon has no search provider", classes)
	}
	return found, nil
}

func serveMCPOverHTTP(ctx context.Context, a *cli.App, server *mcp.Server, m *mcpFlags) error {
	host, _, err := net.SplitHostPort(m.http)
	if err != nil || !listen.IsLoopback(host) {
		return exit.Errorf(exit.Usage, "for example --http 127.0.0.1:7413; use a proxy with TLS for other addresses", "invalid --http %q: not a loopback address with a port", m.http)
	}
	token, file, err := mcpToken(a, m)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.http)
	if err != nil {
		return exit.Errorf(exit.Failure, "choose another port", "listen for MCP: %w", err)
	}
	a.Note("domtap: serving MCP at http://%s%s with the token in %s", listener.Addr(), mcp.Path, file)
	return server.ServeHTTPOn(ctx, listener, token)
}

// mcpToken returns the bearer token and its file: --http-token-file, or the token of the daemon.
func mcpToken(a *cli.App, m *mcpFlags) (token, file string, err error) {
	if file = m.tokenFile; file == "" {
		at, err := a.Places()
		if err != nil {
			return "", "", err
		}
		file = at.Token
	}
	if token, err = listen.Token(file); err != nil {
		return "", "", exit.Errorf(exit.Denied, "", "%w", err)
	}
	return token, file, nil
}

func (m *mcpFlags) logger(a *cli.App) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(m.logLevel.Value)) // the flag allows only valid levels
	return slog.New(slog.NewTextHandler(a.Err, &slog.HandlerOptions{Level: level}))
}
