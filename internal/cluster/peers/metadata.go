package peers

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
)

// Metadata keys between nodes. Nodes drop entries that clients send under these names.
const (
	ownPrefix = "domtap-node-"
	// callerKey and rightsKey are the name and the rights of the client that makes the call.
	callerKey = ownPrefix + "caller"
	rightsKey = ownPrefix + "rights"
	// originKey is the process to which the client is connected, a slash, and the number of the connection.
	originKey = ownPrefix + "origin"
	// finalKey is set if the receiver must serve the call even if its Directory names another node.
	finalKey = ownPrefix + "final"
	// partKey is set if the answer becomes a part of a list for all nodes.
	partKey = ownPrefix + "part"

	// servedKey is set in the trailers of every call that a Server has admitted. An error without it comes from the connection to the node.
	// movedKey is set if another node should have received the call.
	servedKey = ownPrefix + "served"
	movedKey  = ownPrefix + "moved"

	tokenKey    = "authorization"
	tokenPrefix = "Bearer "
	set         = "1"
)

var movedTrailer = metadata.Pairs(movedKey, set)

// forwarded describes a call to the node that it is passed on to.
type forwarded struct {
	who    identity.Principal
	origin connections.Origin
	// final and part are the values of finalKey and partKey.
	final, part bool
}

// metadata returns the metadata for the other node: the client's metadata without credentials, and the description of the call.
func (p forwarded) metadata(ctx context.Context, token string) metadata.MD {
	sent, _ := metadata.FromIncomingContext(ctx)
	out := forwardable(sent)
	out.Set(tokenKey, tokenPrefix+token)
	out.Set(callerKey, p.who.Name())
	out.Set(rightsKey, p.who.Rights().String())
	out.Set(originKey, p.origin.Node+"/"+strconv.FormatUint(p.origin.Number, 10))
	if p.final {
		out.Set(finalKey, set)
	}
	if p.part {
		out.Set(partKey, set)
	}
	return out
}

// forwardable returns the metadata of a call that are meaningful on all nodes, such as a trace context.
func forwardable(all metadata.MD) metadata.MD {
	out := make(metadata.MD, len(all)+5)
	for name, values := range all {
		switch {
		case name == tokenKey, name == "user-agent", name == "content-type", name == "te":
		case strings.HasPrefix(name, ":"), strings.HasPrefix(name, "grpc-") && name != "grpc-trace-bin":
		case strings.HasPrefix(name, ownPrefix):
		default:
			out[name] = values
		}
	}
	return out
}

var errNotPassed = errors.New("the metadata do not name the caller: run the same version on all nodes")

// parseForwarded reads another node's description of a call.
func parseForwarded(md metadata.MD) (p forwarded, err error) {
	node, number, ok := strings.Cut(one(md, originKey), "/")
	if p.origin.Number, err = strconv.ParseUint(number, 10, 64); err != nil || !ok || node == "" {
		return p, errNotPassed
	}
	p.origin.Node = node
	if p.who, err = identity.ParsePrincipal(one(md, callerKey), one(md, rightsKey)); err != nil {
		return p, errNotPassed
	}
	p.final, p.part = one(md, finalKey) == set, isPart(md)
	return p, nil
}

// isPart reports whether the answer to a call becomes a part of a list.
func isPart(md metadata.MD) bool { return one(md, partKey) != "" }

// one returns the only value under a name. It returns an empty string if there is none or more than one.
func one(md metadata.MD, name string) string {
	if values := md.Get(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

type forwardedKey struct{}

// context returns the context of the call on the node that received it.
func (p forwarded) context(ctx context.Context, md metadata.MD) context.Context {
	ctx = metadata.NewIncomingContext(ctx, forwardable(md))
	ctx = identity.WithForwarded(ctx, p.who)
	ctx = connections.WithOrigin(ctx, p.origin)
	if p.part {
		ctx = authz.ForOneNode(ctx)
	}
	return context.WithValue(ctx, forwardedKey{}, p)
}

// forwardedCall returns another node's description of the call. It returns false if the call was not passed on by a node.
func forwardedCall(ctx context.Context) (forwarded, bool) {
	p, ok := ctx.Value(forwardedKey{}).(forwarded)
	return p, ok
}
