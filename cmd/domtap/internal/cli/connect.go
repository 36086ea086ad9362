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

// ClientWork is what a command does with a connection to the daemon.
type ClientWork func(ctx context.Context, c *Client, args []string) error

// WithClient wraps work that needs the daemon: it starts the daemon when none runs, and bounds the
// work by --timeout.
func (c *Connector) WithClient(do ClientWork) func(*cobra.Command, []string) error {
	return c.WithClientFor(func() time.Duration { return c.flags.Timeout }, do)
}

// WithNavigation is WithClient for work that sends its timeout to the daemon. The daemon gives up
// first, because the daemon can say what the page was doing.
func (c *Connector) WithNavigation(do ClientWork) func(*cobra.Command, []string) error {
	return c.WithClientFor(func() time.Duration {
		if c.flags.Timeout == 0 {
			return 0
		}
		return c.flags.Timeout + Patience
	}, do)
}

// Patience is how much longer than the daemon a client waits.
const Patience = 2 * time.Second

// WithClientFor is WithClient with another limit on the work. 0 means no limit.
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

// WithTimeout is context.WithTimeout, but 0 means no limit.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}

// WithoutDaemon wraps work that does not need a running daemon. The work gets the address where the
// daemon is, or would be.
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

// EnsureDaemon starts a daemon, with more flags, when none listens on the socket, and returns when
// a daemon serves. It never starts a daemon at an address that --addr or DOMTAP_ADDR names.
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

// Places are the files of the daemon, by the flags and the environment.
func (c *Connector) Places() (endpoint.Places, error) {
	at, err := endpoint.FindPlaces(c.env.Lookup, c.flags.StateDir)
	if c.flags.TokenFile != "" {
		at.Token = c.flags.TokenFile
	}
	return at, err
}

// Target is the address of the daemon: --addr, else the daemon's socket, else its TCP address.
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

// DialOptions are the options to connect to an address. Only connections over TCP use the token.
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

// Dial makes the connection; the first call establishes it.
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
	if at, err := c.Places(); err == nil { // without a state directory, nothing is remembered
		client.Memory = terminal.Of(at.State, to.String(), key)
	}
	return client, nil
}
