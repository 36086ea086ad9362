package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// completionLimit limits how long the shell waits for candidates.
const completionLimit = time.Second

// Completer completes arguments and flags in the shell. It queries a running daemon and never starts one. On errors it offers nothing.
type Completer struct{ connector *Connector }

// request requests the candidates from the daemon.
func (c *Completer) request(cmd *cobra.Command, candidates func(ctx context.Context, c *Client) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	if FromEnv(cmd.Flags(), c.connector.env.Lookup) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	to, err := c.connector.Target()
	if err != nil || !to.Answers(cmd.Context()) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	client, err := c.connector.Dial(to)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	found, err := candidates(ctx, client)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// CompleteTabs offers the IDs of the open tabs, with their titles.
func (c *Completer) CompleteTabs(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.request(cmd, func(ctx context.Context, client *Client) ([]cobra.Completion, error) {
		answer, err := client.Tabs.ListTabs(ctx, &domtapv1.ListTabsRequest{})
		var found []cobra.Completion
		for _, tab := range answer.GetTabs() {
			if strings.HasPrefix(tab.GetId(), prefix) {
				found = append(found, cobra.CompletionWithDesc(tab.GetId(), render.Cell(tab.GetTitle(), 50)))
			}
		}
		return found, err
	})
}

// CompleteRefs offers the refs of the page, with the names of their elements, for the first argument.
func (c *Completer) CompleteRefs(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.request(cmd, func(ctx context.Context, client *Client) ([]cobra.Completion, error) {
		id, err := client.TabID(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := client.DOM.GetDom(ctx, &domtapv1.GetDomRequest{TabId: id})
		var found []cobra.Completion
		for _, e := range answer.GetElements() {
			if text := strconv.FormatUint(uint64(e.GetRef()), 10); strings.HasPrefix(text, prefix) {
				found = append(found, cobra.CompletionWithDesc(text, render.Cell(render.Kind(e)+" "+e.GetText(), 50)))
			}
		}
		return found, err
	})
}

// CompleteSessions offers the names of the sessions for the first argument. For the command close it offers them for every argument.
func (c *Completer) CompleteSessions(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "close" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return c.request(cmd, func(ctx context.Context, client *Client) ([]cobra.Completion, error) {
		answer, err := client.Sessions.ListSessions(ctx, &domtapv1.ListSessionsRequest{})
		var found []cobra.Completion
		for _, one := range answer.GetSessions() {
			if strings.HasPrefix(one.GetId(), prefix) {
				found = append(found, one.GetId())
			}
		}
		return found, err
	})
}

// CompleteNodes offers the names of the cluster's live nodes, with their addresses, for the first argument.
func (c *Completer) CompleteNodes(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.ofCluster(cmd, prefix, func(now *domtapv1.GetClusterResponse) []cobra.Completion {
		var names []cobra.Completion
		for _, n := range now.GetNodes() {
			if n.GetState() != domtapv1.NodeState_NODE_STATE_GONE {
				names = append(names, cobra.CompletionWithDesc(n.GetNodeId(), n.GetAddress()))
			}
		}
		return names
	})
}

// CompleteMove offers the sessions of the cluster, with their nodes, for the first argument, and the cluster's nodes for the second.
func (c *Completer) CompleteMove(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return c.CompleteNodes(cmd, args[1:], prefix)
	}
	return c.ofCluster(cmd, prefix, func(now *domtapv1.GetClusterResponse) []cobra.Completion {
		var names []cobra.Completion
		for _, s := range now.GetSessions() {
			names = append(names, cobra.CompletionWithDesc(s.GetSessionId(), s.GetNodeId()))
		}
		return names
	})
}

// ofCluster offers names from the state of the cluster.
func (c *Completer) ofCluster(cmd *cobra.Command, prefix string, names func(*domtapv1.GetClusterResponse) []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.request(cmd, func(ctx context.Context, client *Client) ([]cobra.Completion, error) {
		now, err := domtapv1.NewClusterServiceClient(client.Conn).GetCluster(ctx, new(domtapv1.GetClusterRequest))
		all := names(now)
		return slices.DeleteFunc(all, func(name cobra.Completion) bool { return !strings.HasPrefix(name, prefix) }), err
	})
}

// SessionFlag defines the flag --session.
func (c *Completer) SessionFlag(cmd *cobra.Command, session *string, usage string) {
	cmd.Flags().StringVarP(session, "session", "s", "", usage)
	BindEnv(cmd.Flags(), "session")
	// The only possible error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("session", func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.CompleteSessions(cmd, nil, prefix)
	})
}

// CompleteRoutes offers the names of the routes of a session, with their patterns.
func (c *Completer) CompleteRoutes(session *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.request(cmd, func(ctx context.Context, client *Client) ([]cobra.Completion, error) {
			answer, err := domtapv1.NewNetworkServiceClient(client.Conn).ListRoutes(ctx, &domtapv1.ListRoutesRequest{SessionId: *session})
			var found []cobra.Completion
			for _, r := range answer.GetRoutes() {
				if strings.HasPrefix(r.GetId(), prefix) {
					found = append(found, cobra.CompletionWithDesc(r.GetId(), render.Cell(r.GetUrlPattern(), 50)))
				}
			}
			return found, err
		})
	}
}
