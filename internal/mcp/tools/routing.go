package tools

import (
	"context"
	"fmt"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/args"
)

// routeArgs holds the arguments of browser_route.
type routeArgs struct {
	Action string            `json:"action"`
	URL    string            `json:"url"`
	Types  args.List[string] `json:"types"`
	Method string            `json:"method"`
	Status args.Number       `json:"status"`
	Body   string            `json:"body"`
	Header args.List[string] `json:"headers"`
	To     string            `json:"to"`
	Route  string            `json:"route"`
}

// route lists, adds and removes routes of the model's browser session.
func route(ctx context.Context, c *Call) error {
	a, err := read[routeArgs](c)
	if err != nil {
		return err
	}
	do, known := routeActions[a.Action]
	if !known {
		return inputf("action must be one of %s", strings.Join(args.Names(routeActions), ", "))
	}
	return do(ctx, c, a)
}

// routeActions maps the values of action to functions.
var routeActions = map[string]func(context.Context, *Call, *routeArgs) error{
	"block": addRoute, "mock": addRoute, "rewrite": addRoute, "list": listRoutes, "remove": removeRoutes,
}

// addRoute adds a route.
func addRoute(ctx context.Context, c *Call, a *routeArgs) error {
	r := &domtapv1.Route{UrlPattern: a.URL, ResourceTypes: a.Types}
	if a.Method != "" {
		r.Methods = []string{strings.ToUpper(a.Method)}
	}
	headers, err := headersOf(a.Header)
	if err != nil {
		return err
	}
	switch a.Action {
	case "block":
		r.Action = &domtapv1.Route_Abort{Abort: &domtapv1.RouteAbort{}}
	case "mock":
		r.Action = &domtapv1.Route_Fulfill{Fulfill: a.answer(c, headers)}
	case "rewrite":
		r.Action = &domtapv1.Route_Modify{Modify: &domtapv1.RouteModify{Url: a.To, SetHeaders: headers}}
	}
	added, err := c.Daemon.Network.AddRoute(ctx, &domtapv1.AddRouteRequest{SessionId: c.Session.Browser, Route: r})
	if err != nil {
		return err
	}
	c.addLine("route %s", added.GetRoute().GetId())
	return nil
}

// answer returns the response of a mock. The content type is guessed from the body unless headers set it.
func (a *routeArgs) answer(c *Call, headers []*domtapv1.Header) *domtapv1.RouteFulfill {
	f := &domtapv1.RouteFulfill{Headers: headers, Body: []byte(a.Body)}
	if status := c.Int32("status", a.Status, args.Range{Low: 200, High: 599}); status != nil {
		f.Status = *status
	}
	for _, h := range headers {
		if strings.EqualFold(h.GetName(), "Content-Type") {
			return f
		}
	}
	kind := "text/plain; charset=utf-8"
	if text := strings.TrimSpace(a.Body); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		kind = "application/json"
	} else if strings.HasPrefix(text, "<") {
		kind = "text/html; charset=utf-8"
	}
	f.Headers = append(f.Headers, &domtapv1.Header{Name: "Content-Type", Value: kind})
	return f
}

func headersOf(lines []string) ([]*domtapv1.Header, error) {
	var all []*domtapv1.Header
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found {
			return nil, inputf("headers must be lines such as \"X-Team: blue\"")
		}
		all = append(all, &domtapv1.Header{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return all, nil
}

func listRoutes(ctx context.Context, c *Call, _ *routeArgs) error {
	answer, err := c.Daemon.Network.ListRoutes(ctx, &domtapv1.ListRoutesRequest{SessionId: c.Session.Browser})
	if err != nil {
		return err
	}
	if len(answer.GetRoutes()) == 0 {
		c.addLine("no routes")
	}
	for _, r := range answer.GetRoutes() {
		c.addLine("%s: %s %s, %d matched", r.GetId(), routeAction(r), oneLine(r.GetUrlPattern()), r.GetMatched())
	}
	return nil
}

func routeAction(r *domtapv1.Route) string {
	switch action := r.GetAction().(type) {
	case *domtapv1.Route_Fulfill:
		return fmt.Sprintf("mock %d", action.Fulfill.GetStatus())
	case *domtapv1.Route_Modify:
		return "rewrite"
	}
	return "block"
}

func removeRoutes(ctx context.Context, c *Call, a *routeArgs) error {
	request := &domtapv1.RemoveRoutesRequest{SessionId: c.Session.Browser}
	switch a.Route {
	case "":
		return inputf("route is missing: the name of a route, or all")
	case "all":
	default:
		request.RouteIds = []string{a.Route}
	}
	answer, err := c.Daemon.Network.RemoveRoutes(ctx, request)
	if err != nil {
		return err
	}
	c.addLine("removed: %d", len(answer.GetRoutes()))
	return nil
}
