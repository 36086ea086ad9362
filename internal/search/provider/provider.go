// Package provider has the providers of search results: Serper, Brave, Tavily, SearXNG and Google's Custom Search.
//
// Each speaks its provider's documented JSON; the file of each names the pages. What they have in common is in this file:
// one request for a query, in bounded time and without redirects, an answer of bounded size, and errors from one table.
// Keys go to the provider, in the header or the field that it documents, and nowhere else: errors have no URL, and a
// provider that repeats a key gets it masked.
package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/truncate"
)

// maxAnswer is the most bytes of an answer that are read. Those of 50 results have at most some 200,000.
const maxAnswer = 2 << 20

// Config sets up a provider.
type Config struct {
	// Name is one of Names.
	Name string
	// URL is the address of a SearXNG, or a gateway that stands for another provider: absolute, http or https. Empty: that of
	// the provider, which SearXNG does not have.
	URL string
	// Key is the key that the provider has issued. SearXNG needs none.
	Key search.Secret
	// Engine is the id of the search engine, which only Google needs.
	Engine string
	// Transport sends the requests. Nil: that of net/http, which minds $HTTPS_PROXY.
	Transport http.RoundTripper
}

// dialect is how a provider is asked.
type dialect struct {
	// url is the address of the provider; empty: each has its own.
	url string
	// keyed says that it needs a key, engine that it needs the id of an engine.
	keyed, engine bool
	// most says how many results a request may ask for, by the kinds that the provider has.
	most map[search.Kind]int
	// request makes the request for a query, for at most count results, below the path of the address. The context and
	// what all requests share come later.
	request func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error)
	// results reads the body of an answer with the status 200. Results need not be clean.
	results func(kind search.Kind, body []byte) ([]search.Result, error)
	// complaint returns what the body of an error says; empty: nothing that is understood.
	complaint func(body []byte) complaint
	// refusals are the statuses, and codes of complaints, that mean something else than in the common table.
	refusals map[string]search.ErrorKind
	// retry returns when the quota of an answer ends, if the provider says it otherwise than by Retry-After.
	retry func(http.Header) time.Duration
}

// complaint is what a provider says about an error.
type complaint struct {
	// code is for programs, message for people. Both may be empty.
	code, message string
}

var dialects = map[string]*dialect{
	"serper": &serper, "brave": &brave, "tavily": &tavily, "searxng": &searxng, "google": &google,
}

// Names are the names of the providers.
var Names = []string{"serper", "brave", "tavily", "searxng", "google"}

// NeedsKey reports whether a provider needs a key.
func NeedsKey(name string) bool { d := dialects[name]; return d != nil && d.keyed }

// NeedsEngine reports whether a provider needs the id of an engine.
func NeedsEngine(name string) bool { d := dialects[name]; return d != nil && d.engine }

// remote is a provider that is asked over HTTP.
type remote struct {
	*dialect
	cfg    Config
	base   *url.URL
	client *http.Client
}

// New makes a provider. Errors say which setting is missing or wrong, and have no secrets.
func New(cfg Config) (search.Provider, error) {
	d := dialects[cfg.Name]
	switch {
	case d == nil:
		return nil, fmt.Errorf("unknown search provider %q: use %s", cfg.Name, strings.Join(Names, ", "))
	case d.keyed && cfg.Key.IsZero():
		return nil, fmt.Errorf("%s needs a key", cfg.Name)
	case d.engine && cfg.Engine == "":
		return nil, fmt.Errorf("%s needs the id of a search engine", cfg.Name)
	case d.url == "" && cfg.URL == "":
		return nil, fmt.Errorf("%s needs the URL of an instance", cfg.Name)
	}
	base, err := parseBase(cmp.Or(cfg.URL, d.url))
	if err != nil {
		return nil, fmt.Errorf("the URL of %s: %w", cfg.Name, err)
	}
	if base.Scheme == "http" && (!cfg.Key.IsZero() || base.User != nil) && !isLoopback(base.Hostname()) {
		return nil, fmt.Errorf("the URL of %s: a key or password is not sent over http, except to loopback: use https", cfg.Name)
	}
	client := &http.Client{Transport: cfg.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &remote{d, cfg, base, client}, nil
}

// parseBase reads the address of a provider. Its errors do not repeat it: it may have a password.
func parseBase(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("it is not the absolute URL of a web server, such as https://search.example.org")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it must have neither a query nor a fragment")
	}
	return u, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Name returns the name of the provider.
func (r *remote) Name() string { return r.cfg.Name }

// Kinds returns the kinds of queries that the provider answers.
func (r *remote) Kinds() []search.Kind {
	return slices.DeleteFunc(slices.Clone(search.Kinds), func(k search.Kind) bool { return r.most[k] == 0 })
}

// Search asks the provider.
func (r *remote) Search(ctx context.Context, q search.Query) ([]search.Result, error) {
	if r.most[q.Kind] == 0 {
		return nil, r.failed(search.NoSuchKind, "it does not search for "+q.Kind.String())
	}
	request, err := r.request(&r.cfg, r.base, q, min(q.Count, r.most[q.Kind]))
	if err != nil {
		return nil, r.failed(search.Unavailable, "the request cannot be made") // the cause would have the URL
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "domtap")
	response, err := r.client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }() // nothing is written
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, r.unreachable(ctx, err)
	case response.StatusCode != http.StatusOK:
		return nil, r.refused(response, body)
	case len(body) > maxAnswer:
		return nil, r.failed(search.NotUnderstood, fmt.Sprintf("the answer has more than %d bytes", maxAnswer))
	}
	return r.read(q, body)
}

// read returns the results of the body of an answer.
func (r *remote) read(q search.Query, body []byte) ([]search.Result, error) {
	found, err := r.results(q.Kind, body)
	if failed, ok := errors.AsType[*search.Error](err); ok {
		return nil, r.failed(failed.Kind, failed.Message)
	}
	if err != nil {
		return nil, r.failed(search.NotUnderstood, "the answer is not what it documents: "+reason(err))
	}
	return search.Clean(found, q.Kind, q.Count, r.cfg.Key, time.Now()), nil
}

// errShape says that a body is JSON, but of another shape than the provider documents.
var errShape = errors.New("the list of results is missing")

// reason says why a body cannot be read, without a part of it.
func reason(err error) string {
	if errors.Is(err, errShape) {
		return err.Error()
	}
	return "it is not JSON of that form"
}

// unreachable is the error for a provider that sent no answer, or not all of it. The errors of net/http have the URL, and
// with it the query and, for Google, the key: only the innermost cause is said.
func (r *remote) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return r.failed(search.Unavailable, "it cannot be reached: "+err.Error())
}

// failed makes an error. The message may have a text of the provider.
func (r *remote) failed(kind search.ErrorKind, message string) *search.Error {
	text := truncate.Runes(r.cfg.Key.Remove(search.Line(message)), maxComplaint)
	return &search.Error{Kind: kind, Provider: r.cfg.Name, Message: text}
}

// decode reads a JSON value. What follows it is an error.
func decode(body []byte, into any) error { return json.Unmarshal(body, into) }

// get makes a GET request with a query.
func get(base *url.URL, path string, query url.Values) (*http.Request, error) {
	u := base.JoinPath(path)
	u.RawQuery = query.Encode()
	return http.NewRequest(http.MethodGet, u.String(), http.NoBody)
}

// post makes a POST request with JSON.
func post(base *url.URL, path string, body any) (*http.Request, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, base.JoinPath(path).String(), bytes.NewReader(text))
	if err == nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return request, err
}
