package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// timeLimit is how long a provider may take. It is shorter than the deadline that calls have by default, so that callers
// learn that it was the provider that took too long.
const timeLimit = 15 * time.Second

// counts are the numbers of results that providers are asked for, so that questions that differ only in their number
// share an answer.
var counts = [...]int{10, 20, MaxCount}

// Request is what a caller searches for.
type Request struct {
	Query string
	Kind  Kind
	// Limit is the most results, 1 to MaxCount.
	Limit int
	// Provider names the provider to ask. Empty: the first one that answers queries of the kind.
	Provider string
	// MaxAge is how old an answer of the cache may be, at most MaxAge of this package. 0: the provider is asked.
	MaxAge time.Duration
	// Owner is whose request it is. An answer of the cache is one that this owner got before.
	Owner string
}

// Answer is the results for a Request. The results are shared, and must not be changed.
type Answer struct {
	Results  []Result
	Provider string
	Kind     Kind
	// Age is how long ago the provider was asked; 0: for this Request.
	Age time.Duration
}

// Searcher asks providers, and keeps their answers for a while. It may be used from any goroutine, and starts none. A nil
// Searcher has no providers.
type Searcher struct {
	providers []Provider
	cache     *cache
}

// New makes a Searcher of providers, the preferred ones first; nil if there are none.
func New(providers ...Provider) *Searcher {
	if len(providers) == 0 {
		return nil
	}
	return &Searcher{providers, newCache()}
}

// Providers returns the providers, the preferred ones first.
func (s *Searcher) Providers() []Provider {
	if s == nil {
		return nil
	}
	return s.providers
}

// Search answers a request from the cache, or by asking one provider. Errors are of type *Error, or the cause of the end
// of ctx. A provider that fails is not replaced by another one, which may cost something else.
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
		found, age, ok := s.cache.get(asked{r.Owner, p.Name(), text, r.Kind, count}, r.MaxAge)
		if ok {
			answer.Results, answer.Age = found[:min(len(found), r.Limit)], age
			return answer, nil
		}
	}
	found, err := ask(ctx, p, Query{Text: text, Kind: r.Kind, Count: rounded(r.Limit)})
	if err != nil {
		return Answer{}, err
	}
	s.cache.put(asked{r.Owner, p.Name(), text, r.Kind, rounded(r.Limit)}, found)
	answer.Results = found[:min(len(found), r.Limit)]
	return answer, nil
}

// rounded returns how many results to ask for.
func rounded(limit int) int {
	for _, count := range counts {
		if limit <= count {
			return count
		}
	}
	return MaxCount
}

// ask asks a provider, in bounded time.
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

// choose returns the provider with a name that answers queries of a kind; for no name, the first one that does.
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

// Kinds returns the kinds that can be searched for.
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
