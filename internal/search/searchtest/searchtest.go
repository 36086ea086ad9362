// Package searchtest provides test servers that answer as documented by the providers of package provider.
//
// A Server refuses the same requests as its provider: a wrong method, path or key, and missing parameters. It answers each
// query with two fixed results of its kind. SetAnswer sets a different answer.
package searchtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
)

// Key is the key that the servers accept. Engine is the id of Google's search engine.
const (
	Key    = "canary-key-0123456789"
	Engine = "canary-engine"
)

// Server simulates one provider on loopback.
type Server struct {
	// URL is the address of the server.
	URL  string
	name string
	http *httptest.Server

	mu sync.Mutex
	// say handles requests instead of the provider. If nil, the server answers as documented.
	say   http.HandlerFunc
	asked []string
}

// Start starts a server for a provider: serper, brave, tavily, searxng or google. The caller must close it.
func Start(name string) *Server {
	s := &Server{name: name}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close stops the server and closes its connections.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// SetAnswer sets the answer of the server: a status, headers in pairs, and a body.
func (s *Server) SetAnswer(status int, body string, headers ...string) {
	s.SetHandler(func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// SetHandler sets the handler of the server. If nil, it answers as documented.
func (s *Server) SetHandler(say http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say = say
}

// Asked returns the queries that the server received, oldest first.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	ask := read(r)
	s.mu.Lock()
	say := s.say
	s.asked = append(s.asked, ask.get("q", "query"))
	s.mu.Unlock()
	if say != nil {
		say(w, r)
		return
	}
	p := providers[s.name]
	answer, known := p.answers[ask.r.Method+" "+ask.r.URL.Path+p.variant(ask)]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !p.authorized(ask):
		w.WriteHeader(p.refusal.status)
		_, _ = io.WriteString(w, p.refusal.body)
	case !known || ask.get("q", "query") == "":
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprintf(w, "%s %s is not documented", ask.r.Method, ask.r.URL.Path)
	default:
		_, _ = io.WriteString(w, answer)
	}
}

// request is a request with the parameters of its query or its JSON body.
type request struct {
	r      *http.Request
	query  url.Values
	params map[string]any
}

func read(r *http.Request) request {
	in := request{r: r, query: r.URL.Query(), params: map[string]any{}}
	if r.Method == http.MethodPost {
		_ = json.NewDecoder(r.Body).Decode(&in.params) // a body that is not JSON has no parameters
	}
	return in
}

// get returns the first of the named parameters that is set.
func (in request) get(names ...string) string {
	for _, name := range names {
		if v := in.query.Get(name); v != "" {
			return v
		}
		if v, ok := in.params[name]; ok {
			return fmt.Sprint(v)
		}
	}
	return ""
}

// provider describes a provider for the test server.
type provider struct {
	authorized func(request) bool
	refusal    struct {
		status int
		body   string
	}
	// variant distinguishes kinds that share a path.
	variant func(request) string
	// answers maps method, path and variant to answers.
	answers map[string]string
}

func byHeader(name, value string) func(request) bool {
	return func(in request) bool { return in.r.Header.Get(name) == value }
}

func none(request) string { return "" }

// number reports whether a parameter is a number from 1 to limit, the maximum of the providers.
func number(in request, name string, limit int) bool {
	var n int
	_, err := fmt.Sscan(in.get(name), &n)
	return err == nil && 1 <= n && n <= limit
}

var providers = map[string]provider{
	"serper": {
		authorized: func(in request) bool { return byHeader("X-API-KEY", Key)(in) && number(in, "num", 100) },
		refusal:    refusal(http.StatusForbidden, `{"message":"Unauthorized.","statusCode":403}`),
		variant:    none,
		answers: map[string]string{
			"POST /search": serperWeb, "POST /news": serperNews, "POST /images": serperImages, "POST /places": serperPlaces, "POST /shopping": serperShopping,
		},
	},
	"brave": {
		authorized: func(in request) bool { return byHeader("X-Subscription-Token", Key)(in) && number(in, "count", 200) },
		refusal: refusal(http.StatusUnprocessableEntity, `{"type":"ErrorResponse","error":{"id":"5d832250","status":422,"code":"SUBSCRIPTION_TOKEN_INVALID",`+
			`"detail":"The provided subscription token is invalid.","meta":{"component":"authentication"}},"time":1663072993}`),
		variant: none,
		answers: map[string]string{
			"GET /res/v1/web/search": braveWeb, "GET /res/v1/news/search": braveNews, "GET /res/v1/images/search": braveImages,
			"GET /res/v1/local/place_search": bravePlaces,
		},
	},
	"tavily": {
		authorized: func(in request) bool {
			return byHeader("Authorization", "Bearer "+Key)(in) && number(in, "max_results", 20)
		},
		refusal: refusal(http.StatusUnauthorized, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`),
		variant: func(in request) string {
			if in.get("include_images") == "true" {
				return " images"
			}
			return " " + in.get("topic")
		},
		answers: map[string]string{"POST /search general": tavilyWeb, "POST /search news": tavilyNews, "POST /search images": tavilyImages},
	},
	"searxng": {
		authorized: func(in request) bool { return in.get("format") == "json" },
		refusal:    refusal(http.StatusForbidden, "<!doctype html><title>403 Forbidden</title>"),
		variant:    func(in request) string { return " " + in.get("categories") },
		answers: map[string]string{
			"GET /search general": searxngWeb, "GET /search news": searxngNews, "GET /search images": searxngImages, "GET /search map": searxngPlaces,
			"GET /search shopping": searxngShopping,
		},
	},
	"google": {
		authorized: func(in request) bool { return in.get("key") == Key && in.get("cx") == Engine && number(in, "num", 10) },
		refusal: refusal(http.StatusBadRequest, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT",`+
			`"errors":[{"message":"API key not valid.","domain":"global","reason":"badRequest"}],`+
			`"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`),
		variant: func(in request) string { return strings.TrimRight(" "+in.get("searchType"), " ") },
		answers: map[string]string{"GET /customsearch/v1": googleWeb, "GET /customsearch/v1 image": googleImages},
	},
}

func refusal(status int, body string) struct {
	status int
	body   string
} {
	return struct {
		status int
		body   string
	}{status, body}
}
