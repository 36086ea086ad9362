package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/rpc/listen"
)

// stopped is what `domtap stop -o json` prints.
type stopped struct {
	Socket string `json:"socket"`
	// PID is 0 when no daemon ran.
	PID int `json:"pid"`
}

func stopCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "End the daemon of this user's socket, and its browser",
		Long:  "Ask the daemon to end, and wait until it and its browser have ended. It is no error when none runs.",
		Args:  cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, _ []string) error {
		if to.Socket == "" {
			return exit.Errorf(exit.Usage, "end it where it runs", "only a daemon on a unix socket can be stopped; %s is none", to)
		}
		ctx, cancel := withTimeout(ctx, a.common.timeout)
		defer cancel()
		pid, err := instance.Stop(ctx, to.Socket)
		if err != nil {
			return err
		}
		p := a.printer()
		switch {
		case p.json:
			return p.value(stopped{Socket: to.Socket, PID: pid})
		case pid == 0:
			return p.text(fmt.Sprintf("no daemon runs at %s\n", to.Socket))
		}
		return p.text(fmt.Sprintf("stopped the daemon with process id %d\n", pid))
	})
	return cmd
}

func socketCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "socket",
		Short:   "Print the path of the daemon's socket, for other gRPC clients",
		Long:    "Print the path of the daemon's unix socket. The daemon is started when it does not run.",
		Example: `  grpcurl -plaintext -unix "$(domtap socket)" domtap.v1.TabService/ListTabs`,
		Args:    cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, _ []string) error {
		if to.Socket == "" {
			return exit.Errorf(exit.Failure, "it listens on "+to.Address, "the daemon has no socket")
		}
		if err := a.ensureDaemon(ctx, to); err != nil {
			return err
		}
		p := a.printer()
		if p.json {
			return p.value(to.Socket)
		}
		return p.text(to.Socket + "\n")
	})
	return cmd
}

func tokenCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the bearer token of the daemon's TCP address",
		Long: `Print the bearer token that clients send over TCP. It is made when the daemon first listens
on TCP. Whoever has it controls the browser: keep it out of logs and command lines.`,
		Example: `  grpcurl -plaintext -H "authorization: Bearer $(domtap token)" 127.0.0.1:7411 list`,
		Args:    cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.AddCommand(newTokenCommand(a))
	onlyCommands(cmd)
	cmd.RunE = a.locally(func(context.Context, endpoint.Target, []string) error {
		at, err := a.places()
		if err != nil {
			return err
		}
		token, err := listen.ReadToken(at.Token)
		if errors.Is(err, fs.ErrNotExist) {
			return exit.Errorf(exit.Denied, "it is made when the daemon first listens on TCP: domtap serve", "there is no token in %s yet", at.Token)
		}
		if err != nil {
			return exit.Errorf(exit.Denied, "", "%w", err)
		}
		p := a.printer()
		if p.json {
			return p.value(token)
		}
		return p.text(token + "\n")
	})
	return cmd
}
