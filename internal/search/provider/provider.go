// Package provider implements the providers of search results: Serper, Brave, Tavily, SearXNG and Google's Custom Search.
//
// Each provider has a file that implements its documented JSON API and names the documentation. This file has the common part: one request
// per query, with a time limit and without redirects, an answer of limited size, and one table of errors. A key is sent only to its
// provider, in the documented header or field. Errors contain no URL, and a key that a provider repeats in an answer is masked.
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

// maxAnswer limits the bytes that are read from an answer. Answers with 50 results have about 200,000 bytes at most.
const maxAnswer = 2 << 20

// Config configures a provider.
type Config struct {
	// Name is one of Names.
	Name string
	// URL is the absolute http or https address of a SearXNG instance, or of a gateway for another provider. If empty, the provider's own
	// address is used; SearXNG has none.
	URL string
	// Key is the API key of the provider. SearXNG needs none.
	Key search.Secret
	// Engine is the id of the search engine. Only Google needs it.
	Engine string
	// Transport sends the requests. If nil, the default transport of net/http is used, which respects $HTTPS_PROXY.
	Transport http.RoundTripper
}

// dialect describes the API of a provider.
type dialect struct {
	// url is the address of the provider. It is empty if each installation has its own.
	url string
	// keyed reports whether the provider needs a key, engine whether it needs the id of an engine.
	keyed, engine bool
	// most maps the supported kinds to the maximum number of results per request.
	most map[search.Kind]int
	// request returns the HTTP request for a query, for at most count results. Its URL is base plus a path. The caller adds the context and
	// the parts that all requests share.
	request func(c *Config, base *url.URL, q search.Query, count int) (*http.Request, error)
	// results parses the body of an answer with status 200. Results need not be clean.
	results func(kind search.Kind, body []byte) ([]search.Result, error)
	// complaint parses the body of an error. It returns the zero value if the format is unknown.
	complaint func(body []byte) complaint
	// refusals maps statuses and complaint codes with a meaning other than in the common table.
	refusals map[string]search.ErrorKind
	// retry returns the time until the quota is renewed, if the provider reports it in another way than with Retry-After.
	retry func(http.Header) time.Duration
}

// complaint is a provider's description of an error.
type complaint struct {
	// code is machine-readable and message is human-readable. Both may be empty.
	code, message string
}

var dialects = map[string]*dialect{
	"serper": &serper, "brave": &brave, "tavily": &tavily, "searxng": &searxng, "google": &google,
}

// Names lists the names of the providers.
var Names = []string{"serper", "brave", "tavily", "searxng", "google"}

// NeedsKey reports whether a provider needs a key.
func NeedsKey(name string) bool { d := dialects[name]; return d != nil && d.keyed }

// remote is a provider that is called over HTTP.
type remote struct {
	*dialect
	cfg    Config
	base   *url.URL
	client *http.Client
}

// New returns a provider. Errors name the missing or wrong setting, and contain no secrets.
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

// parseBase parses the address of a provider. Its errors do not repeat the address, because it may contain a password.
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

// Search sends a query to the provider.
func (r *remote) Search(ctx context.Context, q search.Query) ([]search.Result, error) {
	if r.most[q.Kind] == 0 {
		return nil, r.failed(search.NoSuchKind, "it does not search for "+q.Kind.String())
	}
	request, err := r.request(&r.cfg, r.base, q, min(q.Count, r.most[q.Kind]))
	if err != nil {
		return nil, r.failed(search.Unavailable, "the request cannot be made") // the cause would contain the URL
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "domtap")
	response, err := r.client.Do(request.WithContext(ctx))
	if err != nil {
		return nil, r.unreachable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }() // the body is only read
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

// read parses the body of an answer.
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

// errShape reports that a body is JSON but differs from the provider's documentation.
var errShape = errors.New("the list of results is missing")

// reason describes why a body cannot be parsed, without quoting the body.
func reason(err error) string {
	if errors.Is(err, errShape) {
		return err.Error()
	}
	return "it is not JSON of that form"
}

// unreachable returns the error for a missing or incomplete answer. Errors of net/http contain the URL, and with it the query and, for
// Google, the key. So the error includes only the innermost cause.
func (r *remote) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return r.failed(search.Unavailable, "it cannot be reached: "+err.Error())
}

// failed returns an error. message may contain text from the provider.
func (r *remote) failed(kind search.ErrorKind, message string) *search.Error {
	text := truncate.Runes(r.cfg.Key.Remove(search.Line(message)), maxComplaint)
	return &search.Error{Kind: kind, Provider: r.cfg.Name, Message: text}
}

// decode parses a JSON value. Data after the value is an error.
func decode(body []byte, into any) error { return json.Unmarshal(body, into) }

// get returns a GET request with query parameters.
func get(base *url.URL, path string, query url.Values) (*http.Request, error) {
	u := base.JoinPath(path)
	u.RawQuery = query.Encode()
	return http.NewRequest(http.MethodGet, u.String(), http.NoBody)
}

// post returns a POST request with a JSON body.
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
