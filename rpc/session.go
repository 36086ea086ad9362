package rpc

import (
	"cmp"
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/rpc/convert"
)

type sessionService struct {
	domtapv1.UnimplementedSessionServiceServer
	server *Server
}

// ListDownloads lists the downloads of a session.
func (s *sessionService) ListDownloads(_ context.Context, r *domtapv1.ListDownloadsRequest) (*domtapv1.ListDownloadsResponse, error) {
	if err := checkSession(r.GetSessionId()); err != nil {
		return nil, err
	}
	records := s.server.pool.Downloads(cmp.Or(r.GetSessionId(), theSession))
	return &domtapv1.ListDownloadsResponse{Downloads: convert.Downloads(records)}, nil
}
