// Package daemon implements DaemonService, which starts and stops the daemon's live page.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package daemon

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/connections"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
)

// LivePage controls the live page of a daemon.
type LivePage interface {
	// Start serves the page on an address and returns the page's URL. An empty address selects the default address. If the page is already
	// served, it keeps its address, and started is false.
	Start(ctx context.Context, address string) (url string, started bool, err error)
	// Stop stops serving the page. It reports whether the page was served.
	Stop(ctx context.Context) (stopped bool, err error)
}

// ErrNotLoopback is the error of LivePage for an address that other machines can reach.
var ErrNotLoopback = errors.New("the live page is served on loopback only: use an address such as 127.0.0.1:7412, and ssh -L to view it from another machine")

// Service implements DaemonService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedDaemonServiceServer
	// LivePage is the page that the service starts and stops. If nil, the daemon has no live page.
	LivePage LivePage
}

// StartLivePage serves the live page.
func (s *Service) StartLivePage(ctx context.Context, r *domtapv1.StartLivePageRequest) (*domtapv1.StartLivePageResponse, error) {
	if err := s.operated(ctx); err != nil {
		return nil, err
	}
	url, started, err := s.LivePage.Start(ctx, r.GetAddress())
	if err != nil {
		return nil, livePageError(err)
	}
	return &domtapv1.StartLivePageResponse{Url: url, Started: started}, nil
}

// StopLivePage stops serving the live page.
func (s *Service) StopLivePage(ctx context.Context, _ *domtapv1.StopLivePageRequest) (*domtapv1.StopLivePageResponse, error) {
	if err := s.operated(ctx); err != nil {
		return nil, err
	}
	stopped, err := s.LivePage.Stop(ctx)
	if err != nil {
		return nil, livePageError(err)
	}
	return &domtapv1.StopLivePageResponse{Stopped: stopped}, nil
}

// operated returns an error unless the call arrived over a unix socket and the daemon has a live page. Calls of the page itself are refused
// because a page that stops its own server would wait for its own call.
func (s *Service) operated(ctx context.Context) error {
	p, _ := peer.FromContext(ctx)
	if p == nil || !connections.Trusted(p.Addr) {
		return rpcstatus.New(codes.PermissionDenied, "this call works only over the daemon's unix socket: run it on the daemon's machine",
			rpcstatus.Info("SOCKET", nil))
	}
	if s.LivePage == nil {
		return livePageError(errors.New("this daemon has no live page"))
	}
	return nil
}

func livePageError(err error) error {
	code := codes.FailedPrecondition
	if errors.Is(err, ErrNotLoopback) {
		code = codes.InvalidArgument
	}
	return rpcstatus.New(code, err.Error(), rpcstatus.Info("LIVE_PAGE", nil))
}
