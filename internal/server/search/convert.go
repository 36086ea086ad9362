package search

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/messages"
)

// The defaults of a SearchRequest.
const (
	searchLimit = 10
	searchAge   = 10 * time.Minute
)

// searchKinds maps kinds of results to their values in the API.
var searchKinds = map[search.Kind]domtapv1.SearchKind{
	search.Web: domtapv1.SearchKind_SEARCH_KIND_WEB, search.News: domtapv1.SearchKind_SEARCH_KIND_NEWS, search.Images: domtapv1.SearchKind_SEARCH_KIND_IMAGES,
	search.Places: domtapv1.SearchKind_SEARCH_KIND_PLACES, search.Shopping: domtapv1.SearchKind_SEARCH_KIND_SHOPPING,
}

// requestOf converts a valid request of an owner.
func requestOf(r *domtapv1.SearchRequest, owner string) search.Request {
	into := search.Request{Query: r.GetQuery(), Kind: search.Web, Limit: searchLimit, Provider: r.GetProvider(), MaxAge: searchAge, Owner: owner}
	for kind, wanted := range searchKinds {
		if wanted == r.GetKind() {
			into.Kind = kind
		}
	}
	if r.Limit != nil {
		into.Limit = int(r.GetLimit())
	}
	if r.GetMaxAge() != nil {
		into.MaxAge = r.GetMaxAge().AsDuration()
	}
	return into
}

// answerMessage converts an answer and its text.
func answerMessage(a search.Answer, text search.Text, tokenizer string) *domtapv1.SearchResponse {
	out := &domtapv1.SearchResponse{
		Text: text.Text, Provider: a.Provider, Kind: searchKinds[a.Kind], Age: durationpb.New(a.Age),
		Shown: int32(text.Shown), Tokens: int32(text.Tokens), Tokenizer: tokenizer, Signals: searchSignals(a.Results),
	}
	for i := range a.Results {
		out.Results = append(out.Results, searchResult(&a.Results[i]))
	}
	return out
}

func searchResult(r *search.Result) *domtapv1.SearchResult {
	return &domtapv1.SearchResult{
		Title: r.Title, Url: r.URL, Host: r.Host, Text: r.Text, Date: r.Date, Day: r.Day, Source: r.Source,
		ImageUrl: r.ImageURL, ImageWidth: int32(r.ImageWidth), ImageHeight: int32(r.ImageHeight),
		Price: r.Price, Rating: r.Rating, Ratings: int32(r.Ratings), Address: r.Address, Phone: r.Phone,
	}
}

// searchSignals finds suspected prompt injections in results, and counts the affected results.
func searchSignals(results []search.Result) []*domtapv1.Signal {
	counts := map[string]int{}
	var kinds []string
	for i := range results {
		found := injection.Scan(results[i].Title) | injection.Scan(results[i].Text)
		for _, kind := range found.Names() {
			if counts[kind]++; counts[kind] == 1 {
				kinds = append(kinds, kind)
			}
		}
	}
	var all []injection.Signal
	for _, kind := range kinds {
		all = append(all, injection.Signal{Kind: kind, Ref: dom.NoRef, Where: "text", Count: counts[kind]})
	}
	return messages.Signals(all)
}

// providersMessage converts the list of providers.
func providersMessage(all []search.Provider) *domtapv1.ListSearchProvidersResponse {
	out := new(domtapv1.ListSearchProvidersResponse)
	for _, p := range all {
		one := &domtapv1.SearchProvider{Name: p.Name()}
		for _, kind := range p.Kinds() {
			one.Kinds = append(one.Kinds, searchKinds[kind])
		}
		out.Providers = append(out.Providers, one)
	}
	return out
}
