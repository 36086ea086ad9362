package replay

import (
	"context"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// Unavailable implements ReplayService for a daemon with live tabs.
type Unavailable struct {
	domtapv1.UnimplementedReplayServiceServer
	// Access finds tabs. An unknown tab is reported first, because that is an error the caller can fix.
	Access *authz.Access
}

// Refusal returns the error of a call that only a replaying daemon can answer.
func Refusal() error {
	return rpcstatus.New(codes.FailedPrecondition, "this daemon has live tabs and no recording: replay a recording with domtap replay FILE",
		rpcstatus.Info("NO_REPLAY", nil))
}

// GetReplay returns Refusal.
func (Unavailable) GetReplay(context.Context, *domtapv1.GetReplayRequest) (*domtapv1.GetReplayResponse, error) {
	return nil, Refusal()
}

// Seek returns Refusal, or the error of an unknown tab.
func (a Unavailable) Seek(ctx context.Context, r *domtapv1.SeekRequest) (*domtapv1.SeekResponse, error) {
	if r.GetTabId() != "" {
		if _, err := a.Access.Tab(ctx, r.GetTabId()); err != nil {
			return nil, err
		}
	}
	return nil, Refusal()
}
