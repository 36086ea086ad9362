package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
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

// services registers gRPC services as HTTP handlers. It implements grpc.ServiceRegistrar.
type services struct {
	server *Server
	mux    *http.ServeMux
	stats  stats.Handler
	unary  []grpc.UnaryServerInterceptor
	stream []grpc.StreamServerInterceptor
}

// RegisterService adds handlers for the methods of a service. It skips methods with client streaming, which HTTP/1.1 and browsers do not
// support.
func (s *services) RegisterService(desc *grpc.ServiceDesc, service any) {
	path := "/" + desc.ServiceName + "/"
	for _, method := range desc.Methods {
		if !s.serves(desc.ServiceName, method.MethodName) {
			continue
		}
		s.mux.Handle(path+method.MethodName, s.server.timed(connect.NewUnaryHandler(
			path+method.MethodName, s.unaryCall(path+method.MethodName, method.Handler, service), s.options()...)))
	}
	for _, method := range desc.Streams {
		if method.ClientStreams || !s.serves(desc.ServiceName, method.StreamName) {
			continue
		}
		s.mux.Handle(path+method.StreamName, s.server.timed(connect.NewServerStreamHandler(
			path+method.StreamName, s.streamCall(path+method.StreamName, method, service), s.options()...)))
	}
	s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
		guard.Refuse(w, http.StatusNotFound, "unimplemented", desc.ServiceName+" has no such method here: docs/web.md and the protos list the methods, and --web serves all of them")
	})
}

// serves reports whether a method is configured to be served.
func (s *services) serves(service, method string) bool {
	only := s.server.cfg.Methods
	return len(only) == 0 || slices.Contains(only, service[strings.LastIndexByte(service, '.')+1:]+"/"+method)
}

// options returns the options of every method.
func (s *services) options() []connect.HandlerOption {
	return []connect.HandlerOption{
		connect.WithCodec(jsonCodec{"json"}),
		connect.WithCodec(jsonCodec{"json; charset=utf-8"}),
		connect.WithCodec(protoCodec{}),
		connect.WithReadMaxBytes(s.server.cfg.MaxRequest),
		connect.WithSendMaxBytes(s.server.cfg.MaxAnswer),
		// Most clients are on this machine, where compression takes longer than sending.
		connect.WithCompressMinBytes(s.server.cfg.MaxAnswer),
		connect.WithRequestGate(s.authenticate),
	}
}

// authenticate checks the token before a message is read. Refused requests do not appear in the log of calls.
func (s *services) authenticate(ctx context.Context, spec connect.Spec, from connect.Peer, header http.Header) (context.Context, error) {
	ctx = withCall(ctx, header)
	err := s.server.calls.Authorize(ctx)
	if err != nil {
		s.server.cfg.Logger.WarnContext(ctx, "refused a call without a valid token", "method", spec.Procedure, "peer", from.Addr)
	}
	return ctx, connectError(err)
}

// withCall adds the peer and the metadata to a context, as gRPC's own server does.
func withCall(ctx context.Context, header http.Header) context.Context {
	if c, ok := ctx.Value(connectionKey{}).(net.Conn); ok {
		from := &peer.Peer{Addr: c.RemoteAddr(), LocalAddr: c.LocalAddr()}
		if secure, ok := c.(*tls.Conn); ok { // the handshake is complete because there is a request
			from.AuthInfo = credentials.TLSInfo{
				State: secure.ConnectionState(), CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
			}
		}
		ctx = peer.NewContext(ctx, from)
	}
	md := metadata.MD{}
	for _, name := range []string{"Authorization", "Domtap-Client-Id"} {
		md.Append(name, header.Values(name)...)
	}
	return metadata.NewIncomingContext(ctx, md)
}

// account reports the events of one call, as gRPC's own server does.
type account struct {
	ctx   context.Context
	to    stats.Handler
	began time.Time
}

// begin starts the account of a call and adds it to the context.
func (s *services) begin(ctx context.Context, method string, streams bool) *account {
	a := &account{ctx: s.stats.TagRPC(ctx, &stats.RPCTagInfo{FullMethodName: method}), to: s.stats, began: time.Now()}
	a.to.HandleRPC(a.ctx, &stats.Begin{BeginTime: a.began, IsServerStream: streams})
	return a
}

// asked reports the decoded request.
func (a *account) asked(message any, size int) {
	a.to.HandleRPC(a.ctx, &stats.InPayload{Payload: message, Length: size, RecvTime: time.Now()})
}

// answered reports a message that was sent.
func (a *account) answered(message any, size int) {
	a.to.HandleRPC(a.ctx, &stats.OutPayload{Payload: message, Length: size, WireLength: size, SentTime: time.Now()})
}

// end reports the end of the call.
func (a *account) end(err error) {
	a.to.HandleRPC(a.ctx, &stats.End{BeginTime: a.began, EndTime: time.Now(), Error: err})
}

// unaryCall returns a connect handler for a gRPC method.
func (s *services) unaryCall(name string, method grpc.MethodHandler, service any) func(context.Context, *connect.Request[request]) (*connect.Response[answer], error) {
	chain := chainUnary(s.unary)
	return func(ctx context.Context, r *connect.Request[request]) (*connect.Response[answer], error) {
		clearReadDeadline(ctx)
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

// chainUnary chains interceptors.
func chainUnary(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		for i := len(all) - 1; i >= 0; i-- {
			around, next := all[i], handler
			handler = func(ctx context.Context, req any) (any, error) { return around(ctx, req, info, next) }
		}
		return handler(ctx, req)
	}
}

// streamCall returns a connect handler for a streaming gRPC method.
func (s *services) streamCall(name string, method grpc.StreamDesc, service any) func(context.Context, *connect.Request[request], *connect.ServerStream[answer]) error {
	info := &grpc.StreamServerInfo{FullMethod: name, IsServerStream: true}
	handler := method.Handler
	for i := len(s.stream) - 1; i >= 0; i-- {
		around, next := s.stream[i], handler
		handler = func(srv any, stream grpc.ServerStream) error { return around(srv, stream, info, next) }
	}
	return func(ctx context.Context, r *connect.Request[request], to *connect.ServerStream[answer]) error {
		clearReadDeadline(ctx)
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
	// sending is held while a message is sent. A send may outlive the handler, which gives up on slow readers.
	sending sync.Mutex
	closed  bool
}

// close aborts a send in progress and waits for it. The answer must not be written to afterwards.
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

// SendMsg sends a message. It returns when the connection has accepted it.
func (s *stream) SendMsg(m any) error {
	return s.sent(func() error {
		return s.to.Send(&answer{message: m, encoded: func(size int) { s.told.answered(m, size) }})
	})
}

// sent runs one send at a time, each with a deadline, until the stream is closed.
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

// RecvMsg returns the request on the first call, and io.EOF afterwards.
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

// Context returns the context of the call.
func (s *stream) Context() context.Context { return s.ctx }

// SetHeader does nothing, because no call of domtap returns header metadata.
func (s *stream) SetHeader(metadata.MD) error { return nil }

// SendHeader sends the headers of the protocol.
func (s *stream) SendHeader(metadata.MD) error {
	return s.sent(func() error { return s.to.Send(nil) })
}

// SetTrailer does nothing, because no call of domtap returns trailer metadata.
func (s *stream) SetTrailer(metadata.MD) {}

// connectError converts a gRPC error to one of connect, with its code, message and details.
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
		if detail, err := connect.NewErrorDetail(any); err == nil { // cannot fail: any is already an Any
			e.AddDetail(detail)
		}
	}
	return e
}

// deadlineKey is the context key of a call's deadline.
type deadlineKey struct{}

// deadline limits the time for the request to arrive, and for each write of the answer.
type deadline struct {
	control *http.ResponseController
	limit   time.Duration
}

func deadlineOf(ctx context.Context) *deadline {
	d, _ := ctx.Value(deadlineKey{}).(*deadline)
	return d
}

// extend sets the deadline of the next write.
func (d *deadline) extend() { _ = d.control.SetWriteDeadline(time.Now().Add(d.limit)) }

// cut aborts a write in progress. The connection is unusable afterwards.
func (d *deadline) cut() { _ = d.control.SetWriteDeadline(time.Unix(1, 0)) }

// timed adds a deadline for the request and for each write of the answer.
func (s *Server) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := &deadline{control: http.NewResponseController(w), limit: s.cfg.SendTimeout}
		_ = d.control.SetReadDeadline(time.Now().Add(bodyTimeout)) // fails if deadlines are not supported, as in tests
		next.ServeHTTP(answering{w, d}, r.WithContext(context.WithValue(r.Context(), deadlineKey{}, d)))
	})
}

// clearReadDeadline removes the read deadline when the request has arrived. After that, reads only detect that the client has disconnected.
func clearReadDeadline(ctx context.Context) {
	if d := deadlineOf(ctx); d != nil {
		_ = d.control.SetReadDeadline(time.Time{})
	}
}

// answering sets a deadline before each write.
type answering struct {
	http.ResponseWriter
	deadline *deadline
}

// Write writes to the client.
func (a answering) Write(p []byte) (int, error) {
	a.deadline.extend()
	return a.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, which streams need.
func (a answering) Flush() { _ = a.deadline.control.Flush() }

// Unwrap returns the wrapped writer, for http.ResponseController.
func (a answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }
