package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/search"
)

const (
	// searchLimit limits how long one provider may take to answer.
	searchLimit = 20 * time.Second
	// probe is the query sent to the providers. A daemon caches the result for probeAge, so that repeated checks cost few queries.
	probe    = "domtap"
	probeAge = time.Hour
)

// searched is the answer of a provider.
type searched struct {
	provider string
	err      error
}

// checkSearch sends one query to each provider of the running daemon, or of a new daemon.
func checkSearch(ctx context.Context, p *Subject) Finding {
	const check = "search"
	where, all, err := p.searched(ctx)
	switch {
	case err != nil:
		return Finding{check, Fail, err.Error(), "run domtap config to see the settings, and correct them; see docs/search.md"}
	case where == "":
		return Finding{check, OK, "unknown: the daemon does not report its providers", ""}
	case len(all) == 0:
		return Finding{check, OK, "no provider, so domtap search is off; set DOMTAP_SEARCH_PROVIDER to use one", ""}
	}
	var good, bad []string
	for _, one := range all {
		if one.err == nil {
			good = append(good, one.provider+" answers")
		} else {
			bad = append(bad, one.err.Error())
		}
	}
	found := where + ": " + strings.Join(append(good, bad...), "; ")
	switch {
	case len(good) == 0:
		return Finding{check, Fail, found, "correct the key, the URL or the plan of the provider; see docs/search.md"}
	case len(bad) > 0:
		return Finding{check, Warn, found, "correct the key, the URL or the plan of the provider; see docs/search.md"}
	}
	return Finding{check, OK, found, ""}
}

// searched queries the providers. whose describes the daemon they belong to. It is empty if the providers are unknown.
func (p *Subject) searched(ctx context.Context) (whose string, all []searched, err error) {
	if p.Target.Answers(ctx) {
		if all, ok := p.searchedByDaemon(ctx); ok {
			return "the daemon", all, nil
		}
	}
	if p.Named {
		return "", nil, nil // the settings here do not apply to a daemon elsewhere
	}
	const where = "a new daemon"
	searcher, err := p.Searcher()
	if err != nil {
		return where, nil, err
	}
	for _, one := range searcher.Providers() {
		limited, cancel := context.WithTimeout(ctx, searchLimit)
		_, err := searcher.Search(limited, search.Request{Query: probe, Kind: one.Kinds()[0], Limit: 1, Provider: one.Name()})
		cancel()
		all = append(all, searched{one.Name(), err})
	}
	return where, all, nil
}

// searchedByDaemon queries the providers of the running daemon. It returns false if the daemon does not list its providers.
func (p *Subject) searchedByDaemon(ctx context.Context) ([]searched, bool) {
	conn, err := endpoint.Dial(p.Target, p.Dial)
	if err != nil {
		return nil, false
	}
	defer func() { _ = conn.Close() }() // its calls have ended
	client := domtapv1.NewSearchServiceClient(conn)
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	list, err := client.ListSearchProviders(limited, &domtapv1.ListSearchProvidersRequest{})
	if err != nil {
		return nil, false
	}
	var all []searched
	for _, one := range list.GetProviders() {
		limited, cancel := context.WithTimeout(ctx, searchLimit)
		_, err := client.Search(limited, &domtapv1.SearchRequest{
			Query: probe, Kind: append(one.GetKinds(), 0)[0], Limit: proto.Int32(1), Provider: one.GetName(), MaxAge: durationpb.New(probeAge),
		})
		cancel()
		if err != nil {
			err = errors.New(status.Convert(err).Message())
			if !strings.HasPrefix(err.Error(), one.GetName()) {
				err = fmt.Errorf("%s: %w", one.GetName(), err)
			}
		}
		all = append(all, searched{one.GetName(), err})
	}
	return all, true
}
