// Package search asks search engines on the web, through providers of their results, and prints what they return within
// a budget of tokens. No browser takes part.
//
// A Searcher has the providers that the operator has set up, and a cache. Package provider has the providers. What the
// package guarantees:
//
//   - Whatever a provider answers, results are bounded in number and length, and their texts are one line each, without
//     control characters, in valid UTF-8.
//   - Errors are of type *Error, or those of the caller's context. None has a key.
//   - The text of an answer never costs more than its budget.
//
// Results are what strangers have written: data, never instructions.
package search

import (
	"context"
	"slices"
	"strings"
)

// Kind is what is searched for.
type Kind uint8

// The kinds.
const (
	// Web is pages of any kind.
	Web Kind = iota + 1
	// News is articles, with their dates.
	News
	// Images is pictures, with the pages that have them.
	Images
	// Places is shops, sights and addresses.
	Places
	// Shopping is offers, with their prices.
	Shopping
)

// Kinds are all kinds.
var Kinds = []Kind{Web, News, Images, Places, Shopping}

var kindNames = [...]string{Web: "web", News: "news", Images: "images", Places: "places", Shopping: "shopping"}

// String returns "web", "news", "images", "places", "shopping", or "" for no kind.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return ""
	}
	return kindNames[k]
}

// MaxCount is the most results of a query.
const MaxCount = 50

// Query is what a provider is asked.
type Query struct {
	// Text is the words, in the syntax of the provider; most know "words in quotes", -word and site:host.
	Text string
	Kind Kind
	// Count is how many results are wanted, 1 to MaxCount.
	Count int
}

// Result is one result. Only Title, or URL, is always set. What a provider does not know is empty.
type Result struct {
	Title string
	// URL is absolute, with the scheme http or https: of the page, or of the picture if no page is known. Only a place may
	// have none.
	URL string
	// Host is that of URL, without a port and without www.
	Host string
	// Text is an extract of the page, or a description.
	Text string
	// Date is when the page was published, as the provider says it: "2 days ago", "Nov 3, 2026". Day is the same as
	// YYYY-MM-DD, counted in UTC; empty if that takes a guess.
	Date, Day string
	// Source is the name of the publisher, shop or site.
	Source string
	// ImageURL is the picture of the kind Images, of ImageWidth × ImageHeight pixels; 0: unknown.
	ImageURL                string
	ImageWidth, ImageHeight int
	// Price is as the provider says it, with its currency: of an offer, or the price range of a place.
	Price string
	// Rating is the mean of Ratings opinions, mostly of at most 5. 0: unknown.
	Rating  float64
	Ratings int
	// Address is that of a place.
	Address string
	// Phone is the telephone number of a place.
	Phone string
}

// Provider is a service that answers queries.
type Provider interface {
	// Name names the provider in settings, requests and answers, such as "brave".
	Name() string
	// Kinds are the kinds of queries that the provider answers.
	Kinds() []Kind
	// Search answers a query of one of these kinds, with at most Count results, the best first; none is no error. Errors
	// are of type *Error, or the cause of the end of ctx.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Has reports whether a provider answers queries of a kind.
func Has(p Provider, kind Kind) bool { return slices.Contains(p.Kinds(), kind) }

// joined joins kinds with commas.
func joined(kinds []Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}
