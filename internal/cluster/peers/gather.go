package peers

import (
	"context"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/sessions"
)

// nodeAnswer is one node's answer to a call about all nodes.
type nodeAnswer struct {
	node   Node
	answer proto.Message
	err    error
}

// gather calls all nodes concurrently and merges their answers in the order of the nodes. The merged answer names the nodes that fail or do
// not answer in time. The call fails only if this node's own part fails.
func (p *Proxy) gather(ctx context.Context, m *method, request proto.Message, handler grpc.UnaryHandler) (any, error) {
	nodes := p.order(ctx, m)
	parts := make([]nodeAnswer, len(nodes))
	bounded, cancel := p.withPartialDeadline(ctx)
	defer cancel()
	var asked sync.WaitGroup
	for i, node := range nodes {
		parts[i].node = node
		info := forwarded{part: true, final: true}
		asked.Go(func() {
			parts[i].answer, parts[i].err = p.ask(ctx, bounded, m, node, request, handler, info)
		})
	}
	asked.Wait()
	for _, one := range parts {
		if one.node.Self && one.err != nil {
			return nil, one.err
		}
	}
	return merge(m, parts), nil
}

// ask requests one node's part, with ctx from this node and with bounded from another node.
func (p *Proxy) ask(ctx, bounded context.Context, m *method, node Node, request proto.Message, handler grpc.UnaryHandler, info forwarded) (proto.Message, error) {
	if !node.Self {
		answer := m.output.New().Interface()
		return answer, p.call(metering.WithoutRecord(bounded), m, node, request, answer, info)
	}
	answer, err := handler(authz.ForOneNode(ctx), request)
	if err != nil {
		return nil, err
	}
	return answer.(proto.Message), nil
}

// withPartialDeadline limits the time for other nodes, so that some time remains to return the parts that arrived.
func (p *Proxy) withPartialDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); !ok {
		return context.WithTimeout(ctx, p.cfg.PartTimeout)
	}
	return deadline.Reserve(ctx)
}

// order returns the nodes to call, including this one. A caller's list of sessions starts with the default session, so the node that has it
// comes first. A list call creates no session. In a cluster, the default session is created on first use.
func (p *Proxy) order(ctx context.Context, m *method) []Node {
	nodes := slices.Clone(p.cfg.Directory.Nodes())
	if !slices.ContainsFunc(nodes, func(n Node) bool { return n.Self }) { // this node is joining or leaving
		nodes = append(nodes, Node{Self: true})
	}
	if m.name != domtapv1.SessionService_ListSessions_FullMethodName {
		return nodes
	}
	standard, err := p.find(ctx, subject{session: identity.From(ctx).SessionName(sessions.Default)}, Cached)
	if err != nil {
		return nodes
	}
	if i := slices.IndexFunc(nodes, func(n Node) bool { return n == standard || n.Self && standard.Self }); i >= 0 {
		first := nodes[i]
		nodes = append([]Node{first}, slices.Delete(nodes, i, i+1)...)
	}
	return nodes
}
