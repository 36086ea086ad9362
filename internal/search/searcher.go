package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// timeLimit limits the time of a provider. It is shorter than the default deadline of calls, so that the error names the provider as the
// cause.
const timeLimit = 15 * time.Second

// counts lists the numbers of results that are requested from providers. Queries that differ only in their number of results can therefore
// share an answer.
var counts = [...]int{10, 20, MaxCount}

// Request is a caller's search.
type Request struct {
	Query string
	Kind  Kind
	// Limit is the maximum number of results, from 1 to MaxCount.
	Limit int
	// Provider is the name of the provider to use. If empty, the first provider that supports the kind is used.
	Provider string
	// MaxAge limits the age of a cached answer. It is at most MaxAge of this package. If 0, the cache is not used.
	MaxAge time.Duration
	// Owner identifies the caller. Cached answers are reused only for the same owner.
	Owner string
}

// Answer contains the results for a Request. The results are shared and must not be modified.
type Answer struct {
	Results  []Result
	Provider string
	Kind     Kind
	// Age is the age of a cached answer. Zero means that the provider was called for this Request.
	Age time.Duration
}

// Searcher queries providers and caches their answers. It is safe for concurrent use and starts no goroutines. A nil Searcher has no
// providers.
type Searcher struct {
	providers []Provider
	cache     *cache
}

// New returns a Searcher with providers in order of preference. It returns nil without providers.
func New(providers ...Provider) *Searcher {
	if len(providers) == 0 {
		return nil
	}
	return &Searcher{providers, newCache()}
}

// Providers returns the providers in order of preference.
func (s *Searcher) Providers() []Provider {
	if s == nil {
		return nil
	}
	return s.providers
}

// Search answers a request from the cache, or queries one provider. Errors are of type *Error, or the cause of the end of ctx. If the
// provider fails, Search does not try another one, because its price may differ.
func (s *Searcher) Search(ctx context.Context, r Request) (Answer, error) {
	p, err := s.choose(r.Provider, r.Kind)
	if err != nil {
		return Answer{}, err
	}
	text := strings.Join(strings.Fields(r.Query), " ")
	answer := Answer{Provider: p.Name(), Kind: r.Kind}
	for _, count := range counts {
		if count < r.Limit {
			continue
		}
		found, age, ok := s.cache.get(cacheKey{r.Owner, p.Name(), text, r.Kind, count}, r.MaxAge)
		if ok {
			answer.Results, answer.Age = found[:min(len(found), r.Limit)], age
			return answer, nil
		}
	}
	found, err := ask(ctx, p, Query{Text: text, Kind: r.Kind, Count: rounded(r.Limit)})
	if err != nil {
		return Answer{}, err
	}
	s.cache.put(cacheKey{r.Owner, p.Name(), text, r.Kind, rounded(r.Limit)}, found)
	answer.Results = found[:min(len(found), r.Limit)]
	return answer, nil
}

// rounded returns the number of results to request.
func rounded(limit int) int {
	for _, count := range counts {
		if limit <= count {
			return count
		}
	}
	return MaxCount
}

// ask queries a provider with a time limit.
func ask(ctx context.Context, p Provider, q Query) ([]Result, error) {
	limited, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	found, err := p.Search(limited, q)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("search: %s did not answer: %w", p.Name(), ctx.Err())
	case limited.Err() != nil:
		return nil, &Error{Kind: Timeout, Provider: p.Name(), Message: fmt.Sprintf("no answer within %v: try again, or use another provider", timeLimit)}
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return nil, known
	}
	return nil, &Error{Kind: Unavailable, Provider: p.Name(), Message: "it could not be asked: try again later"}
}

// choose returns the named provider if it supports a kind of query. If name is empty, it returns the first provider that supports the kind.
func (s *Searcher) choose(name string, kind Kind) (Provider, error) {
	if s == nil {
		return nil, &Error{Kind: Off, Message: "the daemon has no search provider: start it with domtap serve --search-provider NAME and --search-key-file FILE or --search-url URL (docs/search.md)"}
	}
	var names []string
	for _, p := range s.providers {
		names = append(names, p.Name())
		if name != "" && p.Name() != name {
			continue
		}
		if Has(p, kind) {
			return p, nil
		}
		if name != "" {
			return nil, &Error{Kind: NoSuchKind, Provider: name, Message: fmt.Sprintf("it does not search for %s, but for %s", kind, joined(p.Kinds()))}
		}
	}
	if name != "" {
		return nil, &Error{Kind: NoSuchProvider, Message: fmt.Sprintf("the daemon has no search provider %q, but %s", Line(name), strings.Join(names, ", "))}
	}
	return nil, &Error{Kind: NoSuchKind, Message: fmt.Sprintf("no search provider of the daemon searches for %s: it has %s, which search for %s", kind, strings.Join(names, ", "), joined(s.Kinds()))}
}

// Kinds returns the supported kinds.
func (s *Searcher) Kinds() []Kind {
	var some []Kind
	for _, kind := range Kinds {
		for _, p := range s.Providers() {
			if Has(p, kind) {
				some = append(some, kind)
				break
			}
		}
	}
	return some
}
