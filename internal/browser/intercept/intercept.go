// Package intercept decides which requests a browser must hold and how each held request is answered.
//
// A browser holds requests that routes may match (package routes), or whose servers may require credentials. All functions are pure: they
// return a command, which the caller sends.
package intercept

import (
	"net/url"
	"strings"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/routes"
)

// Enable returns the parameters of Fetch.enable that make a target hold the requests that the table may decide on and, if credentials is
// not empty, the requests that match this CDP pattern. It returns nil if no request must be held.
func Enable(table *routes.Table, credentials string) *fetch.EnableParams {
	held := table.Held()
	if len(held) == 0 && credentials == "" {
		return nil
	}
	params := new(fetch.EnableParams)
	if credentials != "" {
		yes := true
		params.HandleAuthRequests = &yes
		params.Patterns = append(params.Patterns, &fetch.RequestPattern{URLPattern: credentials})
	}
	for _, h := range held {
		params.Patterns = append(params.Patterns, &fetch.RequestPattern{URLPattern: h.URL, ResourceType: types[h.Type]})
	}
	return params
}

// types maps the names of resource types to the browser's.
var types = func() map[string]network.ResourceType {
	all := map[string]network.ResourceType{}
	for _, kind := range []network.ResourceType{
		network.ResourceTypeDocument, network.ResourceTypeStylesheet, network.ResourceTypeImage, network.ResourceTypeMedia, network.ResourceTypeFont,
		network.ResourceTypeScript, network.ResourceTypeXHR, network.ResourceTypePrefetch, network.ResourceTypePing,
		network.ResourceTypeCSPViolationReport, network.ResourceTypeOther,
	} {
		all[strings.ToLower(string(kind))] = kind
	}
	return all
}()

// reasons maps the names of failure reasons to the browser's.
var reasons = func() map[string]network.ErrorReason {
	all := map[string]network.ErrorReason{}
	for _, reason := range []network.ErrorReason{
		network.ErrorReasonFailed, network.ErrorReasonAborted, network.ErrorReasonTimedOut, network.ErrorReasonAccessDenied,
		network.ErrorReasonConnectionClosed, network.ErrorReasonConnectionReset, network.ErrorReasonConnectionRefused,
		network.ErrorReasonConnectionAborted, network.ErrorReasonConnectionFailed, network.ErrorReasonNameNotResolved,
		network.ErrorReasonInternetDisconnected, network.ErrorReasonAddressUnreachable, network.ErrorReasonBlockedByClient,
		network.ErrorReasonBlockedByResponse,
	} {
		all[strings.ToLower(string(reason))] = reason
	}
	return all
}()

// Answer returns the command for a held request. main reports that the request may load the document of a tab. allowed returns an error for
// a URL that the URL policy refuses. Such a request is never fulfilled. It is sent, so that it fails as it would without a route. If
// allowed is nil, all URLs are permitted.
func Answer(e *fetch.EventRequestPaused, main bool, table *routes.Table, allowed func(url string) error) devtools.Step {
	if e.Request == nil {
		return proceed(e)
	}
	asked := preflightMethod(e)
	r := table.Match(routes.Request{
		URL: e.Request.URL, Type: strings.ToLower(string(e.ResourceType)), Method: e.Request.Method,
		Main: main && e.ResourceType == network.ResourceTypeDocument, Asked: asked,
	})
	switch {
	case r == nil:
		return proceed(e)
	case r.Abort != nil:
		return Fail(e.RequestID, r.Abort.Reason)
	case allowed != nil && allowed(e.Request.URL) != nil:
		return proceed(e)
	case asked != "" && (r.Fulfill != nil || r.Modify != nil && r.Modify.URL != ""):
		return permit(e, asked)
	case asked != "":
		return proceed(e)
	case r.Fulfill != nil:
		return fulfill(e, r.Fulfill)
	case r.Modify != nil:
		return modify(e, r.Modify)
	}
	return proceed(e)
}

// preflightMethod returns the method that a preflight request announces. It returns an empty string for other requests.
func preflightMethod(e *fetch.EventRequestPaused) string {
	if e.Request.Method != "OPTIONS" || header(e, "Origin") == "" {
		return ""
	}
	return header(e, "Access-Control-Request-Method")
}

// header returns a header of a request, or an empty string.
func header(e *fetch.EventRequestPaused, name string) string {
	for key, value := range e.Request.Headers {
		if text, ok := value.(string); ok && strings.EqualFold(key, name) {
			return text
		}
	}
	return ""
}

// IsPlain reports whether a command sends a request unchanged, so that the browser cannot reject it.
func IsPlain(s devtools.Step) bool {
	params, ok := s.Params.(fetch.ContinueRequestParams)
	return ok && params.URL == "" && params.Method == "" && len(params.Headers) == 0
}

// Rewritten returns the URL that a command redirects a request to, or an empty string.
func Rewritten(s devtools.Step) string {
	params, _ := s.Params.(fetch.ContinueRequestParams)
	return params.URL
}

// proceed sends a request unchanged.
func proceed(e *fetch.EventRequestPaused) devtools.Step {
	return devtools.Step{Method: fetch.CommandContinueRequest, Params: fetch.ContinueRequestParams{RequestID: e.RequestID}}
}

// Fail fails a request, for one of routes.Reasons.
func Fail(id fetch.RequestID, reason string) devtools.Step {
	return devtools.Step{Method: fetch.CommandFailRequest, Params: fetch.FailRequestParams{RequestID: id, ErrorReason: reasons[reason]}}
}

// fulfill answers a request. If the request comes from a script of another origin and the route sets no CORS headers, the response lets
// that script read it.
func fulfill(e *fetch.EventRequestPaused, f *routes.Fulfill) devtools.Step {
	headers, sharing := entries(f.Headers), false
	for _, h := range f.Headers {
		sharing = sharing || strings.EqualFold(h.Name, "Access-Control-Allow-Origin")
	}
	if origin := header(e, "Origin"); origin != "" && !sharing && !hasOrigin(e.Request.URL, origin) {
		headers = append(headers, corsHeaders(origin)...)
	}
	return devtools.Step{Method: fetch.CommandFulfillRequest, Params: fetch.FulfillRequestParams{
		RequestID: e.RequestID, ResponseCode: int64(f.Status), ResponseHeaders: headers, Body: f.Body}}
}

// hasOrigin reports whether a URL belongs to an origin.
func hasOrigin(address, origin string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme+"://"+u.Host == origin
}

// corsHeaders returns the headers that let scripts of an origin read a response.
func corsHeaders(origin string) []*fetch.HeaderEntry {
	return entries([]routes.Header{{Name: "Access-Control-Allow-Origin", Value: origin}, {Name: "Access-Control-Allow-Credentials", Value: "true"}, {Name: "Vary", Value: "Origin"}})
}

// permit answers the preflight of a request that a route will answer in place of the server.
func permit(e *fetch.EventRequestPaused, method string) devtools.Step {
	headers := append(corsHeaders(header(e, "Origin")), entries([]routes.Header{
		{Name: "Access-Control-Allow-Methods", Value: method}, {Name: "Access-Control-Allow-Headers", Value: header(e, "Access-Control-Request-Headers")}})...)
	return devtools.Step{Method: fetch.CommandFulfillRequest, Params: fetch.FulfillRequestParams{RequestID: e.RequestID, ResponseCode: 204, ResponseHeaders: headers}}
}

// modify sends a request with changes.
func modify(e *fetch.EventRequestPaused, m *routes.Modify) devtools.Step {
	params := fetch.ContinueRequestParams{RequestID: e.RequestID, URL: m.URL, Method: m.Method}
	if len(m.Set)+len(m.Remove) > 0 {
		params.Headers = changed(e.Request.Headers, m)
	}
	return devtools.Step{Method: fetch.CommandContinueRequest, Params: params}
}

// changed returns the headers of a request with the changes of a route.
func changed(of network.Headers, m *routes.Modify) []*fetch.HeaderEntry {
	gone := map[string]bool{}
	for _, name := range m.Remove {
		gone[strings.ToLower(name)] = true
	}
	for _, h := range m.Set {
		gone[strings.ToLower(h.Name)] = true
	}
	var all []*fetch.HeaderEntry
	for name, value := range of {
		if text, ok := value.(string); ok && !gone[strings.ToLower(name)] {
			all = append(all, &fetch.HeaderEntry{Name: name, Value: text})
		}
	}
	return append(all, entries(m.Set)...)
}

func entries(of []routes.Header) []*fetch.HeaderEntry {
	var all []*fetch.HeaderEntry
	for _, h := range of {
		all = append(all, &fetch.HeaderEntry{Name: h.Name, Value: h.Value})
	}
	return all
}
