// Package search implements SearchService: search of the web, without a browser.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses.
package search

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/tokens"
)

// Service implements SearchService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedSearchServiceServer
	// Searcher searches the web. If nil, Search has no providers.
	Searcher *search.Searcher
}

// Search searches the web.
func (s *Service) Search(ctx context.Context, r *domtapv1.SearchRequest) (*domtapv1.SearchResponse, error) {
	answer, err := s.Searcher.Search(ctx, requestOf(r, identity.From(ctx).Name()))
	if err != nil {
		return nil, err
	}
	budget := defaultSearch
	if r.MaxTokens != nil {
		budget = int(r.GetMaxTokens())
	}
	return answerMessage(answer, search.Print(answer, budget), tokens.Name), nil
}

// ListSearchProviders lists the configured search providers.
func (s *Service) ListSearchProviders(context.Context, *domtapv1.ListSearchProvidersRequest) (*domtapv1.ListSearchProvidersResponse, error) {
	return providersMessage(s.Searcher.Providers()), nil
}
