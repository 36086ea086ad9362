package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	"github.com/domtap/domtap/internal/endpoint"
)

// Connector finds the daemon, starts the daemon on demand, and connects to it.
type Connector struct {
	env   *Env
	flags *ClientFlags
}

// ClientWork performs the work of a command, with a connection to the daemon.
type ClientWork func(ctx context.Context, c *Client, args []string) error

// WithClient wraps work that needs the daemon. It starts the daemon if none runs, and limits the work to --timeout.
func (c *Connector) WithClient(do ClientWork) func(*cobra.Command, []string) error {
	return c.WithClientFor(func() time.Duration { return c.flags.Timeout }, do)
}

// WithNavigation wraps work that sends its timeout to the daemon. The client waits longer than the daemon, because the error of the daemon
// describes the state of the page.
func (c *Connector) WithNavigation(do ClientWork) func(*cobra.Command, []string) error {
	return c.WithClientFor(func() time.Duration {
		if c.flags.Timeout == 0 {
			return 0
		}
		return c.flags.Timeout + Patience
	}, do)
}

// Patience is the additional time that a client waits after the daemon's own timeout.
const Patience = 2 * time.Second

// WithClientFor wraps work as WithClient does, with a different limit. A limit of 0 means no limit.
func (c *Connector) WithClientFor(limit func() time.Duration, do ClientWork) func(*cobra.Command, []string) error {
	return c.WithoutDaemon(func(ctx context.Context, to endpoint.Target, args []string) error {
		if c.flags.Timeout < 0 {
			return exit.Errorf(exit.Usage, "0 means no limit", "--timeout %s is negative", c.flags.Timeout)
		}
		if err := c.EnsureDaemon(ctx, to); err != nil {
			return err
		}
		client, err := c.Dial(to)
		if err != nil {
			return err
		}
		ctx, cancel := WithTimeout(ctx, limit())
		defer cancel()
		return errors.Join(do(ctx, client, args), client.Close())
	})
}

// WithTimeout wraps context.WithTimeout. A duration of 0 means no limit.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// WithoutDaemon wraps work that does not need a running daemon. The work receives the address at which the daemon listens or would listen.
func (c *Connector) WithoutDaemon(do func(ctx context.Context, to endpoint.Target, args []string) error) func(*cobra.Command, []string) error {
	return Work(func(cmd *cobra.Command, args []string) error {
		if err := FromEnv(cmd.Flags(), c.env.Lookup); err != nil {
			return err
		}
		to, err := c.Target()
		if err != nil {
			return err
		}
		return do(cmd.Context(), to, args)
	})
}

// EnsureDaemon starts a daemon with additional flags if none listens on the socket, and returns when a daemon serves. It never starts a
// daemon at an address given by --addr or DOMTAP_ADDR.
func (c *Connector) EnsureDaemon(ctx context.Context, to endpoint.Target, flags ...string) error {
	if c.flags.Addr != "" {
		return to.Reach(ctx)
	}
	if to.Answers(ctx) {
		return nil
	}
	at, err := c.Places()
	if err != nil {
		return err
	}
	options, err := c.DialOptions(to)
	if err != nil {
		return err
	}
	return endpoint.Ensure(ctx, to, at, options, func(ctx context.Context, at endpoint.Places) error {
		defer c.env.Waiting("starting the daemon and its browser")()
		return c.env.Launch(ctx, at, flags)
	})
}

// Places returns the paths of the daemon's files, from the flags and the environment.
func (c *Connector) Places() (endpoint.Places, error) {
	at, err := endpoint.FindPlaces(c.env.Lookup, c.flags.StateDir)
	if c.flags.TokenFile != "" {
		at.Token = c.flags.TokenFile
	}
	return at, err
}

// Target returns the address of the daemon: --addr, otherwise the daemon's socket, otherwise its TCP address.
func (c *Connector) Target() (endpoint.Target, error) {
	if c.flags.Addr != "" {
		return endpoint.Parse(c.flags.Addr)
	}
	at, err := c.Places()
	if err != nil {
		return endpoint.Target{}, err
	}
	return endpoint.FindTarget("", at, c.env.Lookup)
}

// DialOptions returns the options to connect to an address. Only TCP connections use the token.
func (c *Connector) DialOptions(to endpoint.Target) (endpoint.Options, error) {
	options := endpoint.Options{
		TLSCA: c.flags.TLSCA, ClientCert: c.flags.ClientCert, ClientKey: c.flags.ClientKey,
		Agent: "domtap-cli/" + c.env.Version,
	}
	if to.Socket != "" {
		return options, nil
	}
	at, err := c.Places()
	options.TokenFile = at.Token
	return options, err
}

// Dial returns a client. The connection is established by its first call.
func (c *Connector) Dial(to endpoint.Target) (*Client, error) {
	options, err := c.DialOptions(to)
	if err != nil {
		return nil, err
	}
	key := c.env.Terminal()
	options.ClientID = terminal.ClientID(key)
	conn, shared, err := c.env.Conns.dial(to, options)
	if err != nil {
		return nil, err
	}
	client := newClient(conn)
	client.shared = shared
	client.Tab, client.ID = c.flags.Tab, terminal.ClientID(key)
	if at, err := c.Places(); err == nil { // without a state directory nothing is remembered
		client.Memory = terminal.MemoryOf(at.State, to.String(), key)
	}
	return client, nil
}
