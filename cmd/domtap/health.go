package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
)

func healthCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "health [SERVICE]",
		Short: "Ask the daemon whether it serves, for probes",
		Long: `Ask the daemon whether it serves, by grpc.health.v1.Health. It starts none, and needs no token. The exit code is 0
when it serves, and 6 when it does not, or stops, or does not answer.`,
		Example: "  domtap health --timeout 5s\n  domtap health domtap.v1.DomService",
		Args:    cobra.MaximumNArgs(1),
	}
	a.common.register(cmd)
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, args []string) error {
		ctx, cancel := withTimeout(ctx, a.common.timeout)
		defer cancel()
		options, err := a.dialOptions(to)
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
			return exit.Errorf(exit.Unavailable, "", "the daemon says %s", answer.GetStatus())
		}
		p := a.printer()
		if p.json {
			return p.value(answer.GetStatus().String())
		}
		return p.text("serving\n")
	})
	return cmd
}

// unhealthy is the error of a daemon that does not say how it is: for probes every reason is the same.
func unhealthy(to endpoint.Target, err error) error {
	var e *exit.Error
	if !errors.As(exit.Classify(err, nil), &e) || e.Code == exit.Interrupted {
		return err
	}
	if endpoint.IsUnanswered(e.Error()) {
		return &exit.Error{Code: exit.Unavailable, Err: e.Err, Hint: e.Hint}
	}
	return exit.Errorf(exit.Unavailable, cmp.Or(e.Hint, "domtap doctor checks browser, socket and daemon"), "the daemon at %s does not answer: %w", to, e.Err)
}
