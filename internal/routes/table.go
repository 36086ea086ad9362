package routes

import (
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/folders"
)

// Request holds the properties of a request that routes depend on.
type Request struct {
	// URL has no fragment.
	URL string
	// Type is one of Types, or preflight.
	Type   string
	Method string
	// Main reports that the request loads the document of a tab. Presets do not block it.
	Main bool
	// Asked is the requested method of a preflight request. It is empty for other requests.
	Asked string
}

// Held describes requests that a browser must intercept so that a Table can decide on them.
type Held struct {
	// URL is a pattern with the wildcard *. A backslash makes *, ? and itself literal.
	URL string
	// Type is one of Types. If empty, all types match. A browser intercepts preflight requests together with their actual requests.
	Type string
}

// maxHeld limits the number of kinds of intercepted requests. Beyond it, requests are intercepted by URL only, regardless of their type.
const maxHeld = 500

// Table decides on requests. A nil Table does not intercept requests.
type Table struct {
	routes []compiled
	// hosts and types are blocked by presets.
	hosts map[string]bool
	types []string
	// blocked counts the requests blocked by presets.
	blocked *Counter
	// file returns an error for a file: URL that must not be loaded. If nil, file: URLs are not checked.
	file func(url string) error
}

// compiled is a compiled route.
type compiled struct {
	Route
	pattern Pattern
}

// NewTable returns the table for routes and presets, or nil if there are none. Later routes take precedence. Routes with patterns that
// ParsePattern rejects are omitted; they were rejected earlier.
func NewTable(all []Route, presets []string) *Table {
	t := &Table{hosts: map[string]bool{}, blocked: new(Counter)}
	for _, r := range slices.Backward(all) {
		if pattern, err := ParsePattern(r.Pattern); err == nil {
			t.routes = append(t.routes, compiled{r, pattern})
		}
	}
	for _, name := range presets {
		t.add(preset(name))
	}
	if len(t.routes)+len(t.hosts)+len(t.types) == 0 {
		return nil
	}
	return t
}

// WithFiles returns a table that also checks file: URLs, before any route: URLs for which allow fails are not loaded. The receiver may be
// nil. A nil allow changes nothing and leaves file: URLs to the browser.
func (t *Table) WithFiles(allow func(url string) error) *Table {
	if allow == nil {
		return t
	}
	out := Table{blocked: new(Counter)}
	if t != nil {
		out = *t
	}
	out.file = allow
	return &out
}

func (t *Table) add(l list) {
	for _, host := range l.hosts {
		t.hosts[host] = true
	}
	t.types = append(t.types, l.types...)
}

// blocking is the route for requests that presets block.
var blocking = Route{Abort: &Abort{Reason: "blockedbyclient"}}

// denying is the route for files that must not be loaded.
var denying = Route{Abort: &Abort{Reason: "accessdenied"}}

// Match returns the route for a request, or nil if the request is not intercepted. It counts the request unless it is a preflight request.
func (t *Table) Match(r Request) *Route {
	if t == nil {
		return nil
	}
	if t.file != nil && folders.IsURL(r.URL) && t.file(r.URL) != nil {
		return &denying
	}
	for i := range t.routes {
		if one := &t.routes[i]; one.matches(r) {
			r.count(one.Matched)
			return &one.Route
		}
	}
	if !r.Main && t.blocks(r) {
		r.count(t.blocked)
		return &blocking
	}
	return nil
}

// count counts a request.
func (r Request) count(in *Counter) {
	if r.Asked == "" {
		in.Add()
	}
}

// Blocked returns how many requests the presets have blocked.
func (t *Table) Blocked() uint64 {
	if t == nil {
		return 0
	}
	return t.blocked.Count()
}

// matches reports whether a route matches a request. A preflight request matches like its actual request.
func (c *compiled) matches(r Request) bool {
	method, types := r.Method, []string{r.Type}
	if r.Asked != "" {
		method = r.Asked
	}
	if r.Asked != "" || slices.Contains(scripted, r.Type) {
		types = scripted
	}
	switch {
	case len(c.Methods) > 0 && !slices.Contains(c.Methods, method):
		return false
	case len(c.Types) > 0 && !slices.ContainsFunc(types, func(kind string) bool { return slices.Contains(c.Types, kind) }):
		return false
	}
	return c.pattern.Matches(r.URL)
}

// blocks reports whether presets block a request.
func (t *Table) blocks(r Request) bool {
	if slices.Contains(t.types, r.Type) {
		return true
	}
	if len(t.hosts) == 0 {
		return false
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return false
	}
	for host := u.Hostname(); host != ""; {
		if t.hosts[host] {
			return true
		}
		_, host, _ = strings.Cut(host, ".")
	}
	return false
}

// Held returns the requests that the browser must intercept: all requests that the table may decide on, and few others. The list is sorted.
func (t *Table) Held() []Held {
	if t == nil {
		return nil
	}
	var all []Held
	if t.file != nil {
		all = append(all, Held{URL: "file:*"})
	}
	for i := range t.routes {
		all = append(all, t.routes[i].held()...)
	}
	for host := range t.hosts {
		all = append(all, Held{URL: "*://*" + host + "*"})
	}
	for _, kind := range t.types {
		all = append(all, Held{URL: "*", Type: kind})
	}
	if len(all) > maxHeld {
		for i := range all {
			all[i].Type = ""
		}
	}
	slices.SortFunc(all, func(a, b Held) int { return strings.Compare(a.URL+" "+a.Type, b.URL+" "+b.Type) })
	return slices.Compact(all)
}

// held returns the requests that a route may match.
func (c *compiled) held() []Held {
	if len(c.Types) == 0 {
		return []Held{{URL: c.pattern.wide}}
	}
	var all []Held
	for _, kind := range c.Types {
		if slices.Contains(scripted, kind) {
			kind = "xhr"
		}
		all = append(all, Held{URL: c.pattern.wide, Type: kind})
	}
	return all
}
