package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/gateway/guard"
)

// services turns services of grpc into handlers of HTTP. It implements grpc.ServiceRegistrar.
type services struct {
	server *Server
	mux    *http.ServeMux
	stats  stats.Handler
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

// RegisterService makes handlers of the methods of a service. One that streams to the server has none: HTTP/1.1, and
// browsers, cannot do that.
func (s *services) RegisterService(desc *grpc.ServiceDesc, service any) {
	path := "/" + desc.ServiceName + "/"
	for _, method := range desc.Methods {
		s.mux.Handle(path+method.MethodName, s.server.timed(connect.NewUnaryHandler(
			path+method.MethodName, s.unaryCall(path+method.MethodName, method.Handler, service), s.options()...)))
	}
	for _, method := range desc.Streams {
		if method.ClientStreams {
			continue
		}
		s.mux.Handle(path+method.StreamName, s.server.timed(connect.NewServerStreamHandler(
			path+method.StreamName, s.streamCall(path+method.StreamName, method, service), s.options()...)))
	}
	s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		guard.Refuse(w, http.StatusNotFound, "unimplemented", desc.ServiceName+" has no such method; docs/web.md and the protos list them")
	})
}

// options are those of every method.
func (s *services) options() []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
		connect.WithCodec(protoCodec{}),
		connect.WithReadMaxBytes(s.server.cfg.MaxRequest),
		connect.WithSendMaxBytes(s.server.cfg.MaxAnswer),
		// Most clients are on this machine, where compressing takes longer than sending.
		connect.WithCompressMinBytes(s.server.cfg.MaxAnswer),
		connect.WithRequestGate(s.gate),
	}
}

// gate asks for the token before a message is read. The log of calls never sees what it refuses.
func (s *services) gate(ctx context.Context, spec connect.Spec, from connect.Peer, header http.Header) (context.Context, error) {
	ctx = calling(ctx, header)
	err := s.server.calls.Authorize(ctx)
	if err != nil {
		s.server.cfg.Logger.WarnContext(ctx, "refused a call without a valid token", "method", spec.Procedure, "peer", from.Addr)
	}
	return ctx, connectError(err)
}

// calling gives a context what gRPC's own server would: the peer and the metadata.
func calling(ctx context.Context, header http.Header) context.Context {
	if c, ok := ctx.Value(connectionKey{}).(net.Conn); ok {
		from := &peer.Peer{Addr: c.RemoteAddr(), LocalAddr: c.LocalAddr()}
		if secure, ok := c.(*tls.Conn); ok { // its handshake is over: there is a request
			from.AuthInfo = credentials.TLSInfo{
				State: secure.ConnectionState(), CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
			}
		}
		ctx = peer.NewContext(ctx, from)
	}
	md := metadata.MD{}
	for _, value := range header.Values("Authorization") {
		md.Append("authorization", value)
	}
	return metadata.NewIncomingContext(ctx, md)
}

// account tells of one call what gRPC's own server would.
type account struct {
	ctx   context.Context
	to    stats.Handler
	began time.Time
}

// begin begins the account of a call, whose context it marks.
func (s *services) begin(ctx context.Context, method string, streams bool) *account {
	a := &account{ctx: s.stats.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: method}), to: s.stats, began: time.Now()}
	a.to.HandleRPC(a.ctx, &stats.Begin{BeginTime: a.began, IsServerStream: streams})
	return a
}

// asked tells of the request, once it is decoded.
func (a *account) asked(message any, size int) {
	a.to.HandleRPC(a.ctx, &stats.InPayload{Payload: message, Length: size, RecvTime: time.Now()})
}

// answered tells of a message that goes out.
func (a *account) answered(message any, size int) {
	a.to.HandleRPC(a.ctx, &stats.OutPayload{Payload: message, Length: size, WireLength: size, SentTime: time.Now()})
}

// end tells of the end, which comes last.
func (a *account) end(err error) {
	a.to.HandleRPC(a.ctx, &stats.End{BeginTime: a.began, EndTime: time.Now(), Error: err})
}

// unaryCall makes a method of grpc one of connect.
func (s *services) unaryCall(name string, method grpc.MethodHandler, service any) func(context.Context, *connect.Request[request]) (*connect.Response[answer], error) {
	chain := chainUnary(s.unary)
	return func(ctx context.Context, r *connect.Request[request]) (*connect.Response[answer], error) {
		arrived(ctx)
		told := s.begin(ctx, name, false)
		message, err := method(service, told.ctx, func(v any) error {
			if err := r.Msg.into(v); err != nil {
				return err
			}
			told.asked(v, len(r.Msg.data))
			return nil
		}, chain)
		if err != nil {
			told.end(err)
			return nil, connectError(err)
		}
		return connect.NewResponse(&answer{message: message, encoded: func(size int) {
			told.answered(message, size)
			told.end(nil)
		}}), nil
	}
}

// chainUnary makes one interceptor of many.
func chainUnary(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		for i := len(all) - 1; i >= 0; i-- {
			around, next := all[i], handler
			handler = func(ctx context.Context, req any) (any, error) { return around(ctx, req, info, next) }
		}
		return handler(ctx, req)
	}
}

// streamCall does the same for a method that streams.
func (s *services) streamCall(name string, method grpc.StreamDesc, service any) func(context.Context, *connect.Request[request], *connect.ServerStream[answer]) error {
	info := &grpc.StreamServerInfo{FullMethod: name, IsServerStream: true}
	handler := method.Handler
	for i := len(s.stream) - 1; i >= 0; i-- {
		around, next := s.stream[i], handler
		handler = func(srv any, stream grpc.ServerStream) error { return around(srv, stream, info, next) }
	}
	return func(ctx context.Context, r *connect.Request[request], to *connect.ServerStream[answer]) error {
		arrived(ctx)
		ctx, cancel := context.WithCancel(ctx)
		told := s.begin(ctx, name, true)
		st := &stream{ctx: told.ctx, request: r.Msg, to: to, told: told}
		err := handler(service, st)
		cancel()
		st.close()
		told.end(err)
		return connectError(err)
	}
}

// stream is a grpc.ServerStream that sends over HTTP.
type stream struct {
	ctx     context.Context
	request *request
	to      *connect.ServerStream[answer]
	told    *account
	// sending is held while a message is sent: it may outlive the handler, which gives up on slow readers.
	sending sync.Mutex
	closed  bool
}

// close waits for a send that is under way, which it ends. The answer may not be written to any more.
func (s *stream) close() {
	if !s.sending.TryLock() {
		if d := deadlineOf(s.ctx); d != nil {
			d.cut()
		}
		s.sending.Lock()
	}
	s.closed = true
	s.sending.Unlock()
}

// SendMsg sends a message, and returns when the connection has taken it.
func (s *stream) SendMsg(m any) error {
	return s.sent(func() error {
		return s.to.Send(&answer{message: m, encoded: func(size int) { s.told.answered(m, size) }})
	})
}

// sent gives what sends its time, one at a time, until the stream is over.
func (s *stream) sent(send func() error) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.closed || s.ctx.Err() != nil {
		return status.FromContextError(context.Canceled).Err()
	}
	if d := deadlineOf(s.ctx); d != nil {
		d.extend()
	}
	return send()
}

// RecvMsg receives the request, and after it the end.
func (s *stream) RecvMsg(m any) error {
	if s.request == nil {
		return io.EOF
	}
	r := s.request
	s.request = nil
	if err := r.into(m); err != nil {
		return err
	}
	s.told.asked(m, len(r.data))
	return nil
}

// Context is that of the call.
func (s *stream) Context() context.Context { return s.ctx }

// SetHeader does nothing: no call of domtap answers with metadata.
func (s *stream) SetHeader(metadata.MD) error { return nil }

// SendHeader sends the headers of the answer, which are those of the protocol.
func (s *stream) SendHeader(metadata.MD) error {
	return s.sent(func() error { return s.to.Send(nil) })
}

// SetTrailer does nothing, as SetHeader.
func (s *stream) SetTrailer(metadata.MD) {}

// connectError gives an error of grpc to connect, with its code, message and details.
func connectError(err error) error {
	if err == nil {
		return nil
	}
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	if s.Code() == codes.OK {
		return nil
	}
	e := connect.NewError(connect.Code(s.Code()), errors.New(s.Message()))
	for _, any := range s.Proto().GetDetails() {
		if detail, err := connect.NewErrorDetail(any); err == nil { // it is an Any already
			e.AddDetail(detail)
		}
	}
	return e
}

// deadlineKey is where the context of a call keeps its deadline.
type deadlineKey struct{}

// deadline bounds how long the client may keep a request from arriving, or an answer from leaving.
type deadline struct {
	control *http.ResponseController
	limit   time.Duration
}

func deadlineOf(ctx context.Context) *deadline {
	d, _ := ctx.Value(deadlineKey{}).(*deadline)
	return d
}

// extend gives the next write its time.
func (d *deadline) extend() { _ = d.control.SetWriteDeadline(time.Now().Add(d.limit)) }

// cut ends a write that is under way. The connection is of no use after that.
func (d *deadline) cut() { _ = d.control.SetWriteDeadline(time.Unix(1, 0)) }

// timed bounds how long the client of a call may be slow.
func (s *Server) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := &deadline{control: http.NewResponseController(w), limit: s.cfg.SendTimeout}
		_ = d.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // fails where there are none, as in tests
		next.ServeHTTP(answering{w, d}, r.WithContext(context.WithValue(r.Context(), deadlineKey{}, d)))
	})
}

// arrived ends the time limit of the request when it is there: from then on reading only notices that the client is
// gone.
func arrived(ctx context.Context) {
	if d := deadlineOf(ctx); d != nil {
		_ = d.control.SetReadDeadline(time.Time{})
	}
}

// answering gives each write its time.
type answering struct {
	http.ResponseWriter
	deadline *deadline
}

// Write writes to the client.
func (a answering) Write(p []byte) (int, error) {
	a.deadline.extend()
	return a.ResponseWriter.Write(p)
}

// Flush makes it an http.Flusher, which streams need.
func (a answering) Flush() { _ = a.deadline.control.Flush() }

// Unwrap is for http.ResponseController.
func (a answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
