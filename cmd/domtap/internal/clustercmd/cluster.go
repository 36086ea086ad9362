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
		Short: "Show a cluster of daemons, drain nodes and move sessions",
		Long: `Show and operate the cluster of the daemon. You can call any node: each node knows the whole cluster and
forwards work to the node that must do it. Only the operator may use these commands, through a daemon's
socket or with the daemon's own token.`,
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
		Short: "List the nodes and the sessions on each node",
		Long: `List the nodes with their load, and the node of each session, as the daemon knows them. RENEWED is the time
since the node last renewed its lease. A node renews it every 2s. Without renewal, it gets no new sessions
after some seconds, and is considered gone after 17s.`,
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
		Short: "Move the sessions of a node to other nodes before you stop it",
		Long: `Give a node no new sessions, and move its sessions to other nodes. A session with tabs to restore moves when
its running calls have ended. Any other session moves when no client uses it. The command ends when no
session is left or after --timeout, at most 5m, and prints the sessions that moved and that are left. The
node keeps draining. Run the command again to wait longer, or with --undo to give the node new sessions.

The exit code is 5 if sessions are left.`,
		Example: "  domtap cluster drain n2\n  domtap cluster drain n2 --timeout 2m\n  domtap cluster drain n2 --undo",
		Args:    cli.Args("NODE"), ValidArgsFunction: a.CompleteNodes,
	}
	a.Flags.Register(cmd)
	cmd.Flags().BoolVar(&request.Undo, "undo", false, "give the node new sessions again; sessions that moved stay where they are")
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
		Long: `Move a session with its tabs to a node. Running calls to the session end first, and later calls wait. The
pages are loaded again: typed text is lost, and refs are new.

SESSION is the name that domtap cluster status prints. alice.work is the session work of the client alice.`,
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
