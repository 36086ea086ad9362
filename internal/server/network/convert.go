package network

import (
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/telemetry/har"
)

// abortPrefix is the prefix of abort reasons in the API. Without the prefix and underscores, in lower case, they equal the reasons of
// package routes.
const abortPrefix = "ABORT_REASON_"

// routeOf converts a valid route of a request.
func routeOf(m *domtapv1.Route) routes.Route {
	r := routes.Route{Pattern: m.GetUrlPattern(), Types: m.GetResourceTypes(), Methods: m.GetMethods()}
	if a := m.GetAbort(); a != nil {
		r.Abort = &routes.Abort{Reason: abortReason(a.GetReason())}
	}
	if f := m.GetFulfill(); f != nil {
		r.Fulfill = &routes.Fulfill{Status: int(f.GetStatus()), Headers: routeHeaders(f.GetHeaders()), Body: f.GetBody()}
		if r.Fulfill.Status == 0 {
			r.Fulfill.Status = 200
		}
	}
	if c := m.GetModify(); c != nil {
		r.Modify = &routes.Modify{URL: c.GetUrl(), Method: c.GetMethod(), Set: routeHeaders(c.GetSetHeaders()), Remove: c.GetRemoveHeaders()}
	}
	return r
}

// abortReason returns the reason as named by package routes.
func abortReason(m domtapv1.AbortReason) string {
	if m == domtapv1.AbortReason_ABORT_REASON_UNSPECIFIED {
		m = domtapv1.AbortReason_ABORT_REASON_BLOCKED_BY_CLIENT
	}
	return abortWord(m.String())
}

func abortWord(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, abortPrefix), "_", ""))
}

// abortMessage is the inverse of abortReason.
func abortMessage(word string) domtapv1.AbortReason {
	for name, value := range domtapv1.AbortReason_value {
		if abortWord(name) == word {
			return domtapv1.AbortReason(value)
		}
	}
	return domtapv1.AbortReason_ABORT_REASON_UNSPECIFIED
}

func routeHeaders(all []*domtapv1.Header) []routes.Header {
	var out []routes.Header
	for _, h := range all {
		out = append(out, routes.Header{Name: h.GetName(), Value: h.GetValue()})
	}
	return out
}

func routeHeaderMessages(all []routes.Header) []*domtapv1.Header {
	var out []*domtapv1.Header
	for _, h := range all {
		out = append(out, &domtapv1.Header{Name: h.Name, Value: har.Value(h.Name, h.Value)})
	}
	return out
}

// routeMessage converts a route. It omits the body and the values of secret headers and parameters, such as Authorization, because
// read-only clients can list routes too.
func routeMessage(r routes.Route) *domtapv1.Route {
	m := &domtapv1.Route{Id: r.ID, UrlPattern: r.Pattern, ResourceTypes: r.Types, Methods: r.Methods, Matched: r.Matched.Count()}
	switch {
	case r.Abort != nil:
		m.Action = &domtapv1.Route_Abort{Abort: &domtapv1.RouteAbort{Reason: abortMessage(r.Abort.Reason)}}
	case r.Fulfill != nil:
		m.Action = &domtapv1.Route_Fulfill{Fulfill: &domtapv1.RouteFulfill{
			Status: int32(r.Fulfill.Status), Headers: routeHeaderMessages(r.Fulfill.Headers), BodySize: int32(len(r.Fulfill.Body))}}
	case r.Modify != nil:
		m.Action = &domtapv1.Route_Modify{Modify: &domtapv1.RouteModify{
			Url: har.URL(r.Modify.URL), Method: r.Modify.Method, SetHeaders: routeHeaderMessages(r.Modify.Set), RemoveHeaders: r.Modify.Remove}}
	}
	return m
}

// routeMessages converts routes.
func routeMessages(all []routes.Route) []*domtapv1.Route {
	var out []*domtapv1.Route
	for _, r := range all {
		out = append(out, routeMessage(r))
	}
	return out
}
