package daemoncmd

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
)

// Health returns the command health.
func Health(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health [SERVICE]",
		Short: "Check that the daemon is serving, for probes",
		Long: `Check with grpc.health.v1.Health that the daemon is serving. The command starts no daemon and needs no token.
The exit code is 0 if the daemon is serving, and 6 if it is not serving, is stopping, or does not answer.`,
		Example: "  domtap health --timeout 5s\n  domtap health domtap.v1.DomService",
		Args:    cli.Args("[SERVICE]"),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, args []string) error {
		ctx, cancel := cli.WithTimeout(ctx, a.Flags.Timeout)
		defer cancel()
		options, err := a.DialOptions(to)
		if err != nil {
			return err
		}
		conn, err := endpoint.Dial(to, options)
		if err != nil {
			return err
		}
		var service string
		if len(args) > 0 {
			service = args[0]
		}
		answer, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: service})
		if err = errors.Join(err, conn.Close()); err != nil {
			return unhealthy(to, err)
		}
		if answer.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			return exit.Errorf(exit.Unavailable, "", "the daemon is %s", answer.GetStatus())
		}
		return a.Printer().ShowValue(answer.GetStatus().String(), "serving\n")
	})
	return cmd
}

// unhealthy returns the error of a daemon that does not answer. The exit code is the same for every reason, for use in probes.
func unhealthy(to endpoint.Target, err error) error {
	var e *exit.Error
	if !errors.As(exit.Classify(err, nil), &e) || e.Code == exit.Interrupted {
		return err
	}
	if endpoint.IsUnanswered(e.Error()) {
		return &exit.Error{Code: exit.Unavailable, Err: e.Err, Hint: e.Hint}
	}
	return exit.Errorf(exit.Unavailable, cmp.Or(e.Hint, "run domtap doctor to check the browser, socket and daemon"), "the daemon at %s does not answer: %w", to, e.Err)
}
