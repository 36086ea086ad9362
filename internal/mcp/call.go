package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/client"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/tools"
)

// malformed returns a protocol error for invalid parameters.
func malformed(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// call runs a tool.
func (s *Server) call(ctx context.Context, t *tools.Tool, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	raw, err := arguments(r)
	if err != nil {
		return nil, err
	}
	one, err := s.session(r.Session)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(one.lives, cancel)()
	stop := s.progress(ctx, t.Name, r)
	ctx = client.WithClientID(ctx, one.state.ClientID)
	c := &tools.Call{Arguments: raw, Daemon: s.daemon, Session: one.state}
	if err := s.ready(ctx); err != nil {
		c.Fail(&tools.Input{Err: fmt.Errorf("the daemon does not start: %w", err)})
	} else if err := t.Run(ctx, c); err != nil {
		c.Fail(err)
	}
	stop()
	return answer(c), nil
}

// answer converts a call to its result: text and screenshots.
func answer(c *tools.Call) *mcp.CallToolResult {
	result := &mcp.CallToolResult{IsError: c.Failed}
	if text := c.Text(); text != "" || len(c.Images) == 0 {
		result.Content = append(result.Content, &mcp.TextContent{Text: text})
	}
	for _, image := range c.Images {
		result.Content = append(result.Content, &mcp.ImageContent{Data: image.Data, MIMEType: image.MIMEType})
	}
	return result
}

// ready starts the daemon if it is not running.
func (s *Server) ready(ctx context.Context) error {
	if s.options.Ensure != nil {
		if err := s.options.Ensure(ctx); err != nil {
			return err
		}
	}
	s.tabs.follow()
	return nil
}

// running reports whether the daemon is running.
func (s *Server) running(ctx context.Context) bool {
	return s.options.Running == nil || s.options.Running(ctx)
}

// tick is the interval of progress notifications.
const tick = time.Second

// progress notifies a host that requested it how many seconds a call has been running, immediately and then every second. stop ends the
// notifications and waits for the last one, so that none follows the answer.
func (s *Server) progress(ctx context.Context, tool string, r *mcp.CallToolRequest) (stop func()) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	s.work.Go(func() {
		defer close(done)
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for seconds := 0; ; seconds++ {
			message := tool + ": begun"
			if seconds > 0 {
				message = fmt.Sprintf("%s: %d s", tool, seconds)
			}
			err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(seconds), Message: message})
			if err != nil {
				return // the host has disconnected, or the call has ended
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		<-done
	}
}

// closeLimit limits how long the daemon may take to close the tabs of a session.
const closeLimit = 5 * time.Second

// closeTabs closes the tabs that a session opened. Errors are only logged.
func (s *Server) closeTabs(ids []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.lives), closeLimit)
	defer cancel()
	var failed []error
	for _, id := range ids {
		if _, err := s.daemon.Tabs.CloseTab(ctx, &domtapv1.CloseTabRequest{TabId: id}); err != nil {
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		s.options.Logger.Info("some tabs of a session that ended were not closed", "error", err)
	}
}
