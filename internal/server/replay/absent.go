package replay

import (
	"context"

	"google.golang.org/grpc/codes"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/authz"
	"github.com/domtap/domtap/internal/server/rpcstatus"
)

// Absent is the ReplayService of a daemon with live tabs.
type Absent struct {
	domtapv1.UnimplementedReplayServiceServer
	// Access finds the tabs, since a tab that is not there is the error that a caller can mend.
	Access *authz.Access
}

// Refusal is the error of a call that only a daemon that replays recordings can answer.
func Refusal() error {
	return rpcstatus.New(codes.FailedPrecondition, "this daemon has live tabs and replays nothing: replay a recording with domtap replay FILE",
		rpcstatus.Info("NO_REPLAY", nil))
}

// GetReplay fails.
func (Absent) GetReplay(context.Context, *domtapv1.GetReplayRequest) (*domtapv1.GetReplayResponse, error) {
	return nil, Refusal()
}

// Seek fails.
func (a Absent) Seek(ctx context.Context, r *domtapv1.SeekRequest) (*domtapv1.SeekResponse, error) {
	if r.GetTabId() != "" {
		if _, err := a.Access.Tab(ctx, r.GetTabId()); err != nil {
			return nil, err
		}
	}
	return nil, Refusal()
}
