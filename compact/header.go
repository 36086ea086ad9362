package compact

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// Header is the part of a text before its first element.
type Header struct {
	// URL and Title are those of the page.
	URL, Title string
	// History holds the pages that the tab showed, oldest first, the current one last. The last five
	// are printed when there are two or more.
	History []Visit
	// Signals lists the signs of prompt injection on the page; empty: none.
	Signals string
	// Links is the site that links of a DENSE text lead to unless they show another target; empty: the
	// page's own. See dense.Page.Home.
	Links string
	// Next is the cursor that continues a truncated answer; empty: there is none.
	Next string

	// shortening is how much of the header is left out, 0 to smallestHeader.
	shortening int
	// dense says that the header is that of format DENSE; see Dense.
	dense bool
}

// Visit is a page that the tab showed. A page without a title is shown by its URL.
type Visit struct{ URL, Title string }

// breadcrumb is how many visits are printed.
const breadcrumb = 5

// headerSizes are the sizes of the header, from the largest: how many characters of the URL and the title
// are printed, and whether the history is printed.
var headerSizes = [...]struct {
	url, title int
	history    bool
	signals    int
}{
	{200, part.MaxText, true, 200},
	{200, part.MaxText, false, 200},
	{80, 40, false, 80},
	{40, 0, false, 20},
}

const smallestHeader = len(headerSizes) - 1

// facts are the figures in a header.
type facts struct {
	reason                  view.Reason
	included, total, tokens int
	next                    string
}

func factsOf(h Header, v view.View) facts {
	return facts{v.Reason, v.Elements.Len(), v.Total, v.Tokens, h.Next}
}

// append appends the lines of the header, each with its line end.
func (h Header) append(dst []byte, f facts) []byte {
	size, mark := headerSizes[h.shortening], "# "
	if h.dense {
		mark = "" // which begins a heading there
	}
	dst = append(dst, "URL: "...)
	dst = h.appendAddress(dst, h.URL, size.url)
	if size.title > 0 {
		start := len(dst)
		dst = append(dst, " | Title: "...)
		filled := h.appendWords(dst, h.Title, size.title)
		if len(filled) == len(dst) {
			filled = dst[:start]
		}
		dst = filled
	}
	dst = append(dst, '\n')
	dst = f.append(dst, mark)
	if h.Signals != "" {
		dst = append(append(dst, mark...), "Signals: "...)
		dst = append(h.appendWords(dst, h.Signals, size.signals), '\n')
	}
	if h.dense && h.Links != "" {
		dst = append(append(append(dst, "Links: "...), part.Target(h.Links, part.MaxTarget)...), '\n')
	}
	if size.history && len(h.History) >= 2 && (!h.dense || len(withoutRepeats(h.History)) >= 2) {
		dst = h.appendHistory(append(dst, mark...), h.History)
	}
	return dst
}

// appendWords appends a string cleaned, so that DENSE does not take a part of it for a ref.
func (h Header) appendWords(dst []byte, s string, limit int) []byte {
	if h.dense {
		return part.AppendWords(dst, s, limit, "")
	}
	return part.AppendClean(dst, s, limit)
}

// appendAddress appends the URL of a page, or "(none)".
func (h Header) appendAddress(dst []byte, url string, limit int) []byte {
	start := len(dst)
	text, cut := Base{}.Shorten(dom.MaskCredentials(url))
	dst = h.appendWords(dst, text, limit)
	switch {
	case cut:
		dst = append(dst, part.Ellipsis...)
	case len(dst) == start:
		dst = append(dst, "(none)"...)
	}
	return dst
}

// append appends the lines that a truncated view needs; others need none.
func (f facts) append(dst []byte, mark string) []byte {
	if f.reason == view.NotTruncated {
		return dst
	}
	dst = append(append(dst, mark...), "Elements: "...)
	dst = strconv.AppendInt(dst, int64(f.included), 10)
	dst = append(dst, " of "...)
	dst = strconv.AppendInt(dst, int64(f.total), 10)
	dst = append(dst, " (truncated: "...)
	dst = append(dst, f.reason.String()...)
	dst = part.AppendAfter(dst, ", next: ", f.next, part.MaxCursor)
	dst = append(dst, ")\n"...)
	if f.tokens > 0 {
		dst = append(append(dst, mark...), "Tokens: "...)
		dst = strconv.AppendInt(dst, int64(f.tokens), 10)
		dst = append(dst, '\n')
	}
	return dst
}

func (h Header) appendHistory(dst []byte, history []Visit) []byte {
	dst = append(dst, "Navigation: "...)
	if h.dense {
		history = withoutRepeats(history)
	}
	for i, visit := range history[max(0, len(history)-breadcrumb):] {
		if i > 0 {
			dst = append(dst, " → "...)
		}
		start := len(dst)
		dst = h.appendWords(dst, visit.Title, part.MaxVisit)
		if len(dst) == start {
			dst = h.appendAddress(dst, visit.URL, part.MaxVisit)
		}
	}
	return append(dst, '\n')
}

// withoutRepeats leaves out visits that the next one says again, as of pages that redirect to themselves.
func withoutRepeats(history []Visit) (out []Visit) {
	path := func(v Visit) string {
		url, _, _ := strings.Cut(v.URL, "#")
		url, _, _ = strings.Cut(url, "?")
		return url
	}
	for i, v := range history {
		if i > 0 {
			last := out[len(out)-1]
			if v.Title == last.Title && v.Title != "" || (v.Title == "" || last.Title == "") && path(v) == path(last) {
				out = out[:len(out)-1]
				v.Title = cmp.Or(v.Title, last.Title)
			}
		}
		out = append(out, v)
	}
	return out
}

// Overhead returns what the header costs at most before any view with fewer than a million elements
// and tokens, as count counts. It is meant for view.Options.Overhead. Next must be set to a cursor as
// long as the real one will be, if there will be one.
func (h Header) Overhead(count func(string) int) int {
	most := 0
	for _, reason := range []view.Reason{view.NotTruncated, view.ElementLimit, view.TokenBudget} {
		f := facts{reason, 999_999, 999_999, 999_999, h.Next}
		most = max(most, count(string(h.append(nil, f))))
	}
	return most
}

// Within returns a header with an Overhead of at most limit: the same where it fits, else without the
// history, then with title and URL cut, then without the title. About 50 tokens always suffice; below
// that the shortest header is returned.
func (h Header) Within(limit int, count func(string) int) Header {
	for h.shortening < smallestHeader && h.Overhead(count) > limit {
		h.shortening++
	}
	return h
}

// Settle replaces the upper bound in v.Tokens, made with the given overhead, by what Lines(h, v) costs
// exactly: the header's own figures are known by now. It leaves a view without a budget as it is.
func Settle(h Header, v view.View, overhead int, count func(string) int) view.View {
	if v.Tokens == 0 {
		return v
	}
	lines := v.Tokens - overhead
	// The figure is part of what it counts; one digit more or less is all that can change.
	for range 3 {
		v.Tokens = lines + count(string(h.append(nil, factsOf(h, v))))
	}
	return v
}
