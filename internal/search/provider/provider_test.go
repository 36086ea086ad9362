package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/search/searchtest"
)

// start starts a server for a provider until the test ends, and returns the provider that uses it.
func start(t *testing.T, name string) (*searchtest.Server, search.Provider) {
	t.Helper()
	server := searchtest.Start(name)
	t.Cleanup(server.Close)
	return server, withKey(t, server, name, searchtest.Key)
}

func withKey(t *testing.T, server *searchtest.Server, name, key string) search.Provider {
	t.Helper()
	cfg := Config{Name: name, URL: server.URL, Engine: searchtest.Engine}
	if NeedsKey(name) {
		cfg.Key = search.NewSecret(key)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// failure returns the error of a search, which must be a *search.Error.
func failure(t *testing.T, p search.Provider, kind search.Kind) *search.Error {
	t.Helper()
	found, err := p.Search(t.Context(), search.Query{Text: "canary-query", Kind: kind, Count: 10})
	failed, ok := errors.AsType[*search.Error](err)
	if !ok || found != nil {
		t.Fatalf("%s: %d results and the error %v (%T), want a *search.Error", p.Name(), len(found), err, err)
	}
	return failed
}

// first holds the first results of the servers, by provider and kind. Dates that contain "ago" have no fixed day.
var first = map[string]map[search.Kind]search.Result{
	"serper": {
		search.Web:    {Title: "The Go Programming Language", URL: "https://go.dev/", Host: "go.dev", Text: "Go is an open source programming language.", Date: "Feb 10, 2026", Day: "2026-02-10"},
		search.News:   {Title: "Go 1.26 is out", URL: "https://news.example/go", Host: "news.example", Text: "A release.", Date: "2 days ago", Source: "Example News"},
		search.Images: {Title: "A gopher", URL: "https://www.example.org/gopher", Host: "example.org", Source: "Example", ImageURL: "https://img.example/gopher.png", ImageWidth: 1200, ImageHeight: 800},
		search.Places: {Title: "Tim Wendelboe", URL: "https://timwendelboe.no/", Host: "timwendelboe.no", Text: "Coffee shop", Price: "$$", Rating: 4.6, Ratings: 2345,
			Address: "Grüners gate 1, 0552 Oslo, Norway", Phone: "+47 40 00 40 62"},
		search.Shopping: {Title: "A kettle", URL: "https://shop.example/kettle", Host: "shop.example", Source: "Shop", Price: "$39.99", Rating: 4.5, Ratings: 120},
	},
	"brave": {
		search.Web: {Title: "The Go Programming Language", URL: "https://go.dev/", Host: "go.dev", Text: "Go is an open source language & toolchain.",
			Date: "2026-02-10T09:00:00", Day: "2026-02-10", Source: "Go"},
		search.News:   {Title: "Go 1.26 is out", URL: "https://news.example/go", Host: "news.example", Text: "A release.", Date: "2026-11-21T08:00:00", Day: "2026-11-21"},
		search.Images: {Title: "A gopher", URL: "https://www.example.org/gopher", Host: "example.org", Source: "example.org", ImageURL: "https://img.example/gopher.png", ImageWidth: 1200, ImageHeight: 800},
		search.Places: {Title: "Tim Wendelboe", URL: "https://timwendelboe.no/", Host: "timwendelboe.no", Text: "Coffee shop", Price: "$$", Rating: 4.6, Ratings: 2345,
			Address: "Grüners gate 1, 0552 Oslo, Norway", Phone: "+47 40 00 40 62"},
	},
	"tavily": {
		search.Web:    {Title: "The Go Programming Language", URL: "https://go.dev/", Host: "go.dev", Text: "Go is an open source programming language."},
		search.News:   {Title: "Go 1.26 is out", URL: "https://news.example/go", Host: "news.example", Text: "A release.", Date: "Sat, 21 Nov 2026 08:00:00 GMT", Day: "2026-11-21"},
		search.Images: {Title: "A gopher", URL: "https://img.example/gopher.png", Host: "img.example", ImageURL: "https://img.example/gopher.png"},
	},
	"searxng": {
		search.Web:      {Title: "The Go Programming Language", URL: "https://go.dev/", Host: "go.dev", Text: "Go is an open source programming language.", Date: "2026-02-10T00:00:00", Day: "2026-02-10"},
		search.News:     {Title: "Go 1.26 is out", URL: "https://news.example/go", Host: "news.example", Text: "A release.", Date: "2026-11-21T08:00:00+00:00", Day: "2026-11-21", Source: "Example News"},
		search.Images:   {Title: "A gopher", URL: "https://www.example.org/gopher", Host: "example.org", Source: "example.org", ImageURL: "https://img.example/gopher.png", ImageWidth: 1200, ImageHeight: 800},
		search.Places:   {Title: "Tim Wendelboe", URL: "https://openstreetmap.org/node/1", Host: "openstreetmap.org", Address: "1 Grüners gate, 0552 Oslo, Norway"},
		search.Shopping: {Title: "A kettle", URL: "https://shop.example/kettle", Host: "shop.example", Price: "$39.99"},
	},
	"google": {
		search.Web:    {Title: "The Go Programming Language", URL: "https://go.dev/", Host: "go.dev", Text: "Go is an open source programming language.", Date: "2026-02-10T00:00:00Z", Day: "2026-02-10"},
		search.Images: {Title: "A gopher", URL: "https://www.example.org/gopher", Host: "example.org", Text: "A gopher", ImageURL: "https://img.example/gopher.png", ImageWidth: 1200, ImageHeight: 800},
	},
}

func TestEachProviderFindsWhatItSaysItFinds(t *testing.T) {
	for _, name := range Names {
		server, p := start(t, name)
		if len(p.Kinds()) != len(first[name]) {
			t.Errorf("%s has the kinds %v, and %d are tried", name, p.Kinds(), len(first[name]))
		}
		for _, kind := range p.Kinds() {
			before := time.Now()
			found, err := p.Search(t.Context(), search.Query{Text: `go "open source"`, Kind: kind, Count: search.MaxCount})
			if err != nil || len(found) != 2 {
				t.Errorf("%s, %s: %d results, %v", name, kind, len(found), err)
				continue
			}
			want := first[name][kind]
			if strings.HasSuffix(want.Date, "ago") {
				if want.Day = search.Day(want.Date, before); found[0].Day != want.Day {
					want.Day = search.Day(want.Date, time.Now()) // midnight may have passed since
				}
			}
			if found[0] != want {
				t.Errorf("%s, %s:\n%+v, want\n%+v", name, kind, found[0], want)
			}
			if asked := server.Asked(); asked[len(asked)-1] != `go "open source"` {
				t.Errorf("%s, %s: it was asked %q", name, kind, asked)
			}
		}
		found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: search.Web, Count: 1})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %d results where one was wanted, %v", name, len(found), err)
		}
	}
}

func TestKindsThatAProviderLacksAreErrors(t *testing.T) {
	for _, name := range Names {
		server, p := start(t, name)
		for _, kind := range search.Kinds {
			if search.Has(p, kind) {
				continue
			}
			if got := failure(t, p, kind); got.Kind != search.NoSuchKind {
				t.Errorf("%s, %s: %v", name, kind, got)
			}
		}
		if asked := server.Asked(); len(asked) > 0 {
			t.Errorf("%s was asked all the same", name)
		}
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	for _, name := range Names {
		server, _ := start(t, name)
		if !NeedsKey(name) {
			continue
		}
		got := failure(t, withKey(t, server, name, "another-canary"), search.Web)
		if got.Kind != search.KeyRefused || got.Provider != name || !strings.Contains(got.Message, "--search-key-file") || strings.Contains(got.Error(), "canary") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// refusalTests contains errors as documented by the providers.
var refusalTests = []struct {
	name    string
	status  int
	body    string
	headers []string
	kind    search.ErrorKind
	retry   time.Duration
	says    string
}{
	{"serper", 400, `{"message":"Not enough credits","statusCode":400}`, nil, search.Quota, 0, "Not enough credits"},
	{"serper", 400, `{"message":"Missing query parameter","statusCode":400}`, nil, search.Rejected, 0, "Missing query parameter"},
	{"serper", 429, `{"message":"Rate limit exceeded","statusCode":429}`, []string{"Retry-After", "7"}, search.Quota, 7 * time.Second, "try again in 7s"},
	{"brave", 429, `{"type":"ErrorResponse","error":{"status":429,"code":"RATE_LIMITED","detail":"Request rate limit exceeded for plan."}}`,
		[]string{"X-RateLimit-Remaining", "0, 1000", "X-RateLimit-Reset", "1, 1419704"}, search.Quota, time.Second, "Request rate limit exceeded"},
	{"brave", 429, `{"type":"ErrorResponse","error":{"status":429,"code":"QUOTA_LIMITED","detail":"Quota limit exceeded."}}`,
		[]string{"X-RateLimit-Remaining", "1, 0", "X-RateLimit-Reset", "1, 1419704"}, search.Quota, 1419704 * time.Second, "Quota"},
	{"brave", 429, `{}`, []string{"X-RateLimit-Reset", "99999999999999"}, search.Quota, maxRetry, ""},
	{"brave", 422, `{"type":"ErrorResponse","errors":[{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"invalid"}]}`, nil, search.KeyRefused, 0, "invalid"},
	{"brave", 422, `{"type":"ErrorResponse","error":{"status":422,"code":"VALIDATION","detail":"Unable to validate request parameter(s)"}}`, nil, search.Rejected, 0, "Unable to validate"},
	{"brave", 400, `{"type":"ErrorResponse","error":{"status":400,"code":"OPTION_NOT_IN_PLAN","detail":"The option is not subscribed."}}`, nil, search.KeyRefused, 0, "not subscribed"},
	{"tavily", 400, `{"detail":{"error":"Query is too long. Max query length is 400 characters."}}`, nil, search.Rejected, 0, "Query is too long"},
	{"tavily", 429, `{"detail":{"error":"Your request has been blocked due to excessive requests."}}`, []string{"Retry-After", "60"}, search.Quota, time.Minute, "excessive requests"},
	{"tavily", 432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`, nil, search.Quota, 0, "usage limit"},
	{"tavily", 433, `{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}`, nil, search.Quota, 0, "pay-as-you-go"},
	{"searxng", 403, "<!doctype html><title>403 Forbidden</title>", nil, search.KeyRefused, 0, "search.formats"},
	{"searxng", 429, "Too Many Requests", nil, search.Quota, 0, "status 429"},
	{"searxng", 200, `{"query":"go","results":[],"unresponsive_engines":[["google","timeout"],["brave","Suspended: too many requests"]]}`, nil, search.Unavailable, 0, "google (timeout), brave (Suspended"},
	{"google", 429, `{"error":{"code":429,"message":"Quota exceeded for quota metric 'Queries'","status":"RESOURCE_EXHAUSTED","errors":[{"domain":"global","reason":"rateLimitExceeded"}]}}`, nil, search.Quota, 0, "Quota exceeded"},
	{"google", 403, `{"error":{"code":403,"message":"Daily Limit Exceeded","errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded"}]}}`, nil, search.Quota, 0, "Daily Limit"},
	{"google", 403, `{"error":{"code":403,"message":"This project does not have the access to Custom Search JSON API.","errors":[{"reason":"forbidden"}]}}`, nil, search.KeyRefused, 0, "does not have the access"},
	{"google", 400, `{"error":{"code":400,"message":"Request contains an invalid argument.","errors":[{"reason":"badRequest"}]}}`, nil, search.Rejected, 0, "invalid argument"},
}

func TestRefusalsAreToldApart(t *testing.T) {
	for _, c := range refusalTests {
		server, p := start(t, c.name)
		server.SetAnswer(c.status, c.body, c.headers...)
		got := failure(t, p, search.Web)
		if got.Kind != c.kind || got.RetryAfter != c.retry || got.Provider != c.name || !strings.Contains(got.Error(), c.says) {
			t.Errorf("%s, %d %s: %+v (%v), want kind %d, retry %v and %q", c.name, c.status, c.body, got, got, c.kind, c.retry, c.says)
		}
	}
}

func TestErrorsThatAllProvidersHave(t *testing.T) {
	const elsewhere = "https://elsewhere.invalid/"
	for _, name := range Names {
		for _, c := range []struct {
			what   string
			status int
			body   string
			kind   search.ErrorKind
		}{
			{"a failure", 500, "oops", search.Unavailable},
			{"a gateway", 503, `{"message":null}`, search.Unavailable},
			{"a redirect", 302, "", search.NotUnderstood},
			{"another page", 404, "<h1>Not found</h1>", search.NotUnderstood},
			{"a page", 200, "<h1>Sign in</h1>", search.NotUnderstood},
			{"nothing", 200, "", search.NotUnderstood},
			{"half of it", 200, `{"results":[{"title":"a"`, search.NotUnderstood},
			{"another object", 200, `{"hello":"world"}`, search.NotUnderstood},
			{"a list", 200, `[]`, search.NotUnderstood},
			{"null", 200, `null`, search.NotUnderstood},
			{"too much", 200, `{"results":[]}` + strings.Repeat(" ", maxAnswer), search.NotUnderstood},
		} {
			server, p := start(t, name)
			server.SetAnswer(c.status, c.body, "Location", elsewhere)
			if got := failure(t, p, search.Web); got.Kind != c.kind {
				t.Errorf("%s, %s: %v, want kind %d", name, c.what, got, c.kind)
			}
			if n := len(server.Asked()); n != 1 {
				t.Errorf("%s, %s: it was asked %d times", name, c.what, n)
			}
		}
	}
}

func TestProvidersThatCannotBeReached(t *testing.T) {
	for _, name := range Names {
		server, p := start(t, name)
		server.SetHandler(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		if got := failure(t, p, search.Web); got.Kind != search.Unavailable {
			t.Errorf("%s ends the connection: %v", name, got)
		}
		p.(*remote).client.Transport = refusing{}
		got := failure(t, p, search.Web)
		if got.Kind != search.Unavailable || !strings.Contains(got.Message, "connection refused") || strings.Contains(got.Error(), "canary") {
			t.Errorf("%s is gone: %v", name, got)
		}
	}
}

// refusing fails like a dial to a closed port.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

func TestTheEndOfTheCallEndsTheRequest(t *testing.T) {
	for _, name := range Names {
		server, p := start(t, name)
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		server.SetHandler(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a server detects the end of a connection only while it reads
			cancel()
			<-r.Context().Done()
			close(ended)
		})
		if _, err := p.Search(ctx, search.Query{Text: "go", Kind: search.Web, Count: 10}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-ended
	}
}

// If a provider repeats the key in an answer, the key must not appear in results, errors and logs.
func TestKeysGoNowhereElse(t *testing.T) {
	for _, name := range Names {
		if !NeedsKey(name) {
			continue
		}
		server, p := start(t, name)
		var said []string
		for _, kind := range p.Kinds() {
			found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: kind, Count: 10})
			said = append(said, fmt.Sprintf("%+v %v", found, err))
		}
		echo := func(status int) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "https://elsewhere.invalid/?key="+searchtest.Key)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, echoed[name])
			}
		}
		for _, status := range []int{200, 302, 400, 401, 403, 422, 429, 500} {
			server.SetHandler(echo(status))
			for _, kind := range p.Kinds() {
				found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: kind, Count: 10})
				if status == 200 && kind == search.Web && len(found) != 1 {
					t.Errorf("%s: %d results, %v", name, len(found), err)
				}
				said = append(said, fmt.Sprintf("%+v %v %+v %#v", found, err, err, err))
			}
		}
		server.Close()
		_, err := p.Search(t.Context(), search.Query{Text: "go", Kind: search.Web, Count: 10})
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("failed", "error", err, "config", p.(*remote).cfg.Key)
		said = append(said, fmt.Sprintf("%v %+v %#v %s", err, p.(*remote).cfg, p.(*remote).cfg, log.String()))
		for _, text := range said {
			if strings.Contains(text, searchtest.Key) {
				t.Fatalf("%s: the key is in %s", name, text)
			}
		}
	}
}

// echoed contains answers with the key in every field.
var echoed = map[string]string{
	"serper": `{"message":"bad canary-key-0123456789","searchParameters":{},"organic":[{"title":"canary-key-0123456789","link":"https://canary-key-0123456789.example/?k=canary-key-0123456789","snippet":"canary-key-0123456789","date":"canary-key-0123456789"}]}`,
	"brave":  `{"type":"search","error":{"code":"canary-key-0123456789","detail":"canary-key-0123456789"},"web":{"results":[{"title":"\u0063anary-key-0123456789","url":"https://a.example/canary-key-0123456789","description":"<strong>canary</strong>-key-0123456789"}]}}`,
	"tavily": `{"detail":{"error":"key canary-key-0123456789"},"results":[{"title":"canary-key-0123456789","url":"https://a.example/#canary-key-0123456789","content":"canary-key-0123456789","published_date":"canary-key-0123456789"}]}`,
	"google": `{"kind":"customsearch#search","error":{"message":"canary-key-0123456789","errors":[{"reason":"canary-key-0123456789"}]},"items":[{"title":"canary-key-0123456789","link":"https://a.example/?key=canary-key-0123456789","snippet":"canary-key-0123456789"}]}`,
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	key := search.NewSecret(searchtest.Key)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Name: "bing"}, "use serper, brave, tavily, searxng, google"},
		{Config{Name: "brave"}, "needs a key"},
		{Config{Name: "google", Key: key}, "needs the id"},
		{Config{Name: "searxng"}, "needs the URL"},
		{Config{Name: "searxng", URL: "search.example"}, "absolute URL"},
		{Config{Name: "searxng", URL: "ftp://search.example"}, "absolute URL"},
		{Config{Name: "searxng", URL: "https://search.example/?q=canary-key-0123456789"}, "neither a query"},
		{Config{Name: "searxng", URL: "https://user:canary-key-0123456789@bad host/"}, "not a URL"},
		{Config{Name: "serper", Key: key, URL: "http://search.example"}, "use https"},
		{Config{Name: "searxng", URL: "http://user:canary-key-0123456789@search.example"}, "use https"},
	} {
		p, err := New(c.cfg)
		if err == nil || p != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), searchtest.Key) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	for _, cfg := range []Config{
		{Name: "serper", Key: key}, {Name: "brave", Key: key}, {Name: "tavily", Key: key}, {Name: "google", Key: key, Engine: "e"},
		{Name: "searxng", URL: "http://search.example/searx/"}, {Name: "searxng", URL: "https://user:password@search.example"},
		{Name: "brave", Key: key, URL: "http://localhost:1"}, {Name: "brave", Key: key, URL: "http://[::1]:1/gateway"},
	} {
		if p, err := New(cfg); err != nil || p.Name() != cfg.Name {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestOddValuesCostNoResults(t *testing.T) {
	server, p := start(t, "serper")
	server.SetAnswer(200, `{"searchParameters":7,"organic":[1,null,"x",[],{"title":["a"],"link":"https://a.example/"},{"title":26,"link":"https://b.example/","date":{},"rating":"4.5","ratingCount":true},
		{"title":"no link"},{"title":"script","link":"javascript:alert(1)"},{"title":"relative","link":"/a"}]}`)
	found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: search.Web, Count: 10})
	want := []search.Result{{URL: "https://a.example/", Host: "a.example"}, {Title: "26", URL: "https://b.example/", Host: "b.example", Rating: 4.5}}
	if err != nil || len(found) != 2 || found[0] != want[0] || found[1] != want[1] {
		t.Errorf("%+v, %v, want %+v", found, err, want)
	}
	for _, name := range Names {
		server, p := start(t, name)
		server.SetAnswer(200, map[string]string{
			"serper": `{"searchParameters":{"q":"x"}}`, "brave": `{"type":"search","query":{}}`, "tavily": `{"results":[]}`, "searxng": `{"results":[]}`,
			"google": `{"kind":"customsearch#search","searchInformation":{"totalResults":"0"}}`,
		}[name])
		if found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: search.Web, Count: 10}); err != nil || len(found) != 0 {
			t.Errorf("%s finds nothing: %v, %v", name, found, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, " 5 ": 5 * time.Second, "-5": 0, "soon": 0, "Mon, 23 Nov 2026 12:01:00 GMT": time.Minute, "99999999999999999999": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// body answers every request with the same bytes.
type body struct {
	status int
	text   []byte
}

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: b.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(b.text))}, nil
}

// Any answer of a provider results in bounded results or an error.
func FuzzAnswer(f *testing.F) {
	for _, c := range refusalTests {
		f.Add(uint8(0), uint8(0), c.status, []byte(c.body))
	}
	for i, name := range Names {
		f.Add(uint8(i), uint8(0), 200, []byte(echoed[name]))
	}
	f.Add(uint8(3), uint8(3), 200, []byte(`{"results":[{"title":"a","address":{"road":"b"},"resolution":"1 x 2","url":"http://a\u0000"}]}`))
	f.Fuzz(func(t *testing.T, provider, kind uint8, status int, text []byte) {
		name := Names[int(provider)%len(Names)]
		cfg := Config{Name: name, URL: "https://search.example", Engine: "e", Key: search.NewSecret(searchtest.Key), Transport: body{status, text}}
		p, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Search(t.Context(), search.Query{Text: "go", Kind: p.Kinds()[int(kind)%len(p.Kinds())], Count: 10})
		if err != nil {
			if _, ok := errors.AsType[*search.Error](err); !ok || len(err.Error()) > 10*maxComplaint || strings.Contains(err.Error(), searchtest.Key) {
				t.Fatalf("the error %q", err)
			}
			return
		}
		if len(found) > 10 {
			t.Fatalf("%d results", len(found))
		}
		for _, r := range found {
			if all := fmt.Sprintf("%+v", r); len(all) > 20_000 || strings.ContainsAny(all, "\n\r\x00\x1b") || strings.Contains(all, searchtest.Key) {
				t.Fatalf("%q", all)
			}
		}
		search.Print(search.Answer{Results: found, Provider: name, Kind: search.Web}, 200)
	})
}
