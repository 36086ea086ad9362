package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview"
	"github.com/domtap/domtap/internal/server/tabview/wire"
)

// errMoved is the error of a call that reached a node without the call's tab or session. Clients never receive it.
var errMoved = status.Error(codes.Aborted, "another node has it: this is a bug in domtap, please report it")

// unreachableError is the error of a call to a node that does not answer.
type unreachableError struct {
	node Node
	// unsent reports that the node has not received the call. begun reports that the client has received a part of the answer.
	unsent, begun bool
	cause         error
}

// repeatable reports whether the call may be repeated at another node.
func (l *unreachableError) repeatable(m *method) bool { return l.unsent || m.reads && !l.begun }

// Error returns a text for logs.
func (l *unreachableError) Error() string {
	return fmt.Sprintf("node %s does not answer: %v", l.node.ID, l.cause)
}

// retryAfter is the retry delay in the error that clients receive when a node is lost.
const retryAfter = 2 * time.Second

// status returns the client's error.
func (l *unreachableError) status(m *method) error {
	next := "the call may have had its effect: read the page before you repeat it"
	switch {
	case l.begun:
		next = "start the stream again; WatchDom continues from the last revision that you applied"
	case m.class == managed || m.class == byNode:
		next = "the call may have had its effect: GetCluster returns the current state"
	case l.repeatable(m):
		next = "try again in a few seconds; ListTabs lists the tabs of the remaining nodes"
	}
	return rpcstatus.New(codes.Unavailable, fmt.Sprintf("node %s does not answer: %s", l.node.ID, next),
		rpcstatus.Info("NODE_UNAVAILABLE", map[string]string{"node": l.node.ID}),
		&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
}

// outgoing returns the context of a call to another node.
func (p *Proxy) outgoing(ctx context.Context, info forwarded) context.Context {
	info.who = identity.From(ctx)
	info.origin = connections.Origin{Node: p.process, Number: connections.OriginOf(ctx).Number}
	return metadata.NewOutgoingContext(ctx, info.metadata(ctx, p.cfg.Credentials.Token))
}

// invoke passes a call on to another node and returns its answer undecoded.
func (p *Proxy) invoke(ctx context.Context, m *method, node Node, request proto.Message, final bool) (*wire.Frame, error) {
	answer := &wire.Frame{Kind: m.output}
	if err := p.call(ctx, m, node, request, answer, forwarded{final: final}); err != nil {
		return nil, err
	}
	return answer, nil
}

// call makes a unary call to another node.
func (p *Proxy) call(ctx context.Context, m *method, node Node, request proto.Message, answer any, info forwarded) error {
	p.passedOn.Add(1)
	conn, done, err := p.nodes.to(node)
	if err != nil {
		return p.failed(ctx, &unreachableError{node: node, unsent: true, cause: err})
	}
	defer done()
	var trailer metadata.MD
	var at peer.Peer // stays empty when there is no connection
	err = conn.Invoke(p.outgoing(ctx, info), m.name, request, answer, grpc.Trailer(&trailer), grpc.Peer(&at))
	if err != nil {
		return p.classify(ctx, err, trailer, &unreachableError{node: node, unsent: at.Addr == nil, cause: err})
	}
	return nil
}

// classify distinguishes errors of the other node, which clients receive unchanged, from errors of the connection to it, for which it
// returns unreachable.
func (p *Proxy) classify(ctx context.Context, err error, trailer metadata.MD, unreachable *unreachableError) error {
	if one(trailer, movedKey) == set {
		return errMoved
	}
	if one(trailer, servedKey) == set {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch status.Code(err) {
	case codes.Unavailable, codes.Canceled, codes.Unauthenticated:
		return p.failed(ctx, unreachable)
	}
	return err // such as a message that is too large
}

// failed counts and logs a node that does not answer.
func (p *Proxy) failed(ctx context.Context, l *unreachableError) error {
	p.lost.Add(1)
	p.cfg.Logger.WarnContext(ctx, "a node does not answer", "node", l.node.ID, "address", l.node.Address, "error", l.cause)
	return l
}

// errHere means that this node's handler serves a stream.
var errHere = errors.New("this node serves the stream")

// Stream passes a stream on, or lets the handler serve it. No method streams from the client. The handler first reads the request, and that
// read determines where to pass the stream on.
func (p *Proxy) Stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	m := p.methods[info.FullMethod]
	if m == nil {
		return handler(srv, stream)
	}
	s := &routedStream{ServerStream: stream, proxy: p, method: m}
	err := handler(srv, s)
	if s.release != nil {
		s.release()
	}
	if s.done != nil {
		s.done(stream.Context())
	}
	if s.elsewhere {
		return s.err
	}
	if s.others != nil {
		if failed := s.others.end(); failed != nil {
			return failed
		}
		return err
	}
	if s.request != nil && mayRetry(m, s.about, err) && !s.begun {
		return s.retry(err)
	}
	return err
}

// routedStream is a stream that is passed on, if necessary, when the handler reads its request.
type routedStream struct {
	grpc.ServerStream
	proxy  *Proxy
	method *method
	// routed reports that the request was read. elsewhere reports that another node served the stream, and err is its result.
	routed, elsewhere bool
	err               error
	// request and about are set for a stream of one of this node's clients. begun reports that this node has started its answer.
	request proto.Message
	about   subject
	begun   bool
	// mergedStream adds the messages of other nodes to the stream. It is nil if there are none.
	others *mergedStream
	// copied is the copy of another node's tab from which this node serves the stream, or nil.
	copied  tabview.Source
	release func()
	// done is called at the end of a stream that this node serves; see Config.Begin.
	done func(context.Context)
}

// Context returns the context of the stream. It also ends when another node of the stream fails.
func (s *routedStream) Context() context.Context {
	switch {
	case s.others != nil:
		return s.others.ctx
	case s.copied != nil:
		return tabview.WithSource(s.ServerStream.Context(), s.copied)
	}
	return s.ServerStream.Context()
}

// SendHeader sends the headers of the answer. The handler does so before its first message.
func (s *routedStream) SendHeader(md metadata.MD) error {
	s.begun = true
	if s.others != nil {
		defer s.others.start()
	}
	return s.ServerStream.SendHeader(md)
}

// SendMsg sends a message of this node.
func (s *routedStream) SendMsg(m any) error {
	s.begun = true
	if s.others != nil {
		return s.others.send(m)
	}
	return s.ServerStream.SendMsg(m)
}

// errElsewhere ends the handler of a stream that another node has served.
var errElsewhere = errors.New("another node has served the stream")

// RecvMsg receives the request. It returns errElsewhere at the end of a stream that another node has served.
func (s *routedStream) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil || s.routed {
		return err
	}
	s.routed = true
	err := s.route(m.(proto.Message))
	if errors.Is(err, errHere) {
		return s.begin(m.(proto.Message))
	}
	s.elsewhere, s.err = true, err
	return errElsewhere
}

// begin calls Config.Begin for a stream that this node serves.
func (s *routedStream) begin(request proto.Message) (err error) {
	p, ctx := s.proxy, s.ServerStream.Context()
	about := p.subjectOf(ctx, s.method, request)
	if p.cfg.Begin == nil || s.copied != nil || about == (subject{}) {
		return nil
	}
	s.done, err = p.cfg.Begin(about.tab, about.session, true)
	return err
}

// route passes a stream on and returns when the stream has ended. It returns errHere if this node serves the stream.
func (s *routedStream) route(request proto.Message) (err error) {
	p, m, ctx := s.proxy, s.method, s.ServerStream.Context()
	about := p.subjectOf(ctx, m, request)
	if from, ok := forwardedCall(ctx); ok {
		switch err := p.serves(ctx, about, from); {
		case errors.Is(err, errMoved):
			s.SetTrailer(movedTrailer)
			return errMoved
		case err != nil:
			return err
		}
		return errHere
	}
	if m.class == everywhere && about == (subject{}) {
		if s.others, err = p.follow(s.ServerStream, m, request); err != nil {
			return err
		}
		return errHere
	}
	s.request, s.about = request, about
	out := p.streams.Sender(s.ServerStream)
	return out.Run(func() error {
		return p.route(ctx, m, about, func() error { return errHere }, func(node Node, final bool) error {
			if s.open(ctx, about, node) {
				return errHere
			}
			return p.relay(ctx, m, node, request, final, out)
		})
	})
}

// open opens a copy of the tab to serve the stream from. It returns false if the stream must be passed on.
func (s *routedStream) open(ctx context.Context, about subject, owner Node) bool {
	copies := s.proxy.cfg.Copies
	if copies == nil || s.method.name != domtapv1.DomService_WatchDom_FullMethodName {
		return false
	}
	copied, release, err := copies.Open(ctx, about.tab, owner)
	if err != nil {
		s.proxy.cfg.Logger.DebugContext(ctx, "a watch is passed on", "tab", about.tab, "node", owner.ID, "error", err)
		return false
	}
	s.copied, s.release = copied, release
	return true
}

// retry passes on a stream that this node could not serve, if the Directory's latest state names another node.
func (s *routedStream) retry(err error) error {
	p, m, ctx := s.proxy, s.method, s.ServerStream.Context()
	out := p.streams.Sender(s.ServerStream)
	return out.Run(func() error {
		node, lookup := p.owner(ctx, m, s.about, Latest)
		if lookup != nil || node.Self {
			return err
		}
		return clientError(ctx, m, node, p.relay(ctx, m, node, s.request, true, out))
	})
}

// relay passes a stream on to another node and forwards its messages undecoded.
func (p *Proxy) relay(ctx context.Context, m *method, node Node, request proto.Message, final bool, out *streaming.Sender) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.running.Go(func() { p.end(ctx, cancel) })
	from, done, err := p.open(ctx, m, node, request, forwarded{final: final})
	if err != nil {
		return streamError(ctx, err)
	}
	defer done()
	header, err := from.Header()
	if err == nil && header != nil { // the answer has started, even if no message follows for a long time
		metering.FromContext(ctx).ServedElsewhere() // before the first byte, because that counts the call
		if err := out.Accept(); err != nil {
			return err
		}
	}
	for {
		message := &wire.Frame{Kind: m.output}
		if err := from.RecvMsg(message); err != nil {
			return streamError(ctx, p.ended(ctx, node, from, err, header != nil))
		}
		if err := out.Send(message); err != nil {
			return err
		}
	}
}

// errLeaving ends the streams that were passed on when this node is about to stop. Clients receive the error that leaves returns.
var errLeaving = errors.New("this node of the cluster stops")

// streamError returns the client's error for a stream: UNAVAILABLE if errLeaving has ended it, and err otherwise. The status is not created
// when the program starts, because error details would cost every command 40 KB.
func streamError(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errLeaving) {
		return rpcstatus.New(codes.Unavailable, "this node of the cluster is stopping: continue on another node", rpcstatus.Info("NODE_UNAVAILABLE", nil))
	}
	return err
}

// open starts a stream from another node. The caller must call done when the stream has ended.
func (p *Proxy) open(ctx context.Context, m *method, node Node, request proto.Message, info forwarded) (stream grpc.ClientStream, done func(), err error) {
	p.passedOn.Add(1)
	conn, done, err := p.nodes.to(node)
	if err != nil {
		return nil, nil, p.failed(ctx, &unreachableError{node: node, unsent: true, cause: err})
	}
	stream, err = conn.NewStream(p.outgoing(ctx, info), &grpc.StreamDesc{ServerStreams: true}, m.name)
	if err == nil {
		err = errors.Join(stream.SendMsg(request), stream.CloseSend())
	}
	if err != nil && !errors.Is(err, io.EOF) { // RecvMsg returns the error of a stream that has already ended
		done()
		return nil, nil, p.classify(ctx, err, nil, &unreachableError{node: node, unsent: stream == nil, cause: err})
	}
	return stream, done, nil
}

// ended returns the result of another node's stream: nil if the stream ended with OK.
func (p *Proxy) ended(ctx context.Context, node Node, from grpc.ClientStream, err error, begun bool) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return p.classify(ctx, err, from.Trailer(), &unreachableError{node: node, begun: begun, cause: err})
}
