package network

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/routes"
	"github.com/domtap/domtap/internal/server/rules"
)

// Rules are the rules of the requests of NetworkService.
var Rules = rules.Union(
	rules.Of(checkAddRoute),
	rules.Of(rules.Session[*domtapv1.ListRoutesRequest]),
	rules.Of(checkRemoveRoutes),
)

// httpMethod matches an HTTP method as browsers write it.
var httpMethod = lazyregexp.New(`^[A-Z]{1,20}$`)

// wireHeaders lists the headers that belong to a connection. A route cannot set them.
var wireHeaders = []string{"connection", "content-length", "host", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"}

func checkAddRoute(v *rules.Violations, r *domtapv1.AddRouteRequest) {
	v.SessionID(r.GetSessionId())
	route := r.GetRoute()
	if !v.Want(route != nil, "route", "is required") {
		return
	}
	if _, err := routes.ParsePattern(route.GetUrlPattern()); err != nil {
		v.Want(false, "route.url_pattern", err.Error())
	}
	v.MaxEntries("route.resource_types", len(route.GetResourceTypes()), len(routes.Types))
	for i, kind := range route.GetResourceTypes()[:min(len(route.GetResourceTypes()), len(routes.Types))] {
		description := "must be one of " + strings.Join(routes.Types, ", ")
		if kind == "websocket" {
			description = "must not be websocket: browsers do not let routes decide on WebSockets"
		}
		v.Want(routes.IsType(kind), fmt.Sprintf("route.resource_types[%d]", i), description)
	}
	v.MaxEntries("route.methods", len(route.GetMethods()), routes.MaxMethods)
	for i, method := range route.GetMethods()[:min(len(route.GetMethods()), routes.MaxMethods)] {
		v.Want(httpMethod().MatchString(method), fmt.Sprintf("route.methods[%d]", i), "must be a method in capitals, such as POST")
	}
	checkRouteAction(v, route)
}

func checkRouteAction(v *rules.Violations, route *domtapv1.Route) {
	switch action := route.GetAction().(type) {
	case *domtapv1.Route_Abort:
		rules.Known(v, "route.abort.reason", action.Abort.GetReason(), "must be a known reason, such as BLOCKED_BY_CLIENT")
	case *domtapv1.Route_Fulfill:
		checkRouteFulfill(v, action.Fulfill)
	case *domtapv1.Route_Modify:
		checkRouteModify(v, action.Modify)
	default:
		v.Want(false, "route.action", "is required: abort, fulfill or modify")
	}
}

func checkRouteFulfill(v *rules.Violations, f *domtapv1.RouteFulfill) {
	const at = "route.fulfill."
	v.Want(f.GetStatus() == 0 || 200 <= f.GetStatus() && f.GetStatus() <= 599, at+"status", "must be 200 to 599; unset means 200")
	v.Headers(at+"headers", f.GetHeaders())
	v.Want(len(f.GetBody()) <= routes.MaxBody, at+"body", fmt.Sprintf("must have at most %d MiB", routes.MaxBody>>20))
}

func checkRouteModify(v *rules.Violations, m *domtapv1.RouteModify) {
	const at = "route.modify."
	some := m.GetUrl() != "" || m.GetMethod() != "" || len(m.GetSetHeaders())+len(m.GetRemoveHeaders()) > 0
	v.Want(some, "route.modify", "must change something: url, method, set_headers or remove_headers")
	if m.GetUrl() != "" {
		u, err := url.Parse(m.GetUrl())
		ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(m.GetUrl()) <= routes.MaxPattern
		v.Want(ok, at+"url", "must be an http or https URL, such as https://staging.example.com/")
	}
	v.Want(m.GetMethod() == "" || httpMethod().MatchString(m.GetMethod()), at+"method", "must be a method in capitals, such as POST")
	v.Headers(at+"set_headers", m.GetSetHeaders())
	for i, h := range m.GetSetHeaders()[:min(len(m.GetSetHeaders()), rules.MaxHeaders)] {
		v.Want(!slices.Contains(wireHeaders, strings.ToLower(h.GetName())), fmt.Sprintf("%sset_headers[%d].name", at, i), "must not be a header of the connection: "+strings.Join(wireHeaders, ", "))
	}
	v.MaxEntries(at+"remove_headers", len(m.GetRemoveHeaders()), routes.MaxHeaders)
	for i, name := range m.GetRemoveHeaders()[:min(len(m.GetRemoveHeaders()), routes.MaxHeaders)] {
		v.HeaderName(fmt.Sprintf("%sremove_headers[%d]", at, i), name)
	}
}

func checkRemoveRoutes(v *rules.Violations, r *domtapv1.RemoveRoutesRequest) {
	v.SessionID(r.GetSessionId())
	v.MaxEntries("route_ids", len(r.GetRouteIds()), routes.MaxRoutes)
	for i, id := range r.GetRouteIds()[:min(len(r.GetRouteIds()), routes.MaxRoutes)] {
		v.Want(id != "" && len(id) <= rules.MaxID, fmt.Sprintf("route_ids[%d]", i), "must be the id of a route, such as r1")
	}
}
