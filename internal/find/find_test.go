package find

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
)

const pageURL = "https://shop.example/orders"

// node is a test element with its children.
type node struct {
	dom.Element
	in []node
}

func shownAs(role, text string, in ...node) node {
	return node{dom.Element{Kind: dom.Structural, Role: role, Tag: "div", Text: text}, in}
}

func used(role, text string, in ...node) node {
	return node{dom.Element{Role: role, Tag: "div", Text: text}, in}
}

func titled(level int, text string, in ...node) node {
	n := shownAs("heading", text, in...)
	n.Level = level
	return n
}

// flat returns nodes in document order, with refs, parents and depths.
func flat(nodes ...node) (out []*dom.Element) {
	var add func(n node, parent dom.Ref, depth int)
	add = func(n node, parent dom.Ref, depth int) {
		e := n.Element
		e.Ref, e.Parent, e.Depth = dom.Ref(len(out)), parent, depth
		out = append(out, &e)
		for _, inner := range n.in {
			add(inner, e.Ref, depth+1)
		}
	}
	for _, n := range nodes {
		add(n, dom.NoRef, 0)
	}
	return out
}

// orders returns a page with a table, two sections and a form.
func orders() []*dom.Element {
	row := func(number, name string) node {
		return shownAs("row", "", shownAs("cell", number), shownAs("cell", name), shownAs("cell", "", used("link", "Edit"), used("button", "Delete")))
	}
	field := used("textbox", "Straße")
	field.Placeholder, field.Value, field.Name = "such as 5th Avenue", "Höhenweg", "street1"
	link := used("link", "More")
	link.Href = "https://shop.example/returns/policy"
	other := used("link", "Manual")
	other.Href = "https://help.example/shop"
	return flat( //
		shownAs("navigation", "Main", used("link", "Orders"), link, other), // 0-3
		shownAs("main", "",
			titled(1, "Open orders"), // 5
			shownAs("table", "Orders of May", row("1003", "Grace Hopper"), row("1004", "Alan Turing")), // 6; 7-12, 13-18
			shownAs("form", "Address",
				titled(2, "Billing"), field, used("button", "Save"), // 20-22
				titled(2, "Delivery"), used("button", "Save"), used("checkbox", "Save as a template"))), // 23-25
		used("button", "Save all", shownAs("text", "Save all")), // 26, 27
		titled(2, "Pricing", used("link", "Pricing")),           // 28, 29
	)
}

func TestMatchesAreRanked(t *testing.T) {
	for _, c := range []struct {
		query string
		want  string
	}{
		{"save", "22 whole, 24 whole, 25 prefix, 26 prefix"},
		{"SAVE  all", "26 whole"},
		{"template save", "25 words"},
		{"ave", "22 parts, 24 parts, 25 parts, 26 parts, 21 fields"},
		{"strasse", "21 whole"},
		{"strass", "21 prefix"},
		{"hohenweg", "21 fields"},
		{"5TH avenue", "21 fields"},
		{"street1", "21 fields"},
		{"returns", "2 fields"},
		{"shop.example", ""},
		{"help.example", "3 fields"},
		{"grace hopper", "9 whole, 11 record, 12 record"},
		{"edit grace", "11 context"},
		{"delete 1004", "18 context"},
		{"delete 9999", ""},
		{"grace 1003", "11 record, 12 record"},
		{"delete", "12 whole, 18 whole"},
		{"delete button 1004", "18 context"},
		{"save button", "22 whole, 24 whole, 26 prefix"},
		{"save billing", "22 context"},
		{"delivery save", "24 context, 25 context"},
		{"street1 address", "21 context"},
		{"street1 dropdown", ""},
		{"street1 field", "21 fields"},
		{"pricing", "29 whole"},
		{"pricing heading", "28 whole"},
		{"orders", "1 whole, 6 prefix, 5 words"},
		{`"open orders"`, "5 whole"},
		{`“orders open”`, ""},
		{"orders open", "5 words, 6 context"},
		{"", ""},
		{`""`, ""},
		{"nowhere", ""},
	} {
		var got []string
		for _, m := range Parse(c.query).Match(orders(), pageURL) {
			got = append(got, fmt.Sprint(m.Element.Ref, " ", [...]string{"whole", "prefix", "words", "parts", "fields", "context", "record"}[m.Rank]))
		}
		if list := strings.Join(got, ", "); list != c.want {
			t.Errorf("%q: %s, want %s", c.query, list, c.want)
		}
	}
}

func TestMatchesWithin(t *testing.T) {
	for _, c := range []struct{ query, within, want string }{
		{"delete", "Grace", "12"},
		{"delete", "13", "18"},
		{"delete", "row", "12, 18"},
		{"delete", "1003 grace hopper", "12"},
		{"save", "Billing", "22"},
		{"save", "address", "22, 24, 25"},
		{"pricing", "heading", "29"},
		{"1003", "Grace Hopper", "8, 11, 12"},
		{"save", "Grace", ""},
		{"save", "Nobody", ""},
	} {
		var got []string
		for _, m := range Parse(c.query).Within(c.within).Match(orders(), pageURL) {
			got = append(got, fmt.Sprint(m.Element.Ref))
		}
		if list := strings.Join(got, ", "); list != c.want {
			t.Errorf("%q within %q: %s, want %s", c.query, c.within, list, c.want)
		}
	}
}

// TestTheContextThatIsPrintedIsFound finds elements by words of their printed context that are in no ancestor and no heading.
func TestTheContextThatIsPrintedIsFound(t *testing.T) {
	elements := flat(used("button", "Edit"), used("button", "Edit"), used("button", "Delete"))
	first, second := elements[0], elements[1]
	told := map[dom.Ref]elementcontext.Context{first.Ref: {Words: "Ada Lovelace"}, second.Ref: {Words: "Grace Hopper"}}
	for query, want := range map[string]string{
		"edit grace":     fmt.Sprint(second.Ref, Context),
		"grace hopper":   fmt.Sprint(second.Ref, Record),
		"edit lovelace":  fmt.Sprint(first.Ref, Context),
		"delete grace":   "",
		"lovelace grace": "",
	} {
		var got []string
		for _, m := range Parse(query).WithContexts(told).Match(elements, pageURL) {
			got = append(got, fmt.Sprint(m.Element.Ref, m.Rank))
		}
		if list := strings.Join(got, ", "); list != want {
			t.Errorf("%q: %q, want %q", query, list, want)
		}
	}
}

func TestElementsBehindAModalComeLast(t *testing.T) {
	behind, here := used("button", "Save"), used("button", "Save")
	behind.Covered = true
	got := Parse("save").Match(flat(behind, shownAs("text", "Save"), here), pageURL)
	if len(got) != 3 || got[0].Index != 2 || got[1].Index != 0 || got[2].Index != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFoldedTexts(t *testing.T) {
	for text, want := range map[string]string{
		"  Crème\tBrûlée ": "creme brulee", "Ελλάδα": "ελλαδα", "ＡＢＣ": "abc", "ﬁne": "fine", "don’t": "don't", "İstanbul": "istanbul",
		"e–mail": "e-mail", "한국어": "한국어", "が": "が", "Łódź": "lodz", "soft\u00adware": "software", "कि": "कि", "": "",
	} {
		if got := fold(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCountWords(t *testing.T) {
	for query, want := range map[string]int{"": 0, ` "" `: 0, "a b": 2, `"a b" c`: 3} {
		if got := CountWords(query); got != want {
			t.Errorf("%q: %d, want %d", query, got, want)
		}
	}
	if got := len(Parse(strings.Repeat("a ", 100)).words); got != MaxWords {
		t.Errorf("%d words count, want %d", got, MaxWords)
	}
}

// FuzzMatch checks that each match is one of the elements, that none occurs twice, and that every word of the query is in the match or its
// context.
func FuzzMatch(f *testing.F) {
	for _, query := range []string{"save", "edit grace", `"open orders`, "Straße", "\u0301", "x\xffy"} {
		f.Add(query, "Grace Hopper", uint8(3))
	}
	f.Fuzz(func(t *testing.T, query, text string, shape uint8) {
		elements := orders()
		for i, e := range elements {
			if i%5 == int(shape%5) {
				e.Text = text
			}
			if shape > 100 && i > 0 {
				e.Depth = int(shape) % (i + 1) // no depth may cause a failure
			}
		}
		all := ""
		for _, e := range elements {
			all += fold(strings.Join([]string{e.Text, e.Value, e.Placeholder, e.Name, e.Href, e.Role, strings.Join(kinds[e.Role], " ")}, " ")) + " "
		}
		q := Parse(query)
		seen := map[int]bool{}
		last := Whole
		for _, m := range q.Match(elements, pageURL) {
			if elements[m.Index] != m.Element || seen[m.Index] || m.Rank < last {
				t.Errorf("%q: %+v", query, m)
			}
			seen[m.Index], last = true, m.Rank
		}
		for _, word := range q.words {
			if len(seen) > 0 && !strings.Contains(all, word) {
				t.Errorf("%q: %q is nowhere on the page", query, word)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var rows []node
	for i := range 2500 {
		rows = append(rows, shownAs("row", "", shownAs("cell", fmt.Sprint("Customer ", i)), used("button", "Edit")))
	}
	elements := flat(rows...)
	for b.Loop() {
		if got := Parse("edit customer 1234").Match(elements, pageURL); len(got) != 1 {
			b.Fatalf("%d matches", len(got))
		}
	}
}
