package peers

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/connections"
	"github.com/domtap/domtap/internal/server/identity"
)

// Metadata between nodes. Nodes drop what clients send under these names.
const (
	ownPrefix = "domtap-node-"
	// callerKey and rightsKey are the name and the rights of the client that makes the call.
	callerKey = ownPrefix + "caller"
	rightsKey = ownPrefix + "rights"
	// originKey is the process that the client is connected to, a slash, and the number of the connection.
	originKey = ownPrefix + "origin"
	// finalKey is set when the receiver must serve the call, also if it thinks that another node should.
	finalKey = ownPrefix + "final"
	// partKey is set when the answer becomes a part of a list of what all nodes have.
	partKey = ownPrefix + "part"

	// servedKey is set in the trailers of every call that a Server has admitted; without it, an error comes from the
	// way to the node. movedKey is set when another node should have got the call.
	servedKey = ownPrefix + "served"
	movedKey  = ownPrefix + "moved"

	tokenKey    = "authorization"
	tokenPrefix = "Bearer "
	set         = "1"
)

var movedTrailer = metadata.Pairs(movedKey, set)

// passed is what one node tells another about a call that it passes on.
type passed struct {
	who    identity.Principal
	origin connections.Origin
	// final and part are what finalKey and partKey say.
	final, part bool
}

// metadata returns the metadata for the other node: what the client sent, apart from credentials, and what is said
// about the call.
func (p passed) metadata(ctx context.Context, token string) metadata.MD {
	sent, _ := metadata.FromIncomingContext(ctx)
	out := passable(sent)
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

// passable returns the metadata of a call that mean something to all nodes, such as the context of a trace.
func passable(all metadata.MD) metadata.MD {
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

var errNotPassed = errors.New("the metadata do not say who makes the call: are the nodes of the same version?")

// parsePassed reads what another node says about a call.
func parsePassed(md metadata.MD) (p passed, err error) {
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

// isPart reports whether the answer of a call becomes a part of a list.
func isPart(md metadata.MD) bool { return one(md, partKey) != "" }

// one returns the value under a name; empty: there is none, or more than one.
func one(md metadata.MD, name string) string {
	if values := md.Get(name); len(values) == 1 {
		return values[0]
	}
	return ""
}

type passedKey struct{}

// context returns the context of the call on the node that got it.
func (p passed) context(ctx context.Context, md metadata.MD) context.Context {
	ctx = metadata.NewIncomingContext(ctx, passable(md))
	ctx = identity.WithForwarded(ctx, p.who)
	ctx = connections.WithOrigin(ctx, p.origin)
	if p.part {
		ctx = authz.AsPart(ctx)
	}
	return context.WithValue(ctx, passedKey{}, p)
}

// passedOf returns what another node said about the call; false: no node has passed it on.
func passedOf(ctx context.Context) (passed, bool) {
	p, ok := ctx.Value(passedKey{}).(passed)
	return p, ok
}
