package services

import (
	"context"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/convert"
	"github.com/domtap/domtap/internal/server/identity"
	"github.com/domtap/domtap/internal/tokens"
)

// defaultSearch is the default of max_tokens in Search.
const defaultSearch = 1500

type searchService struct {
	domtapv1.UnimplementedSearchServiceServer
	*core
}

// Search searches the web.
func (s *searchService) Search(ctx context.Context, r *domtapv1.SearchRequest) (*domtapv1.SearchResponse, error) {
	answer, err := s.Searcher.Search(ctx, convert.SearchRequest(r, identity.From(ctx).Name()))
	if err != nil {
		return nil, err
	}
	budget := defaultSearch
	if r.MaxTokens != nil {
		budget = int(r.GetMaxTokens())
	}
	return convert.SearchAnswer(answer, search.Print(answer, budget), tokens.Name), nil
}

// ListSearchProviders lists the configured search providers.
func (s *searchService) ListSearchProviders(context.Context, *domtapv1.ListSearchProvidersRequest) (*domtapv1.ListSearchProvidersResponse, error) {
	return convert.SearchProviders(s.Searcher.Providers()), nil
}
