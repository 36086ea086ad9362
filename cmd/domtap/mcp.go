package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/mcp"
	"github.com/domtap/domtap/mcp/tools"
	"github.com/domtap/domtap/rpc/listen"
)

// mcpFlags are the settings of the MCP server.
type mcpFlags struct {
	mcp.Options
	http      string
	tokenFile string
	logLevel  choice
}

func mcpCommand(a *app) *cobra.Command {
	var m mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve hosts of models over MCP: tools and resources",
		Long: `Serve the Model Context Protocol on standard input and output, for one host; or with --http over streamable
HTTP at http://ADDR/mcp, for any number. The daemon is started by the first call that needs it.

Tools come in classes, so that a model pays for those alone that it uses: core to browse and act, page to read
and extract, all for both. The tabs that a session opened are closed at its end.

docs/mcp.md has the configurations of hosts.`,
		Example: `  domtap mcp
  domtap mcp --tools all
  domtap mcp --http 127.0.0.1:7413`,
		Args: cobra.NoArgs,
	}
	a.common.register(cmd)
	m.register(cmd)
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, _ []string) error { return a.serveMCP(ctx, to, &m) })
	return cmd
}

func (m *mcpFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.Tools, "tools", tools.Core, "the classes of tools: core, page, all, or some with commas between them")
	f.StringVar(&m.http, "http", "", "serve streamable HTTP on this loopback address, such as 127.0.0.1:7413, with a bearer token")
	f.StringVar(&m.tokenFile, "http-token-file", "", "the file with that token, made when it is missing (default: the daemon's)")
	f.StringVar(&m.Session, "session", "", "the browser session to work in (default: default)")
	f.BoolVar(&m.KeepTabs, "keep-tabs", false, "leave tabs open when the session that opened them ends")
	choiceFlag(cmd, &m.logLevel, "log-level", "", "what to log on standard error", "warn", "debug", "info", "error")
	alsoEnv(f, "tools", "http", "http-token-file", "keep-tabs", "log-level")
}

// serveMCP serves until the host has gone, or for ever over HTTP.
func (a *app) serveMCP(ctx context.Context, to endpoint.Target, m *mcpFlags) error {
	if _, err := tools.Select(m.Tools); err != nil {
		return exit.Errorf(exit.Usage, "", "--tools: %w", err)
	}
	client, err := a.dial(to)
	if err != nil {
		return err
	}
	o := m.Options
	o.Version, o.Conn, o.Logger = programVersion(), client.conn, m.logger(a)
	o.Ensure = func(ctx context.Context) error { return a.ensureDaemon(ctx, to) }
	o.Running = to.Answers
	server, err := mcp.New(ctx, o)
	if err != nil {
		return errors.Join(err, client.conn.Close())
	}
	if m.http != "" {
		err = a.serveMCPOverHTTP(ctx, server, m)
	} else {
		err = server.ServeStdio(ctx, io.NopCloser(a.in), a.out)
	}
	server.Close()
	return errors.Join(err, client.conn.Close())
}

func (a *app) serveMCPOverHTTP(ctx context.Context, server *mcp.Server, m *mcpFlags) error {
	host, _, err := net.SplitHostPort(m.http)
	if err != nil || !listen.IsLoopback(host) {
		return exit.Errorf(exit.Usage, "for example --http 127.0.0.1:7413; a proxy with TLS can stand in front of it", "--http %q is no loopback address with a port", m.http)
	}
	token, file, err := a.mcpToken(m)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.http)
	if err != nil {
		return exit.Errorf(exit.Failure, "choose another port", "listen for MCP: %w", err)
	}
	_, _ = fmt.Fprintf(a.complaints, "domtap: MCP at http://%s%s, with the token in %s\n", listener.Addr(), mcp.Path, file)
	return server.ServeHTTPOn(ctx, listener, token)
}

// mcpToken is the bearer token and the file that it is in: one of its own, or the daemon's.
func (a *app) mcpToken(m *mcpFlags) (token, file string, err error) {
	if file = m.tokenFile; file == "" {
		at, err := a.places()
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

func (m *mcpFlags) logger(a *app) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(m.logLevel.value)) // the flag takes only words that it knows
	return slog.New(slog.NewTextHandler(a.complaints, &slog.HandlerOptions{Level: level}))
}
