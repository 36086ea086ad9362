// Package routes decides what happens to the requests of a session: which Route matches a request, and what the route does with
// it. It knows no browser: package internal/browser/intercept asks it, and tells the browser.
//
// A Route is a plain value. A Table has the routes of a session and the presets that block requests, compiled; it is immutable and
// safe for any number of goroutines. Routes count their matches in a Counter, which copies of the route share.
package routes

import (
	"slices"
	"sync/atomic"
)

// Limits of the routes of a session.
const (
	// MaxRoutes is the most routes.
	MaxRoutes = 100
	// MaxMethods is the most methods of a route.
	MaxMethods = 10
	// MaxHeaders is the most headers that a route sets or removes.
	MaxHeaders = 50
	// MaxBody is the most bytes of the body of one route, and MaxBodies of all routes together.
	MaxBody   = 1 << 20
	MaxBodies = 2 << 20
)

// Route says what happens to the requests that it matches. Exactly one of Abort, Fulfill and Modify is set.
type Route struct {
	// ID names the route in its session.
	ID string
	// Pattern is what the whole URL must match; see ParsePattern.
	Pattern string
	// Types are the types of requests that match, of Types; none: all.
	Types []string
	// Methods are the methods that match, in capitals; none: all.
	Methods []string
	Abort   *Abort
	Fulfill *Fulfill
	Modify  *Modify
	// Matched counts the requests that the route has answered or changed. It may be nil.
	Matched *Counter `json:"-"`
}

// Abort fails a request.
type Abort struct {
	// Reason is one of Reasons.
	Reason string
}

// Fulfill answers a request in place of its server.
type Fulfill struct {
	// Status is 200 to 599.
	Status  int
	Headers []Header
	Body    []byte
}

// Modify sends a request changed. What is empty stays as it is.
type Modify struct {
	URL, Method string
	// Set are headers to add or replace, and Remove the names of headers to leave out.
	Set    []Header
	Remove []string
}

// Header is a header of HTTP.
type Header struct{ Name, Value string }

// Size is how many bytes the body of the route has.
func (r *Route) Size() int {
	if r.Fulfill == nil {
		return 0
	}
	return len(r.Fulfill.Body)
}

// Counter counts. The nil Counter counts nothing.
type Counter struct{ n atomic.Uint64 }

// Add counts one more.
func (c *Counter) Add() {
	if c != nil {
		c.n.Add(1)
	}
}

// Count is how many were counted.
func (c *Counter) Count() uint64 {
	if c == nil {
		return 0
	}
	return c.n.Load()
}

// Types are the types of requests that a route can match. A browser knows less of a request that it holds than of one that it sends: fetch and
// xhr are the same, and other is what the log of a tab calls manifest, eventsource, texttrack and others. WebSockets are none of them:
// browsers hold none.
var Types = []string{"document", "stylesheet", "image", "media", "font", "script", "fetch", "xhr", "prefetch", "ping", "cspviolationreport", "other"}

// scripted are the types of requests of scripts, which a browser that holds a request does not tell apart.
var scripted = []string{"fetch", "xhr"}

// IsType reports whether a word is one of Types.
func IsType(word string) bool { return slices.Contains(Types, word) }

// Reasons are the reasons of Abort, in the words of CDP and Playwright.
var Reasons = []string{
	"blockedbyclient", "failed", "aborted", "timedout", "accessdenied", "connectionclosed", "connectionreset", "connectionrefused",
	"connectionaborted", "connectionfailed", "namenotresolved", "internetdisconnected", "addressunreachable", "blockedbyresponse",
}
