// Package clustercmd provides the command cluster, which shows and operates a cluster of daemons.
package clustercmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Cluster returns the command cluster with its subcommands.
func Cluster(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Show a cluster of daemons, drain a node, move a session",
		Long: `Show and operate the cluster that the daemon is a node of. Any node will do: each knows the whole cluster, and
has the others do what is theirs to do. Only the operator may: through a daemon's socket, or with the daemon's own
token.`,
		Example: `  domtap cluster status
  domtap cluster drain n2 --timeout 2m
  domtap cluster move work n3`,
	}
	cmd.AddCommand(status(a), drain(a), move(a))
	cli.OnlySubcommands(cmd)
	return cmd
}

func status(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Print the nodes, and which session is on which node",
		Long: `Print the nodes with their load, and which session is on which node, as the daemon knows it. RENEWED is how long
ago a node last said that it lives: it does so every 2s, gets no new sessions after some seconds of silence, and
is gone after 17s.`,
		Example: "  domtap cluster status\n  domtap cluster status --json | jq -r '.nodes[] | select(.state == \"NODE_STATE_SERVING\").nodeId'",
		Args:    cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, _ []string) error {
		answer, err := domtapv1.NewClusterServiceClient(c.Conn).GetCluster(ctx, new(domtapv1.GetClusterRequest))
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return render.Cluster(answer) })
	})
	return cmd
}

func drain(a *cli.App) *cobra.Command {
	request := new(domtapv1.DrainNodeRequest)
	cmd := &cobra.Command{
		Use:   "drain NODE",
		Short: "Move the sessions of a node to other nodes, before it is stopped",
		Long: `Let a node take no new sessions, and move those that it has: sessions with tabs to restore when the calls to them
have ended, others when nobody uses them. The command prints what has moved when no session is left, or what is
left after --timeout, of which the daemon uses 5m at most. The node goes on draining; run the command again to wait
longer, or with --undo to let the node take sessions again.

The exit code is 5 when sessions are left.`,
		Example: "  domtap cluster drain n2\n  domtap cluster drain n2 --timeout 2m\n  domtap cluster drain n2 --undo",
		Args:    cli.Args("NODE"), ValidArgsFunction: a.CompleteNodes,
	}
	a.Flags.Register(cmd)
	cmd.Flags().BoolVar(&request.Undo, "undo", false, "let the node take sessions again; what has moved stays where it is")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request.NodeId = args[0]
		answer, err := domtapv1.NewClusterServiceClient(c.Conn).DrainNode(ctx, request)
		if err != nil {
			return err
		}
		if err := a.Printer().Show(answer, func() string { return render.Drained(answer, request.GetUndo()) }); err != nil {
			return err
		}
		if n := len(answer.GetLeft()); n > 0 {
			return exit.Errorf(exit.Timeout, "run the same command again to wait longer, or stop the node", "node %s still has sessions: %d", answer.GetNodeId(), n)
		}
		return nil
	})
	return cmd
}

func move(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "move SESSION NODE",
		Short: "Move a session with its tabs to a node",
		Long: `Move a session with its tabs to a node. Calls to the session that are under way end first, and later ones wait.
The pages are loaded again: what was typed is lost, and refs of before are gone.

SESSION is the name that cluster status prints: alice.work is the session work of the client alice.`,
		Example: "  domtap cluster move work n3",
		Args:    cli.Args("SESSION", "NODE"), ValidArgsFunction: a.CompleteMove,
	}
	a.Flags.Register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		answer, err := domtapv1.NewClusterServiceClient(c.Conn).MoveSession(ctx, &domtapv1.MoveSessionRequest{SessionId: args[0], NodeId: args[1]})
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return render.MovedSession(answer) })
	})
	return cmd
}
