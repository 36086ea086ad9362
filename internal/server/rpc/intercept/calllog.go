package intercept

import (
	"context"
	"log/slog"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/limit"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// callLog logs every call when it ends. It never receives messages, so page content and typed text stay out of the log. It does not log
// error messages, which may quote either.
type callLog struct {
	logger *slog.Logger
}

// report starts the log record of a call.
func (l callLog) report(ctx context.Context, call interceptors.CallMeta) (interceptors.Reporter, context.Context) {
	r := &record{logger: l.logger, ctx: ctx, method: call.FullMethod()}
	return r, context.WithValue(ctx, recordKey{}, r)
}

type recordKey struct{}

// logClient adds the caller to the log record of a call.
func logClient(ctx context.Context, who identity.Principal) {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		r.client = who.Name()
	}
}

// record collects and writes the log record of a call.
type record struct {
	interceptors.NoopReporter
	logger *slog.Logger
	ctx    context.Context
	method string
	// client is the name of the caller. It is empty until the caller is known.
	client string
}

// PostCall writes the record.
func (r *record) PostCall(err error, took time.Duration) {
	code := status.Code(err)
	level := callLevel(code)
	if rpcstatus.Limit(err) == limit.Calls { // a client that exceeds its rate must not fill the log
		level = slog.LevelDebug
	}
	if !r.logger.Enabled(r.ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", r.method),
		slog.String("code", code.String()),
		slog.Duration("took", took),
		slog.String("peer", connections.PeerName(r.ctx)),
	}
	if r.client != "" {
		attrs = append(attrs, slog.String("client", r.client))
	}
	if reason := rpcstatus.Reason(err); reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	r.logger.LogAttrs(r.ctx, level, "call", attrs...)
}

// callLevel returns the log level for a status code. Only codes that need an operator's attention get a high level.
func callLevel(code codes.Code) slog.Level {
	switch code {
	case codes.OK:
		return slog.LevelDebug
	case codes.Internal, codes.Unknown, codes.DataLoss:
		return slog.LevelError
	case codes.Unavailable, codes.ResourceExhausted, codes.Unauthenticated:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
