package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/fence"
	"github.com/domtap/domtap/internal/timeline"
)

// readTimeline returns the last entries of a tab's timeline, one line each.
func (s *Server) readTimeline(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, ours := strings.CutSuffix(r.Params.URI, ofTimeline)
	id, named := strings.CutPrefix(id, scheme)
	if !ours || !named || id == "" || !s.running(ctx) {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	answer, err := s.daemon.Timeline.GetTimeline(ctx, &domtapv1.GetTimelineRequest{TabId: id})
	if status.Code(err) == codes.NotFound {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fence.Clean(status.Convert(err).Message())}
	}
	var b strings.Builder
	if answer.GetMore() {
		b.WriteString("-- there are earlier entries\n")
	}
	for _, e := range answer.GetEntries() {
		fmt.Fprintf(&b, "%s %s\n", e.GetTime().AsTime().Format("15:04:05.000"), strings.Join(strings.Fields(timeline.Text(e)), " "))
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: fence.Wrap(b.String())}}}, nil
}
