package intercept

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
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/metering"
	"github.com/domtap/domtap/internal/server/rpc/preauth"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// ReadMethods holds the methods that the read right allows. They return pages and lists, and change nothing except the scroll position. All
// other methods require all rights.
var ReadMethods = map[string]bool{
	domtapv1.TabService_ListTabs_FullMethodName:             true,
	domtapv1.TabService_GetTab_FullMethodName:               true,
	domtapv1.TabService_WatchTabs_FullMethodName:            true,
	domtapv1.DomService_GetDom_FullMethodName:               true,
	domtapv1.DomService_GetCompact_FullMethodName:           true,
	domtapv1.DomService_Find_FullMethodName:                 true,
	domtapv1.DomService_WatchDom_FullMethodName:             true,
	domtapv1.DomService_WaitFor_FullMethodName:              true,
	domtapv1.PageService_ReadPage_FullMethodName:            true,
	domtapv1.PageService_Screenshot_FullMethodName:          true,
	domtapv1.PageService_Pdf_FullMethodName:                 true,
	domtapv1.PageService_Extract_FullMethodName:             true,
	domtapv1.PageService_ReadLog_FullMethodName:             true,
	domtapv1.PageService_Audit_FullMethodName:               true,
	domtapv1.PageService_RecordVideo_FullMethodName:         true,
	domtapv1.SessionService_ListSessions_FullMethodName:     true,
	domtapv1.SessionService_ListDownloads_FullMethodName:    true,
	domtapv1.ContextService_PruneTranscript_FullMethodName:  true,
	domtapv1.ContextService_CountTokens_FullMethodName:      true,
	domtapv1.ContextService_GetHistory_FullMethodName:       true,
	domtapv1.StatsService_GetStats_FullMethodName:           true,
	domtapv1.ToolService_ListTools_FullMethodName:           true,
	domtapv1.ToolService_WatchTools_FullMethodName:          true,
	domtapv1.NetworkService_ListRoutes_FullMethodName:       true,
	domtapv1.TimelineService_GetTimeline_FullMethodName:     true,
	domtapv1.TimelineService_WatchTimeline_FullMethodName:   true,
	domtapv1.TimelineService_ListPauses_FullMethodName:      true,
	domtapv1.RecordingService_ListRecordings_FullMethodName: true,
	domtapv1.ReplayService_GetReplay_FullMethodName:         true,
	// Search is missing because it costs the operator money.
	domtapv1.SearchService_ListSearchProviders_FullMethodName: true,

	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      true,
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": true,
}

// Operators holds the methods that no named client may call, whatever its rights. They show and change the state of all clients.
var Operators = map[string]bool{
	domtapv1.ClusterService_GetCluster_FullMethodName:  true,
	domtapv1.ClusterService_DrainNode_FullMethodName:   true,
	domtapv1.ClusterService_MoveSession_FullMethodName: true,

	domtapv1.DaemonService_StartLivePage_FullMethodName: true,
	domtapv1.DaemonService_StopLivePage_FullMethodName:  true,
}

// public holds the methods that need no credentials.
var public = map[string]bool{
	healthv1.Health_Check_FullMethodName: true, healthv1.Health_Watch_FullMethodName: true, healthv1.Health_List_FullMethodName: true,
}

// access authorizes calls, and rewrites names in answers and errors to the names that the caller knows.
type access struct {
	clients *identity.Clients
}

// grant returns the caller's grant. If there is one, the connection is admitted (package door).
func (a access) grant(ctx context.Context) (identity.Grant, error) {
	granted, err := a.authenticate(ctx)
	if p, ok := peer.FromContext(ctx); ok && err == nil {
		preauth.MarkAuthenticated(p.Addr)
	}
	return granted, err
}

// authenticate returns the caller's grant. It uses the principal that another node has authenticated, the operator's rights for a unix
// socket, or a token, a certificate, or both. For forwarded calls, the other node ends the call when it revokes the grant.
func (a access) authenticate(ctx context.Context) (identity.Grant, error) {
	if who, ok := identity.Forwarded(ctx); ok {
		return identity.Grant{Principal: who, While: context.Background()}, nil
	}
	p, _ := peer.FromContext(ctx)
	if p != nil && connections.Trusted(p.Addr) {
		return identity.Grant{Principal: identity.Operator(), While: context.Background()}, nil
	}
	certified, hasCert := a.certified(p)
	token, err := auth.AuthFromMD(ctx, "bearer")
	if err != nil {
		if hasCert && certified.While != nil {
			return certified, nil
		}
		return identity.Grant{}, unauthenticated()
	}
	granted, ok := a.clients.ByToken(token)
	if !ok || hasCert && !granted.Principal.IsOperator() && certified.Principal.Name() != granted.Principal.Name() {
		return identity.Grant{}, unauthenticated()
	}
	return granted, nil
}

// certified returns the grant of the connection's certificate. presented reports whether there is a certificate.
func (a access) certified(p *peer.Peer) (granted identity.Grant, presented bool) {
	if p == nil {
		return granted, false
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return granted, false
	}
	granted, _ = a.clients.ByCertificate(info.State.VerifiedChains[0][0])
	return granted, true
}

func unauthenticated() error {
	return rpcstatus.New(codes.Unauthenticated, "the call has no valid bearer token: send the metadata "+
		`"authorization: Bearer TOKEN" with the token that "domtap token" prints, or use the unix socket`,
		rpcstatus.Info("TOKEN", nil))
}

// begin admits a call of a method. The context of the call ends when the grant is revoked. The caller must pass the error of the call
// through end.
func (a access) begin(ctx context.Context, method string) (in context.Context, end func(error) error, err error) {
	granted, err := a.grant(ctx)
	if err != nil {
		return nil, nil, err
	}
	who := granted.Principal
	if err := permit(who, method); err != nil {
		return nil, nil, err
	}
	metering.FromContext(ctx).SetCaller(who)
	logClient(ctx, who)
	ctx, cancel := context.WithCancelCause(identity.With(ctx, who))
	stop := context.AfterFunc(granted.While, func() { cancel(context.Cause(granted.While)) })
	return ctx, func(err error) error {
		stop()
		revoked := errors.Is(context.Cause(ctx), identity.ErrRevoked)
		cancel(nil)
		if err != nil && revoked {
			return rpcstatus.New(codes.Unauthenticated, "the token was revoked during the call: ask the operator for another token",
				rpcstatus.Info("TOKEN", nil))
		}
		return outwardError(err, who)
	}, nil
}

// permit returns an error if a principal may not call a method.
func permit(who identity.Principal, method string) error {
	switch {
	case who.Rights() < identity.All && !ReadMethods[method]:
		return rpcstatus.New(codes.PermissionDenied,
			"the token may only read: ask the operator for one with all rights (domtap token new NAME --rights all)",
			rpcstatus.Info("RIGHTS", map[string]string{"rights": who.Rights().String()}))
	case !who.IsOperator() && Operators[method]:
		return rpcstatus.New(codes.PermissionDenied,
			"only the operator of the daemon may call this: use the daemon's own token (domtap token), or its unix socket",
			rpcstatus.Info("OPERATOR", nil))
	}
	return nil
}

// unary admits a call and rewrites the names in its answer.
func (a access) unary(ctx context.Context, req any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if public[call.FullMethod] {
		return handler(ctx, req)
	}
	ctx, end, err := a.begin(ctx, call.FullMethod)
	if err != nil {
		return nil, err
	}
	resp, err := handler(ctx, req)
	if err = end(err); err != nil {
		return nil, err
	}
	toClientNames(ctx, resp)
	return resp, nil
}

// stream admits a streaming call.
func (a access) stream(srv any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if public[call.FullMethod] {
		return handler(srv, stream)
	}
	ctx, end, err := a.begin(stream.Context(), call.FullMethod)
	if err != nil {
		return err
	}
	return end(handler(srv, accessStream{stream, ctx}))
}

// accessStream is the stream of an admitted call.
type accessStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns a context with the principal. It ends when the grant is revoked.
func (s accessStream) Context() context.Context { return s.ctx }

// SendMsg sends a message with the names that the caller knows.
func (s accessStream) SendMsg(m any) error {
	toClientNames(s.ctx, m)
	return s.ServerStream.SendMsg(m)
}

func toClientNames(ctx context.Context, m any) {
	if message, ok := m.(proto.Message); ok {
		authz.ToClientNames(message, identity.From(ctx))
	}
}

// outwardError rewrites the names in an error to those that the caller knows.
func outwardError(err error, who identity.Principal) error {
	if err == nil || who.Prefix() == "" {
		return err
	}
	s := status.Convert(err).Proto()
	s.Message = authz.ToClientNamesInText(s.GetMessage(), who)
	return status.FromProto(s).Err()
}
