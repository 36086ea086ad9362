package compact

import (
	"strconv"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// Found is what a search found on a page.
type Found struct {
	Header Header
	// Query is what was searched for.
	Query string
	// Within, unless empty, is what had to stand around the matches.
	Within string
	// Matches are the best of Total matches, the best first.
	Matches []*dom.Element
	Total   int
	// Contexts are those of the elements that share role and name with another one of the page.
	Contexts Contexts
	// Nearest are the elements that come closest, when nothing matches.
	Nearest []*dom.Element
}

// Printed is the text of what a search found.
type Printed struct {
	Text string
	// Lines are those of the elements, without their line ends: the first of Matches, or of Nearest.
	Lines []string
	// Tokens is what the text costs.
	Tokens int
}

// headerPart is the part of a budget that URL and title of what was found may take: one fourth.
const headerPart = 4

// Print writes what was found as format LINES, the best match first, with as many matches as cost no more than the
// budget, as count counts; 0: all. When matches are missing, a line says how many there are:
//
//	URL: https://shop.example/orders | Title: Orders
//	# 2 of 57 matches
//	[13] Edit (button)
//	[16] Edit profile (a →/profile)
//
// Without a match, a line says so, and the lines of what comes closest follow. Lines of elements begin with "[",
// lines of the header do not. Budgets of 100 tokens and more are always kept.
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
	costs := make([]int, len(shown)+1) // of the first lines
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

// maxQuery bounds how much of a query is repeated, in characters.
const maxQuery = 60

// head returns the header of a text with the lines of n elements.
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
