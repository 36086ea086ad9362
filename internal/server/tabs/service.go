// Package tabs implements TabService: opening, listing, navigating, watching and closing tabs, and answering their dialogs.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package tabs

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/deadline"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/server/tabview/outcome"
	"github.com/domtap/domtap/internal/server/tabview/reading"
)

// Service implements TabService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedTabServiceServer
	// DaemonID identifies this daemon to clients that call several daemons. Node is the name of this node of a cluster, or empty.
	DaemonID string
	Node     string
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Reader reads tabs at moments of recordings.
	Reader *reading.Reader
	// Streams serves WatchTabs.
	Streams *streaming.Streams
}

// OpenTab opens a tab.
func (s *Service) OpenTab(ctx context.Context, r *domtapv1.OpenTabRequest) (*domtapv1.OpenTabResponse, error) {
	bounded, cancel := within(ctx, r.GetTimeout())
	defer cancel()
	size := r.GetViewport()
	tab, err := s.Access.Open(bounded, tabpool.OpenOptions{
		URL:      r.GetUrl(),
		Session:  r.GetSessionId(),
		Viewport: dom.Box{Width: float64(size.GetWidth()), Height: float64(size.GetHeight())},
		Wait:     waitOf(r.GetWaitUntil()),
		Restore:  r.GetRestore(),
		TakeOver: r.GetTakeOver(),
	})
	var known *apierr.Error
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &known) {
		return nil, rpcstatus.New(codes.DeadlineExceeded, err.Error()) // there is no tab whose status could be attached
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // the caller is gone and would not learn the tab's ID
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), deadline.CloseGrace)
		defer cancel()
		return nil, errors.Join(err, s.Access.CloseTab(closing, tab.ID()))
	}
	return &domtapv1.OpenTabResponse{Tab: messages.Tab(tab.Info())}, nil
}

// ListTabs lists the tabs.
func (s *Service) ListTabs(ctx context.Context, r *domtapv1.ListTabsRequest) (*domtapv1.ListTabsResponse, error) {
	tabs, err := s.Access.Tabs(ctx, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	resp := &domtapv1.ListTabsResponse{DaemonId: s.DaemonID, NodeId: s.Node}
	if r.GetOthers() {
		others, err := s.Access.Others(ctx)
		if err != nil {
			return nil, err
		}
		resp.Others = messages.OtherTabs(others)
	}
	for _, tab := range tabs {
		info, err := s.Reader.InfoAt(ctx, tab, r.GetAt())
		switch {
		case apierr.Is(err, apierr.NotFound): // the tab was not open at that time
		case err != nil:
			return nil, err
		default:
			resp.Tabs = append(resp.Tabs, messages.Tab(info))
		}
	}
	return resp, nil
}

// GetTab describes a tab.
func (s *Service) GetTab(ctx context.Context, r *domtapv1.GetTabRequest) (*domtapv1.GetTabResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	info, err := s.Reader.InfoAt(ctx, tab, r.GetAt())
	if err != nil {
		return nil, err
	}
	return &domtapv1.GetTabResponse{Tab: messages.Tab(info)}, nil
}

// CloseTab closes a tab.
func (s *Service) CloseTab(ctx context.Context, r *domtapv1.CloseTabRequest) (*domtapv1.CloseTabResponse, error) {
	if err := s.Access.CloseTab(ctx, r.GetTabId()); err != nil {
		return nil, err
	}
	return new(domtapv1.CloseTabResponse), nil
}

// SetRestore sets whether a tab is restored after its renderer or browser is lost.
func (s *Service) SetRestore(ctx context.Context, r *domtapv1.SetRestoreRequest) (*domtapv1.SetRestoreResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	return &domtapv1.SetRestoreResponse{Tab: messages.Tab(tab.SetRestore(r.GetRestore()))}, nil
}

// Navigate loads a URL.
func (s *Service) Navigate(ctx context.Context, r *domtapv1.NavigateRequest) (*domtapv1.NavigateResponse, error) {
	tab, noticed, err := s.load(ctx, r, func(t *actor.Tab, ctx context.Context, wait actor.Wait) (actor.Info, error) {
		return t.Navigate(ctx, r.GetUrl(), wait)
	})
	if err != nil {
		return nil, err
	}
	return &domtapv1.NavigateResponse{Tab: tab, Outcome: noticed}, nil
}

// GoBack goes one history entry back.
func (s *Service) GoBack(ctx context.Context, r *domtapv1.GoBackRequest) (*domtapv1.GoBackResponse, error) {
	tab, noticed, err := s.load(ctx, r, (*actor.Tab).Back)
	if err != nil {
		return nil, err
	}
	return &domtapv1.GoBackResponse{Tab: tab, Outcome: noticed}, nil
}

// GoForward goes one history entry forward.
func (s *Service) GoForward(ctx context.Context, r *domtapv1.GoForwardRequest) (*domtapv1.GoForwardResponse, error) {
	tab, noticed, err := s.load(ctx, r, (*actor.Tab).Forward)
	if err != nil {
		return nil, err
	}
	return &domtapv1.GoForwardResponse{Tab: tab, Outcome: noticed}, nil
}

// Reload loads the current document again.
func (s *Service) Reload(ctx context.Context, r *domtapv1.ReloadRequest) (*domtapv1.ReloadResponse, error) {
	tab, noticed, err := s.load(ctx, r, (*actor.Tab).Reload)
	if err != nil {
		return nil, err
	}
	return &domtapv1.ReloadResponse{Tab: tab, Outcome: noticed}, nil
}

// navigation is implemented by the requests that load a document.
type navigation interface {
	GetTabId() string
	GetWaitUntil() domtapv1.WaitUntil
	GetTimeout() *durationpb.Duration
}

// load runs one navigation of a tab within its timeout. It also returns the visible outcomes of the navigation.
func (s *Service) load(ctx context.Context, r navigation,
	start func(*actor.Tab, context.Context, actor.Wait) (actor.Info, error),
) (*domtapv1.Tab, []*domtapv1.Outcome, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := within(ctx, r.GetTimeout())
	defer cancel()
	before := tab.Head().Notices().Last()
	info, err := start(tab, ctx, waitOf(r.GetWaitUntil()))
	if err != nil {
		return nil, nil, err
	}
	return messages.Tab(info), outcome.Of(tab.Head().Notices().Since(before)), nil
}

// within limits ctx by the timeout of a request, if set.
func within(ctx context.Context, timeout *durationpb.Duration) (context.Context, context.CancelFunc) {
	if timeout == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout.AsDuration())
}

// WatchTabs streams the events of tabs.
func (s *Service) WatchTabs(r *domtapv1.WatchTabsRequest, stream grpc.ServerStreamingServer[domtapv1.WatchTabsResponse]) error {
	watch, err := s.Access.Watch(stream.Context(), r.GetSessionId())
	if err != nil {
		return err
	}
	defer watch.Stop()
	out := s.Streams.Sender(stream)
	return out.Run(func() error {
		if err := out.Accept(); err != nil {
			return err
		}
		for {
			event, err := watch.Next(stream.Context())
			if err != nil {
				return err
			}
			if err := out.Send(eventMessage(event)); err != nil {
				return err
			}
		}
	})
}

// AnswerDialog answers the open dialog.
func (s *Service) AnswerDialog(ctx context.Context, r *domtapv1.AnswerDialogRequest) (*domtapv1.AnswerDialogResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	answered, err := tab.AnswerDialog(ctx, driver.DialogAnswer{ID: r.GetDialogId(), Accept: r.GetAccept(), Text: r.PromptText})
	if err != nil {
		return nil, err
	}
	return &domtapv1.AnswerDialogResponse{Dialog: messages.Dialog(&answered), Tab: messages.Tab(tab.Info())}, nil
}
