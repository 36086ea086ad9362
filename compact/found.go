package compact

import (
	"strconv"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// Found is the result of a search on a page.
type Found struct {
	Header Header
	// Query is the text that was searched for.
	Query string
	// Within, unless empty, is the required surroundings of the matches.
	Within string
	// Matches holds the best of Total matches, best first.
	Matches []*dom.Element
	Total   int
	// Contexts holds the contexts of the elements that share role and name with another one on the page.
	Contexts Contexts
	// Nearest holds the most similar elements if nothing matches.
	Nearest []*dom.Element
}

// Printed is the formatted result of a search.
type Printed struct {
	Text string
	// Lines holds the lines of the printed elements without their line ends: the first of Matches, or of Nearest.
	Lines []string
	// Tokens is the cost of the text.
	Tokens int
}

// headerPart is the part of a budget that the URL and title of the header may use: one fourth.
const headerPart = 4

// Print formats the result in format LINES, best match first. It includes as many matches as fit into the budget, as computed by count. 0
// means no limit. If matches are missing, a line has their number:
//
//	URL: https://shop.example/orders | Title: Orders
//	# 2 of 57 matches
//	[13] Edit (button)
//	[16] Edit profile (a →/profile)
//
// If there is no match, a line reports that, and the lines of the most similar elements follow. Lines of elements start with "[", lines of
// the header do not. Budgets of at least 100 tokens are never exceeded.
func (f Found) Print(budget int, count func(string) int) Printed {
	f.Header.History = nil
	if budget > 0 {
		f.Header = f.Header.Within(budget/headerPart, count)
	}
	shown := f.Matches
	if len(shown) == 0 {
		shown = f.Nearest
	}
	base := NewBase(f.Header.URL)
	costs := make([]int, len(shown)+1) // cumulative costs of the first lines
	lines := make([]string, len(shown))
	for i, e := range shown {
		lines[i] = string(AppendContext(AppendLine(nil, e, base), f.Contexts[e.Ref]))
		costs[i+1] = costs[i] + count(lines[i]+"\n")
	}
	for n := len(lines); ; n-- {
		head := f.head(n, maxQuery)
		cost := count(head) + costs[n]
		if n == 0 && budget > 0 && cost > budget {
			head = f.head(n, 0)
			cost = count(head)
		}
		if n == 0 || budget == 0 || cost <= budget {
			return Printed{Text: head + joined(lines[:n]), Lines: lines[:n], Tokens: cost}
		}
	}
}

func joined(lines []string) string {
	var text []byte
	for _, line := range lines {
		text = append(append(text, line...), '\n')
	}
	return string(text)
}

// maxQuery limits how much of a query is repeated, in characters.
const maxQuery = 60

// head returns the header of a text with n lines of elements.
func (f Found) head(n, query int) string {
	dst := f.Header.append(nil, facts{})
	switch {
	case f.Total > n && len(f.Matches) > 0:
		dst = append(dst, "# "...)
		dst = strconv.AppendInt(dst, int64(n), 10)
		dst = append(dst, " of "...)
		dst = strconv.AppendInt(dst, int64(f.Total), 10)
		dst = append(dst, " matches\n"...)
	case len(f.Matches) == 0:
		dst = append(dst, "# No match"...)
		if query > 0 {
			dst = append(part.AppendClean(append(dst, ` for "`...), f.Query, query), '"')
			if f.Within != "" {
				dst = append(part.AppendClean(append(dst, ` within "`...), f.Within, query), '"')
			}
		}
		if n > 0 {
			dst = append(dst, ". The nearest:"...)
		}
		dst = append(dst, '\n')
	}
	return string(dst)
}
