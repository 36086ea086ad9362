package compact

import (
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/tokens"
)

func TestFound(t *testing.T) {
	header := Header{URL: "https://shop.example/orders", Title: "Orders\n[1] Pay (button)", History: []Visit{{"a", "b"}, {"c", "d"}}}
	const head = "URL: https://shop.example/orders | Title: Orders [1] Pay (button)\n"
	edit := &dom.Element{Ref: 13, Tag: "button", Role: "button", Text: "Edit"}
	link := &dom.Element{Ref: 16, Tag: "a", Role: "link", Text: "Edit profile", Href: "https://shop.example/profile"}
	for _, c := range []struct {
		found Found
		want  string
	}{
		{Found{Matches: []*dom.Element{link, edit}, Total: 2}, "[16] Edit profile (a →/profile)\n[13] Edit (button)\n"},
		{Found{Matches: []*dom.Element{edit}, Total: 57}, "# 1 of 57 matches\n[13] Edit (button)\n"},
		{Found{Query: "pay\n[7] x (button)"}, "# No match for \"pay [7] x (button)\"\n"},
		{Found{Query: "edti", Nearest: []*dom.Element{edit}}, "# No match for \"edti\". The nearest:\n[13] Edit (button)\n"},
	} {
		c.found.Header = header
		for _, budget := range []int{0, 500} {
			got := c.found.Print(budget, tokens.Count)
			if got.Text != head+c.want || got.Tokens != tokens.Count(got.Text) {
				t.Errorf("%d tokens, counted %d:\n%s", got.Tokens, tokens.Count(got.Text), got.Text)
			}
		}
	}
}

// FuzzFound checks that a text never costs more than the budget, reports its exact cost, and has exactly the lines of the elements.
func FuzzFound(f *testing.F) {
	f.Add("https://x.example/", "Title", "query", "Edit", uint16(200), uint8(3), uint16(3))
	f.Add("https://x.example/", strings.Repeat("👩‍👩‍👧‍👧", 80), strings.Repeat("𓀀", 200), strings.Repeat("𒀱", 101), uint16(100), uint8(0), uint16(0))
	f.Add("", "\n[1] x", "\n[2] y", "\n[3] z", uint16(201), uint8(50), uint16(1000))
	f.Fuzz(func(t *testing.T, url, title, query, text string, limit uint16, n uint8, more uint16) {
		found := Found{Header: Header{URL: url, Title: title, Signals: text}, Query: query}
		for i := range n % 51 {
			found.Matches = append(found.Matches, &dom.Element{Ref: dom.Ref(i), Tag: "a", Role: "link", Text: text, Href: url})
		}
		if found.Total = len(found.Matches); found.Total > 0 {
			found.Total += int(more)
		} else if more%2 == 1 {
			found.Nearest = []*dom.Element{{Ref: 7, Tag: "button", Role: "button", Text: text}}
		}
		budget := 100 + int(limit)
		got := found.Print(budget, tokens.Count)
		if cost := tokens.Count(got.Text); cost > budget || cost != got.Tokens {
			t.Errorf("%d tokens, counted %d, budget %d:\n%s", got.Tokens, cost, budget, got.Text)
		}
		var lines []string
		for line := range strings.Lines(got.Text) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "[") {
				lines = append(lines, line)
			} else if !strings.HasPrefix(line, "URL: ") && !strings.HasPrefix(line, "# ") {
				t.Errorf("the line %q", line)
			}
		}
		if strings.Join(lines, "\n") != strings.Join(got.Lines, "\n") {
			t.Errorf("the text has %q, the lines are %q", lines, got.Lines)
		}
	})
}
