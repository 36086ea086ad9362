package check

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/routes"
)

// httpMethod matches an HTTP method as browsers write it.
var httpMethod = lazyregexp.New(`^[A-Z]{1,20}$`)

// wireHeaders lists the headers that belong to a connection. A route cannot set them.
var wireHeaders = []string{"connection", "content-length", "host", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"}

func checkAddRoute(v *violations, r *domtapv1.AddRouteRequest) {
	checkSessionID(v, r.GetSessionId())
	route := r.GetRoute()
	if !v.want(route != nil, "route", "is required") {
		return
	}
	if _, err := routes.ParsePattern(route.GetUrlPattern()); err != nil {
		v.want(false, "route.url_pattern", err.Error())
	}
	v.want(len(route.GetResourceTypes()) <= len(routes.Types), "route.resource_types", fmt.Sprintf("must have at most %d entries", len(routes.Types)))
	for i, kind := range route.GetResourceTypes()[:min(len(route.GetResourceTypes()), len(routes.Types))] {
		description := "must be one of " + strings.Join(routes.Types, ", ")
		if kind == "websocket" {
			description = "must not be websocket: browsers do not let routes decide on WebSockets"
		}
		v.want(routes.IsType(kind), fmt.Sprintf("route.resource_types[%d]", i), description)
	}
	v.want(len(route.GetMethods()) <= routes.MaxMethods, "route.methods", fmt.Sprintf("must have at most %d entries", routes.MaxMethods))
	for i, method := range route.GetMethods()[:min(len(route.GetMethods()), routes.MaxMethods)] {
		v.want(httpMethod().MatchString(method), fmt.Sprintf("route.methods[%d]", i), "must be a method in capitals, such as POST")
	}
	checkRouteAction(v, route)
}

func checkRouteAction(v *violations, route *domtapv1.Route) {
	switch action := route.GetAction().(type) {
	case *domtapv1.Route_Abort:
		_, known := domtapv1.AbortReason_name[int32(action.Abort.GetReason())]
		v.want(known, "route.abort.reason", "must be a known reason, such as BLOCKED_BY_CLIENT")
	case *domtapv1.Route_Fulfill:
		checkRouteFulfill(v, action.Fulfill)
	case *domtapv1.Route_Modify:
		checkRouteModify(v, action.Modify)
	default:
		v.want(false, "route.action", "is required: abort, fulfill or modify")
	}
}

func checkRouteFulfill(v *violations, f *domtapv1.RouteFulfill) {
	const at = "route.fulfill."
	v.want(f.GetStatus() == 0 || 200 <= f.GetStatus() && f.GetStatus() <= 599, at+"status", "must be 200 to 599; unset means 200")
	checkHeaders(v, at+"headers", f.GetHeaders())
	v.want(len(f.GetBody()) <= routes.MaxBody, at+"body", fmt.Sprintf("must have at most %d MiB", routes.MaxBody>>20))
}

func checkRouteModify(v *violations, m *domtapv1.RouteModify) {
	const at = "route.modify."
	some := m.GetUrl() != "" || m.GetMethod() != "" || len(m.GetSetHeaders())+len(m.GetRemoveHeaders()) > 0
	v.want(some, "route.modify", "must change something: url, method, set_headers or remove_headers")
	if m.GetUrl() != "" {
		u, err := url.Parse(m.GetUrl())
		ok := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && len(m.GetUrl()) <= routes.MaxPattern
		v.want(ok, at+"url", "must be an http or https URL, such as https://staging.example.com/")
	}
	v.want(m.GetMethod() == "" || httpMethod().MatchString(m.GetMethod()), at+"method", "must be a method in capitals, such as POST")
	checkHeaders(v, at+"set_headers", m.GetSetHeaders())
	for i, h := range m.GetSetHeaders()[:min(len(m.GetSetHeaders()), maxHeaders)] {
		v.want(!slices.Contains(wireHeaders, strings.ToLower(h.GetName())), fmt.Sprintf("%sset_headers[%d].name", at, i), "must not be a header of the connection: "+strings.Join(wireHeaders, ", "))
	}
	v.want(len(m.GetRemoveHeaders()) <= routes.MaxHeaders, at+"remove_headers", fmt.Sprintf("must have at most %d entries", routes.MaxHeaders))
	for i, name := range m.GetRemoveHeaders()[:min(len(m.GetRemoveHeaders()), routes.MaxHeaders)] {
		v.want(len(name) <= maxID && token().MatchString(name), fmt.Sprintf("%sremove_headers[%d]", at, i), "must be the name of an HTTP header")
	}
}

func checkRemoveRoutes(v *violations, r *domtapv1.RemoveRoutesRequest) {
	checkSessionID(v, r.GetSessionId())
	v.want(len(r.GetRouteIds()) <= routes.MaxRoutes, "route_ids", fmt.Sprintf("must have at most %d entries", routes.MaxRoutes))
	for i, id := range r.GetRouteIds()[:min(len(r.GetRouteIds()), routes.MaxRoutes)] {
		v.want(id != "" && len(id) <= maxID, fmt.Sprintf("route_ids[%d]", i), "must be the id of a route, such as r1")
	}
}
