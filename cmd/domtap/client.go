package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
)

// client is a connection to the daemon.
type client struct {
	conn    *grpc.ClientConn
	tabs    domtapv1.TabServiceClient
	dom     domtapv1.DomServiceClient
	actions domtapv1.ActionServiceClient
	pages   domtapv1.PageServiceClient
	rooms   domtapv1.SessionServiceClient
	// tab is what --tab or DOMTAP_TAB says; empty: the one that this terminal opened last, or the only one.
	tab string
	// memory is what this terminal opened.
	memory *terminal.Memory
	// id names the terminal in calls that read or act: a ref means the element as it was printed in this terminal.
	id string
}

func newClient(conn *grpc.ClientConn, tab string, memory *terminal.Memory) *client {
	return &client{
		conn:    conn,
		tabs:    domtapv1.NewTabServiceClient(conn),
		dom:     domtapv1.NewDomServiceClient(conn),
		actions: domtapv1.NewActionServiceClient(conn),
		pages:   domtapv1.NewPageServiceClient(conn),
		rooms:   domtapv1.NewSessionServiceClient(conn),
		tab:     tab,
		memory:  memory,
	}
}

// work is what a command does with a connection to the daemon.
type work func(ctx context.Context, c *client, args []string) error

// calling wraps work that needs the daemon: it takes the environment into account, starts the daemon
// when there is none, and bounds the work by --timeout.
func (a *app) calling(do work) func(*cobra.Command, []string) error {
	return a.callingFor(func() time.Duration { return a.common.timeout }, do)
}

// navigating is calling for work that tells the daemon its timeout: the daemon gives up first,
// because it can say what the page was doing.
func (a *app) navigating(do work) func(*cobra.Command, []string) error {
	return a.callingFor(func() time.Duration {
		if a.common.timeout == 0 {
			return 0
		}
		return a.common.timeout + patience
	}, do)
}

// patience is how much longer than the daemon the client waits.
const patience = 2 * time.Second

func (a *app) callingFor(limit func() time.Duration, do work) func(*cobra.Command, []string) error {
	return a.locally(func(ctx context.Context, to endpoint.Target, args []string) error {
		if a.common.timeout < 0 {
			return exit.Errorf(exit.Usage, "0 means no limit", "--timeout %s is negative", a.common.timeout)
		}
		if err := a.ensureDaemon(ctx, to); err != nil {
			return err
		}
		c, err := a.dial(to)
		if err != nil {
			return err
		}
		ctx, cancel := withTimeout(ctx, limit())
		defer cancel()
		return errors.Join(do(ctx, c, args), c.conn.Close())
	})
}

// withTimeout is context.WithTimeout, but 0 means no limit.
func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// locally wraps work that does not begin with a call of the daemon. Its errors are told apart from errors
// of usage, which are those that cobra finds itself.
func (a *app) locally(do func(ctx context.Context, to endpoint.Target, args []string) error) func(*cobra.Command, []string) error {
	return doing(func(cmd *cobra.Command, args []string) error {
		if err := fromEnv(cmd.Flags(), a.env); err != nil {
			return err
		}
		to, err := a.target()
		if err != nil {
			return err
		}
		return do(cmd.Context(), to, args)
	})
}

// ensureDaemon starts a daemon when nobody listens on the socket, and returns when one serves. An address that was named
// with --addr or DOMTAP_ADDR is somebody else's to serve.
func (a *app) ensureDaemon(ctx context.Context, to endpoint.Target) error {
	if a.common.addr != "" {
		return to.Reach(ctx)
	}
	if to.Answers(ctx) { // nothing else need be known then
		return nil
	}
	at, err := a.places()
	if err != nil {
		return err
	}
	options, err := a.dialOptions(to)
	if err != nil {
		return err
	}
	return endpoint.Ensure(ctx, to, at, options, a.launch)
}

// places are those of the flags and the environment.
func (a *app) places() (endpoint.Places, error) {
	at, err := endpoint.FindPlaces(a.env, a.common.stateDir)
	if a.common.tokenFile != "" {
		at.Token = a.common.tokenFile
	}
	return at, err
}

// target follows --addr, then the socket of the daemon, then its TCP address.
func (a *app) target() (endpoint.Target, error) {
	if a.common.addr != "" {
		return endpoint.Parse(a.common.addr)
	}
	at, err := a.places()
	if err != nil {
		return endpoint.Target{}, err
	}
	return endpoint.FindTarget("", at, a.env)
}

// dialOptions looks for the token only where it is used.
func (a *app) dialOptions(to endpoint.Target) (endpoint.Options, error) {
	options := endpoint.Options{TLSCA: a.common.tlsCA, ClientCert: a.common.clientCert, ClientKey: a.common.clientKey, Agent: "domtap-cli/" + programVersion()}
	if to.Socket != "" {
		return options, nil
	}
	at, err := a.places()
	options.TokenFile = at.Token
	return options, err
}

// dial makes the connection; it is established by the first call.
func (a *app) dial(to endpoint.Target) (*client, error) {
	options, err := a.dialOptions(to)
	if err != nil {
		return nil, err
	}
	conn, err := endpoint.Dial(to, options)
	if err != nil {
		return nil, err
	}
	c := newClient(conn, a.common.tab, a.memory(to))
	c.id = terminal.ClientID(a.terminal())
	return c, nil
}
