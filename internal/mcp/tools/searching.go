package tools

import (
	"context"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
)

// searchKinds maps the values of kind to the API's values.
var searchKinds = map[string]domtapv1.SearchKind{
	"web":      domtapv1.SearchKind_SEARCH_KIND_WEB,
	"news":     domtapv1.SearchKind_SEARCH_KIND_NEWS,
	"images":   domtapv1.SearchKind_SEARCH_KIND_IMAGES,
	"places":   domtapv1.SearchKind_SEARCH_KIND_PLACES,
	"shopping": domtapv1.SearchKind_SEARCH_KIND_SHOPPING,
}

// searchArgs holds the arguments of browser_search.
type searchArgs struct {
	Query      string      `json:"query"`
	Kind       string      `json:"kind"`
	MaxResults args.Number `json:"max_results"`
	MaxTokens  args.Number `json:"max_tokens"`
}

// searchWeb searches the web. The first line of the daemon's text names the source of the results and becomes a note. The remaining text is
// untrusted.
func searchWeb(ctx context.Context, c *Call) error {
	a, err := read[searchArgs](c)
	if err != nil {
		return err
	}
	if strings.TrimSpace(a.Query) == "" {
		return inputf("query is missing: the words to search for, such as \"go release notes\"")
	}
	kind, known := searchKinds[strings.ToLower(a.Kind)]
	if a.Kind != "" && !known {
		return inputf("kind must be one of %s", strings.Join(args.Names(searchKinds), ", "))
	}
	answer, err := c.Daemon.Search.Search(ctx, &domtapv1.SearchRequest{
		Query: a.Query, Kind: kind, Limit: c.Int32("max_results", a.MaxResults, args.Range{Low: 1, High: 50}),
		MaxTokens: c.Int32("max_tokens", a.MaxTokens, budget),
	})
	if err != nil {
		return err
	}
	head, results, _ := strings.Cut(answer.GetText(), "\n")
	c.addLine("%s", strings.TrimPrefix(head, "# "))
	c.addSignals(answer.GetSignals())
	c.addPageText(results)
	return nil
}
