// Package routes decides how to handle the requests of a session: which Route matches a request, and how the route handles it. It does not
// depend on a browser: package internal/browser/intercept calls it and applies the decisions.
//
// A Route is a plain value. A Table holds the compiled routes of a session and the presets that block requests. It is immutable and safe
// for concurrent use. Routes count their matches in a Counter, which copies of the route share.
package routes

import (
	"slices"
	"sync/atomic"
)

// Limits of the routes of a session.
const (
	// MaxRoutes limits the number of routes.
	MaxRoutes = 100
	// MaxMethods limits the methods of a route.
	MaxMethods = 10
	// MaxHeaders limits the headers that a route sets or removes.
	MaxHeaders = 50
	// MaxBody limits the bytes of the body of one route, and MaxBodies the bytes of the bodies of all routes.
	MaxBody   = 1 << 20
	MaxBodies = 2 << 20
)

// Route describes the handling of the requests that it matches. Exactly one of Abort, Fulfill and Modify is set.
type Route struct {
	// ID identifies the route in its session.
	ID string
	// Pattern must match the whole URL; see ParsePattern.
	Pattern string
	// Types lists the matching types of requests, from the variable Types. If empty, all types match.
	Types []string
	// Methods lists the matching methods in upper case. If empty, all methods match.
	Methods []string
	Abort   *Abort
	Fulfill *Fulfill
	Modify  *Modify
	// Matched counts the requests that the route has answered or modified. It may be nil.
	Matched *Counter `json:"-"`
}

// Abort fails a request.
type Abort struct {
	// Reason is one of Reasons.
	Reason string
}

// Fulfill answers a request in place of the server.
type Fulfill struct {
	// Status is between 200 and 599.
	Status  int
	Headers []Header
	Body    []byte
}

// Modify sends a modified request. Empty fields change nothing.
type Modify struct {
	URL, Method string
	// Set lists headers to add or replace. Remove lists the names of headers to remove.
	Set    []Header
	Remove []string
}

// Header is an HTTP header.
type Header struct{ Name, Value string }

// Size returns the size of the route's body in bytes.
func (r *Route) Size() int {
	if r.Fulfill == nil {
		return 0
	}
	return len(r.Fulfill.Body)
}

// Counter is a counter. A nil Counter counts nothing.
type Counter struct{ n atomic.Uint64 }

// Add increments the counter.
func (c *Counter) Add() {
	if c != nil {
		c.n.Add(1)
	}
}

// Count returns the count.
func (c *Counter) Count() uint64 {
	if c == nil {
		return 0
	}
	return c.n.Load()
}

// Types lists the types of requests that a route can match. A browser knows less about an intercepted request than about a sent one: fetch
// and xhr are not distinguished, and other covers manifest, eventsource, texttrack and further types in the log of a tab. WebSockets are
// missing, because browsers do not intercept them.
var Types = []string{"document", "stylesheet", "image", "media", "font", "script", "fetch", "xhr", "prefetch", "ping", "cspviolationreport", "other"}

// scripted lists the types of requests of scripts. A browser does not distinguish them in intercepted requests.
var scripted = []string{"fetch", "xhr"}

// IsType reports whether a word is one of Types.
func IsType(word string) bool { return slices.Contains(Types, word) }

// Reasons lists the reasons of Abort, named as in CDP and Playwright.
var Reasons = []string{
	"blockedbyclient", "failed", "aborted", "timedout", "accessdenied", "connectionclosed", "connectionreset", "connectionrefused",
	"connectionaborted", "connectionfailed", "namenotresolved", "internetdisconnected", "addressunreachable", "blockedbyresponse",
}
