package routes

import (
	"net/url"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/folders"
)

// Request is a request, as far as routes depend on it.
type Request struct {
	// URL has no fragment.
	URL string
	// Type is one of Types, or preflight.
	Type   string
	Method string
	// Main says that it is for the document of a tab, which presets leave alone.
	Main bool
	// Asked is the method that a preflight request asks for; empty for other requests.
	Asked string
}

// Held is a kind of request that a browser must hold, so that a Table can decide on it.
type Held struct {
	// URL is a pattern with the wildcard *; a backslash makes *, ? and itself stand for themselves.
	URL string
	// Type is one of Types; empty: all. A browser holds preflight requests with the requests that they are for.
	Type string
}

// maxHeld is how many kinds of requests are held apart. Beyond it, they are told apart by their URLs alone.
const maxHeld = 500

// Table decides on requests. The nil Table leaves all requests alone.
type Table struct {
	routes []compiled
	// hosts and types are what presets block.
	hosts map[string]bool
	types []string
	// blocked counts what presets block.
	blocked *Counter
	// file fails for a file: URL that may not be loaded; nil: no file: URL is looked at.
	file func(url string) error
}

// compiled is a route that is ready to match.
type compiled struct {
	Route
	pattern Pattern
}

// NewTable makes the table of routes, of which later ones take precedence, and of presets; nil when there are none. Routes with patterns
// that ParsePattern refuses are left out: they were refused before.
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

// WithFiles returns the table, also when it is nil, with a decision on file: URLs that comes before routes: those for which allow fails are
// not loaded. A nil allow changes nothing, and leaves file: URLs to the browser.
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

// blocking is the route of presets.
var blocking = Route{Abort: &Abort{Reason: "blockedbyclient"}}

// denying is the route of files that may not be loaded.
var denying = Route{Abort: &Abort{Reason: "accessdenied"}}

// Match returns the route that decides on a request, and counts it unless it is a preflight request; nil: the request is left alone.
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

// Blocked is how many requests the presets have blocked.
func (t *Table) Blocked() uint64 {
	if t == nil {
		return 0
	}
	return t.blocked.Count()
}

// matches reports whether a route matches a request. A preflight request matches what the request matches that it is for.
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

// Held lists what the browser must hold: all that the table may decide on, and little else. The list is sorted.
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

// held are the requests that a route may match.
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
