package endpoint

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"
)

const (
	// changePause is the minimum time between two changes of the node.
	changePause = time.Second
	// lookupLimit limits the time for looking up the names of nodes.
	lookupLimit = 2 * time.Second
	// pingAfter and pingTimeout detect a node that hangs or that the network lost silently. Their sum is the longest time without any data
	// from it. gRPC does not send pings more often. The server allows a ping every 5 s.
	pingAfter   = 10 * time.Second
	pingTimeout = 5 * time.Second
)

// nodes holds the addresses of a cluster. gRPC connects to the first node that answers, and to another one when that connection is lost or
// silent. A node that is cut off from the cluster still answers, with an error that reports it. nodes then moves that node to the end of
// the list.
type nodes struct {
	resolver *manual.Resolver

	mu      sync.Mutex
	all     []resolver.Endpoint
	changed time.Time
}

func newNodes(addresses []string) *nodes {
	n := &nodes{resolver: manual.NewBuilderWithScheme(clusterScheme)}
	for _, address := range addresses {
		host, _, _ := net.SplitHostPort(address) // Parse has validated the address
		n.all = append(n.all, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address, ServerName: host}}})
	}
	n.resolver.InitialState(resolver.State{Endpoints: n.all})
	return n
}

// options returns the options of a connection that uses the nodes.
func (n *nodes) options() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithResolvers(n.resolver), grpc.WithChainUnaryInterceptor(n.unary), grpc.WithChainStreamInterceptor(n.stream),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingTimeout, PermitWithoutStream: true}),
	}
}

// unary makes a call. If the node was cut off, it switches to another node.
func (n *nodes) unary(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	var at peer.Peer
	err := invoke(ctx, method, request, answer, conn, append(slices.Clip(o), grpc.Peer(&at))...)
	n.heard(ctx, err, at.Addr)
	return err
}

// stream is like unary for a stream.
func (n *nodes) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := open(ctx, desc, conn, method, o...)
	if err != nil {
		return nil, err
	}
	return &nodeStream{s, n}, nil
}

// nodeStream is a stream from a node.
type nodeStream struct {
	grpc.ClientStream
	nodes *nodes
}

// RecvMsg receives a message.
func (s *nodeStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil {
		if at, ok := peer.FromContext(s.Context()); ok {
			s.nodes.heard(s.Context(), err, at.Addr)
		}
	}
	return err
}

// heard handles the end of a call to the node at an address.
func (n *nodes) heard(ctx context.Context, err error, at net.Addr) {
	if err == nil || at == nil || !cutOff(err) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.changed) < changePause {
		return
	}
	i := slices.IndexFunc(n.all, func(e resolver.Endpoint) bool { return isAt(ctx, e.Addresses[0].Addr, at.String()) })
	if i < 0 {
		return
	}
	last := n.all[i]
	others := slices.Delete(slices.Clone(n.all), i, i+1)
	n.all, n.changed = append(slices.Clip(others), last), time.Now()
	// gRPC keeps a connection to an address while it is in the list. After its removal, existing streams continue, and new calls use other
	// nodes.
	n.resolver.UpdateState(resolver.State{Endpoints: others})
	n.resolver.UpdateState(resolver.State{Endpoints: n.all})
}

// cutOff reports whether an error means that a node was cut off from its cluster.
func cutOff(err error) bool {
	s, ok := status.FromError(err)
	if !ok || s.Code() != codes.Unavailable {
		return false
	}
	return slices.ContainsFunc(s.Details(), func(detail any) bool {
		info, ok := detail.(*errdetails.ErrorInfo)
		return ok && (info.GetReason() == "FENCED" || info.GetReason() == "REGISTRY_UNAVAILABLE")
	})
}

// isAt reports whether an address, whose host may be a name, is the address of a connection.
func isAt(ctx context.Context, address, connected string) bool {
	host, port, err := net.SplitHostPort(address)
	ip, number, failed := net.SplitHostPort(connected)
	switch {
	case err != nil || failed != nil || port != number:
		return false
	case host == ip:
		return true
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupLimit)
	defer cancel()
	all, _ := net.DefaultResolver.LookupHost(ctx, host)
	return slices.Contains(all, ip)
}
