package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/truncate"
)

// Text is an answer in readable form.
type Text struct {
	Text string
	// Shown is the number of results in the text, counted from the first one.
	Shown int
	// Tokens is the cost of the text, counted by package tokens.
	Tokens int
}

// extracts lists limits for the characters of a result's text. Print uses the first limit that fits the budget.
var extracts = [...]int{maxText, 160, 0}

// Print prints an answer in at most budget tokens. The budget must be at least 200; zero means no limit. To fit, Print first shortens the
// texts of all results, then omits the texts, then omits the last results. The first line states how many are omitted.
//
//	# brave: 10 web results, 2m5s old
//	1. Go 1.26 is released | go.dev | 2026-02-10
//	   https://go.dev/blog/go1.26
//	   Today the Go team is pleased to …
func Print(a Answer, budget int) Text {
	if budget <= 0 {
		return count(a, len(a.Results), maxText)
	}
	var t Text
	for _, extract := range extracts {
		if t = count(a, len(a.Results), extract); t.Tokens <= budget {
			return t
		}
	}
	for shown := len(a.Results) - 1; shown >= 0 && t.Tokens > budget; shown-- {
		t = count(a, shown, 0)
	}
	return t
}

// count prints the first results of an answer and counts the tokens.
func count(a Answer, shown, extract int) Text {
	var b strings.Builder
	b.WriteString(headline(a, shown))
	for i, r := range a.Results[:shown] {
		b.WriteString(r.lines(i+1, extract))
	}
	return Text{b.String(), shown, tokens.Count(b.String())}
}

func headline(a Answer, shown int) string {
	number := strconv.Itoa(len(a.Results))
	switch {
	case len(a.Results) == 0:
		number = "no"
	case shown < len(a.Results):
		number = fmt.Sprintf("%d of %d (max_tokens)", shown, len(a.Results))
	}
	noun := "results"
	if len(a.Results) == 1 {
		noun = "result"
	}
	line := fmt.Sprintf("# %s: %s %s %s", a.Provider, number, a.Kind, noun)
	if age := a.Age.Round(time.Second); age > 0 {
		line += fmt.Sprintf(", %v old", age)
	}
	return line + "\n"
}

// lines prints a result: its title and details, its location, and at most extract characters of its text.
func (r *Result) lines(n, extract int) string {
	facts := []string{r.Title}
	for _, fact := range []string{r.Host, r.when(), r.publisher(), r.Price, r.rating(), r.size(), r.Address, r.Phone} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	if r.Title == "" {
		facts = facts[1:]
	}
	text := fmt.Sprintf("%d. %s\n", n, strings.Join(facts, " | "))
	if r.URL != "" {
		text += "   " + r.URL + "\n"
	}
	if r.ImageURL != "" && r.ImageURL != r.URL {
		text += "   " + r.ImageURL + "\n"
	}
	if extract > 0 && r.Text != "" {
		text += "   " + truncate.Runes(r.Text, extract) + "\n"
	}
	return text
}

func (r *Result) when() string {
	if r.Day != "" {
		return r.Day
	}
	return r.Date
}

// publisher returns the source, or an empty string if the host already shows it.
func (r *Result) publisher() string {
	if strings.EqualFold(r.Source, r.Host) || strings.EqualFold("www."+r.Host, r.Source) {
		return ""
	}
	return r.Source
}

func (r *Result) rating() string {
	switch {
	case r.Rating == 0:
		return ""
	case r.Ratings == 0:
		return "rated " + strconv.FormatFloat(r.Rating, 'g', 3, 64)
	}
	return fmt.Sprintf("rated %s by %d", strconv.FormatFloat(r.Rating, 'g', 3, 64), r.Ratings)
}

func (r *Result) size() string {
	if r.ImageWidth == 0 || r.ImageHeight == 0 {
		return ""
	}
	return fmt.Sprintf("%d×%d", r.ImageWidth, r.ImageHeight)
}
