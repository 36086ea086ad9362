// Package contexts implements ContextService: what helps a model to keep its context small. It prunes transcripts, counts tokens, and lists
// the pages that a tab has shown.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package contexts

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rules"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/transcript"
)

// Service implements ContextService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedContextServiceServer
	// Access provides the only access to tabs.
	Access *authz.Access
}

// PruneTranscript replaces all but the newest page snapshots in a transcript with placeholders.
func (s *Service) PruneTranscript(_ context.Context, r *domtapv1.PruneTranscriptRequest) (*domtapv1.PruneTranscriptResponse, error) {
	o := transcript.Default()
	if r.Keep != nil {
		o.Keep = int(r.GetKeep())
	}
	o.Tools, o.MinBytes, o.Placeholder = r.GetTools(), int(r.GetMinBytes()), r.GetPlaceholder()
	out, stats, err := transcript.Transcript([]byte(r.GetMessagesJson()), o)
	if err != nil {
		return nil, &rules.Invalid{Violations: []rules.Violation{{Field: "messages_json", Description: err.Error()}}}
	}
	return &domtapv1.PruneTranscriptResponse{MessagesJson: string(out), Stats: &domtapv1.PruneStats{
		BytesBefore: stats.BytesBefore, BytesAfter: stats.BytesAfter, Removed: int32(stats.Removed), Snapshots: int32(stats.Snapshots),
		Messages: int32(stats.Messages), TokensBefore: int32(tokens.Count(r.GetMessagesJson())), TokensAfter: int32(tokens.Count(string(out))),
	}}, nil
}

// CountTokens counts the tokens of a text.
func (s *Service) CountTokens(_ context.Context, r *domtapv1.CountTokensRequest) (*domtapv1.CountTokensResponse, error) {
	return &domtapv1.CountTokensResponse{Tokens: int32(tokens.Count(r.GetText())), Tokenizer: tokens.Name}, nil
}

// GetHistory lists the pages that a tab has shown.
func (s *Service) GetHistory(ctx context.Context, r *domtapv1.GetHistoryRequest) (*domtapv1.GetHistoryResponse, error) {
	tab, err := s.Access.Tab(ctx, r.GetTabId())
	if err != nil {
		return nil, err
	}
	return &domtapv1.GetHistoryResponse{Entries: messages.History(tab.History())}, nil
}
