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
	// URL and Title belong to the page.
	URL, Title string
	// History holds the pages of the tab's history, oldest first, the current one last. If there are at least two, the last five are
	// printed.
	History []Visit
	// Signals lists the signs of prompt injection on the page. It is empty if there are none.
	Signals string
	// Links is the site that links of a DENSE text lead to unless they show another target. If empty, it is the page's own site. See
	// dense.Page.Home.
	Links string
	// Next is the cursor that continues a truncated answer. It is empty if there is none.
	Next string

	// shortening is the index in headerSizes, from 0 to smallestHeader.
	shortening int
	// dense reports that the header is for format DENSE; see Dense.
	dense bool
}

// Visit is a page in the tab's history. A page without a title is shown by its URL.
type Visit struct{ URL, Title string }

// breadcrumb limits how many visits are printed.
const breadcrumb = 5

// headerSizes holds the sizes of the header, largest first: how many characters of the URL, the title and the signals are printed, and
// whether the history is printed.
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

// facts are the numbers in a header.
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
		mark = "" // it would start a heading
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

// appendWords appends a cleaned string in which DENSE does not recognize refs.
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

// append appends the lines that only a truncated view needs.
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

// withoutRepeats removes visits that the next one repeats, for example after redirects.
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

// Overhead returns the maximum cost of the header for any view with fewer than a million elements and tokens, as computed by count. It is
// meant for view.Options.Overhead. If there will be a cursor, Next must be set to a string of its length.
func (h Header) Overhead(count func(string) int) int {
	most := 0
	for _, reason := range []view.Reason{view.NotTruncated, view.ElementLimit, view.TokenBudget} {
		f := facts{reason, 999_999, 999_999, 999_999, h.Next}
		most = max(most, count(string(h.append(nil, f))))
	}
	return most
}

// Within returns a header with an Overhead of at most limit. If the header does not fit, it omits the history, then shortens title and URL,
// then omits the title. About 50 tokens are always sufficient; below that the shortest header is returned.
func (h Header) Within(limit int, count func(string) int) Header {
	for h.shortening < smallestHeader && h.Overhead(count) > limit {
		h.shortening++
	}
	return h
}

// Settle replaces the upper bound in v.Tokens, which was computed with the given overhead, by the exact cost of Lines(h, v), because the
// numbers in the header are known now. It does not change a view without a budget.
func Settle(h Header, v view.View, overhead int, count func(string) int) view.View {
	if v.Tokens == 0 {
		return v
	}
	lines := v.Tokens - overhead
	// The number is part of the text that it counts, so it may change by one digit.
	for range 3 {
		v.Tokens = lines + count(string(h.append(nil, factsOf(h, v))))
	}
	return v
}
