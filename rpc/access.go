package rpc

import (
	"context"
	"errors"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/accounting"
	"github.com/domtap/domtap/rpc/gate"
	"github.com/domtap/domtap/rpc/identity"
	"github.com/domtap/domtap/rpc/rpcstatus"
)

// readable are the methods that the right to read allows: they show pages and lists, and change nothing but what is in
// view. A method that is not in here needs all rights.
var readable = map[string]bool{
	domtapv1.TabService_ListTabs_FullMethodName:            true,
	domtapv1.TabService_GetTab_FullMethodName:              true,
	domtapv1.TabService_WatchTabs_FullMethodName:           true,
	domtapv1.DomService_GetDom_FullMethodName:              true,
	domtapv1.DomService_GetCompact_FullMethodName:          true,
	domtapv1.DomService_WatchDom_FullMethodName:            true,
	domtapv1.DomService_WaitFor_FullMethodName:             true,
	domtapv1.PageService_ReadPage_FullMethodName:           true,
	domtapv1.PageService_Screenshot_FullMethodName:         true,
	domtapv1.PageService_Pdf_FullMethodName:                true,
	domtapv1.PageService_Extract_FullMethodName:            true,
	domtapv1.PageService_ReadLog_FullMethodName:            true,
	domtapv1.SessionService_ListSessions_FullMethodName:    true,
	domtapv1.SessionService_ListDownloads_FullMethodName:   true,
	domtapv1.ContextService_PruneTranscript_FullMethodName: true,
	domtapv1.ContextService_CountTokens_FullMethodName:     true,
	domtapv1.ContextService_GetHistory_FullMethodName:      true,
	domtapv1.StatsService_GetStats_FullMethodName:          true,

	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      true,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": true,
}

// open are the methods that anybody may call.
var open = map[string]bool{
	healthv1.Health_Check_FullMethodName: true, healthv1.Health_Watch_FullMethodName: true, healthv1.Health_List_FullMethodName: true,
}

// grant finds out who calls: the operator over a unix socket, or who has a token, a certificate, or both.
func (s *Server) grant(ctx context.Context) (identity.Grant, error) {
	p, _ := peer.FromContext(ctx)
	if p != nil && trusted(p.Addr) {
		return identity.Grant{Principal: identity.Operator(), While: context.Background()}, nil
	}
	certified, hasCert := s.certified(p)
	token, err := auth.AuthFromMD(ctx, "bearer")
	if err != nil {
		if hasCert && certified.While != nil {
			return certified, nil
		}
		return identity.Grant{}, unauthenticated()
	}
	granted, ok := s.clients.ByToken(token)
	if !ok || hasCert && !granted.Principal.IsOperator() && certified.Principal.Name() != granted.Principal.Name() {
		return identity.Grant{}, unauthenticated()
	}
	return granted, nil
}

// certified is what the certificate of a connection grants; presented, whether there is one.
func (s *Server) certified(p *peer.Peer) (granted identity.Grant, presented bool) {
	if p == nil {
		return granted, false
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return granted, false
	}
	granted, _ = s.clients.ByCertificate(info.State.VerifiedChains[0][0])
	return granted, true
}

func unauthenticated() error {
	return rpcstatus.New(codes.Unauthenticated, "the call has no valid bearer token: send the metadata "+
		`"authorization: Bearer TOKEN" with the token that "domtap token" prints, or use the unix socket`,
		rpcstatus.Info("TOKEN", nil))
}

// authorize lets a call pass whose caller may call at all.
func (s *Server) authorize(ctx context.Context) (context.Context, error) {
	granted, err := s.grant(ctx)
	if err != nil {
		return nil, err
	}
	return identity.With(ctx, granted.Principal), nil
}

// enter lets a call of a method pass for as long as its caller may make it. What leave does is owed when it has ended.
func (s *Server) enter(ctx context.Context, method string) (in context.Context, leave func(error) error, err error) {
	granted, err := s.grant(ctx)
	if err != nil {
		return nil, nil, err
	}
	who := granted.Principal
	if who.Rights() < identity.All && !readable[method] {
		return nil, nil, rpcstatus.New(codes.PermissionDenied,
			"the token may only read: ask the operator for one with all rights (domtap token new NAME --rights all)",
			rpcstatus.Info("RIGHTS", map[string]string{"rights": who.Rights().String()}))
	}
	accounting.Of(ctx).By(who)
	named(ctx, who)
	ctx, cancel := context.WithCancelCause(identity.With(ctx, who))
	stop := context.AfterFunc(granted.While, func() { cancel(context.Cause(granted.While)) })
	return ctx, func(err error) error {
		stop()
		revoked := errors.Is(context.Cause(ctx), identity.ErrRevoked)
		cancel(nil)
		if err != nil && revoked {
			return rpcstatus.New(codes.Unauthenticated, "the token was revoked while the call was under way: ask the operator for another",
				rpcstatus.Info("TOKEN", nil))
		}
		return outwardError(err, who)
	}, nil
}

// accessUnary lets calls through whose caller may make them, and has their answers name things as the caller does.
func (s *Server) accessUnary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if open[call.FullMethod] {
		return handler(ctx, req)
	}
	ctx, leave, err := s.enter(ctx, call.FullMethod)
	if err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	if err = leave(err); err != nil {
		return nil, err
	}
	outward(ctx, resp)
	return resp, nil
}

// accessStream does the same for streams.
func (s *Server) accessStream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if open[call.FullMethod] {
		return handler(srv, stream)
	}
	ctx, leave, err := s.enter(stream.Context(), call.FullMethod)
	if err != nil {
		return err
	}
	return leave(handler(srv, accessed{stream, ctx}))
}

// accessed is a stream of somebody who is known.
type accessed struct {
	grpc.ServerStream
	ctx context.Context
}

// Context has the principal, and ends when its right does.
func (s accessed) Context() context.Context { return s.ctx }

// SendMsg names things as the caller does.
func (s accessed) SendMsg(m any) error {
	outward(s.ctx, m)
	return s.ServerStream.SendMsg(m)
}

func outward(ctx context.Context, m any) {
	if message, ok := m.(proto.Message); ok {
		gate.Outward(message, identity.From(ctx))
	}
}

// outwardError has an error name things as the caller does.
func outwardError(err error, who identity.Principal) error {
	if err == nil || who.Prefix() == "" {
		return err
	}
	s := status.Convert(err).Proto()
	s.Message = gate.OutwardText(s.GetMessage(), who)
	return status.FromProto(s).Err()
}
