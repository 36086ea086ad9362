package render

import (
	"strconv"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Routes returns a table of routes. It omits header values because they may be secrets.
func Routes(all []*domtapv1.Route) string {
	return table("ROUTE\tMATCHED\tACTION\tREQUESTS", all, func(r *domtapv1.Route) []string {
		requests := append(append([]string{}, r.GetMethods()...), r.GetResourceTypes()...)
		requests = append(requests, r.GetUrlPattern())
		return []string{Cell(r.GetId(), 40), strconv.FormatUint(r.GetMatched(), 10), Cell(RouteAction(r), 100), Cell(strings.Join(requests, " "), 200)}
	})
}

// RouteAction describes the action of a route.
func RouteAction(r *domtapv1.Route) string {
	switch action := r.GetAction().(type) {
	case *domtapv1.Route_Abort:
		return "block (" + word(action.Abort.GetReason().String(), "ABORT_REASON_") + ")"
	case *domtapv1.Route_Fulfill:
		return "mock " + strconv.Itoa(int(action.Fulfill.GetStatus())) + ", " + strconv.Itoa(int(action.Fulfill.GetBodySize())) + " bytes"
	case *domtapv1.Route_Modify:
		parts := []string{"rewrite"}
		if m := action.Modify.GetMethod(); m != "" {
			parts = append(parts, m)
		}
		if u := action.Modify.GetUrl(); u != "" {
			parts = append(parts, u)
		}
		for _, h := range action.Modify.GetSetHeaders() {
			parts = append(parts, "+"+h.GetName())
		}
		for _, name := range action.Modify.GetRemoveHeaders() {
			parts = append(parts, "-"+name)
		}
		return strings.Join(parts, " ")
	}
	return ""
}
