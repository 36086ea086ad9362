package tools

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/turn"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/actions"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
)

// defaultTimeout limits a tool if the request has no timeout.
const defaultTimeout = 30 * time.Second

// Service implements ToolService. Its fields must be set.
type Service struct {
	domtapv1.UnimplementedToolServiceServer
	// Access provides the only access to tabs.
	Access *authz.Access
	// Actions performs the calls of tools.
	Actions *actions.Service
	// Streams serves WatchTools.
	Streams *streaming.Streams
}

// ListTools lists the tools of a tab.
func (s *Service) ListTools(ctx context.Context, r *domtapv1.ListToolsRequest) (*domtapv1.ListToolsResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	all, incomplete := messages(tab.Info())
	return &domtapv1.ListToolsResponse{Tools: all, Incomplete: incomplete}, nil
}

// CallTool calls a tool as one turn.
func (s *Service) CallTool(ctx context.Context, r *domtapv1.CallToolRequest) (*domtapv1.CallToolResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	tool, err := find(tab.Info(), r.GetName(), r.GetFrameId())
	if err != nil {
		return nil, err
	}
	input := cmp.Or(r.GetInputJson(), "{}")
	if err := checkInput(tool, input); err != nil {
		return nil, err
	}
	call := &turn.ToolStep{ToolCall: driver.ToolCall{Name: tool.Name, Frame: tool.Frame, Input: input}, Form: tool.Form && !tool.AutoSubmit, Timeout: defaultTimeout}
	if r.Timeout != nil {
		call.Timeout = r.GetTimeout().AsDuration()
	}
	before := tab.Log().Last()
	outcome, observed, err := s.Actions.Perform(ctx, tab, r, "tool", turn.Step{Tool: call})
	if err != nil {
		return nil, err
	}
	result := outcome.Results[0]
	if result.Claim == nil && !errors.Is(result.Err, context.DeadlineExceeded) { // the tool was not called, or its page stopped answering
		return nil, result.Err
	}
	budget := defaultTokens
	if r.MaxTokens != nil {
		budget = int(r.GetMaxTokens())
	}
	answer := &domtapv1.CallToolResponse{Claim: claimOf(result.Claim, budget), Observed: observed, Requests: requestsSince(tab.Log(), before)}
	answer.Agreement = agreement(tool, answer.Claim, effect{
		verdict: observed.GetVerdict(), elements: outcome.ElementsDiffer(), requests: answer.Requests,
	})
	return answer, nil
}

// WatchTools sends the tools of a tab, and again when they change.
func (s *Service) WatchTools(r *domtapv1.WatchToolsRequest, stream domtapv1.ToolService_WatchToolsServer) error {
	tab, err := s.Access.Tab(stream.Context(), r.GetTabId())
	if err != nil {
		return err
	}
	out := s.Streams.Sender(stream)
	return out.Run(func() error {
		head := tab.Head()
		for {
			all, incomplete := messages(head.Info)
			if err := out.Send(&domtapv1.WatchToolsResponse{Tools: all, Incomplete: incomplete}); err != nil {
				return err
			}
			if head, err = otherTools(stream.Context(), tab, head); err != nil {
				return err
			}
		}
	})
}

// otherTools waits until a tab offers other tools than in a head.
func otherTools(ctx context.Context, tab *actor.Tab, shown *actor.Head) (*actor.Head, error) {
	for head := shown; ; head = tab.Head() {
		if head.Info.Tools != shown.Info.Tools {
			return head, nil
		}
		select {
		case <-head.Next():
		case <-tab.Done():
			return nil, cmp.Or(tab.Err(), error(apierr.Errorf(apierr.Closed, "tab %s was closed: open a new tab", tab.ID())))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
