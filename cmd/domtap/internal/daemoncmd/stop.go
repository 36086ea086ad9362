// Package daemoncmd provides the commands about the daemon itself: stop, socket, token, stats, ui, health, doctor, mcp and man.
package daemoncmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/internal/endpoint"
)

// stopped is the JSON output of domtap stop.
type stopped struct {
	Socket string `json:"socket"`
	// PID is 0 if no daemon ran.
	PID int `json:"pid"`
}

// Stop returns the command stop.
func Stop(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop this user's daemon and its browser",
		Long:  "Stop the daemon, and wait until the daemon and its browser have exited. If no daemon runs, the command succeeds.",
		Args:  cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error {
		if to.Socket == "" {
			return exit.Errorf(exit.Usage, "stop the daemon on the machine where it runs", "only a daemon on a unix socket can be stopped: %s is not a unix socket", to)
		}
		ctx, cancel := cli.WithTimeout(ctx, a.Flags.Timeout)
		defer cancel()
		pid, err := instance.Stop(ctx, to.Socket)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("stopped the daemon with process id %d\n", pid)
		if pid == 0 {
			text = fmt.Sprintf("no daemon runs at %s\n", to.Socket)
		}
		return a.Printer().ShowValue(stopped{Socket: to.Socket, PID: pid}, text)
	})
	return cmd
}

// Socket returns the command socket.
func Socket(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "socket",
		Short:   "Print the path of the daemon's socket, for other gRPC clients",
		Long:    "Print the path of the daemon's unix socket. The command starts the daemon if none runs.",
		Example: `  grpcurl -plaintext -unix "$(domtap socket)" domtap.v1.TabService/ListTabs`,
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error {
		if to.Socket == "" {
			return exit.Errorf(exit.Failure, "it listens on "+to.Address, "the daemon has no socket")
		}
		if err := a.EnsureDaemon(ctx, to); err != nil {
			return err
		}
		return a.Printer().ShowValue(to.Socket, to.Socket+"\n")
	})
	return cmd
}
