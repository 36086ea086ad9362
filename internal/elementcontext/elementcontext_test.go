package elementcontext

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// pageOf returns the elements for lines `ROLE TEXT`, indented by their depth. A star makes an element interactive.
func pageOf(lines string) []*dom.Element {
	var all []*dom.Element
	var open []dom.Ref
	for line := range strings.SplitSeq(strings.Trim(lines, "\n"), "\n") {
		rest := strings.TrimLeft(line, " ")
		role, text, _ := strings.Cut(rest, " ")
		e := &dom.Element{Ref: dom.Ref(len(all)), Parent: dom.NoRef, Depth: len(line) - len(rest), Kind: dom.Structural, Role: role, Text: text}
		if e.Role == "heading" {
			e.Level = e.Depth + 1
		}
		if name, acts := strings.CutPrefix(role, "*"); acts {
			e.Role, e.Kind = name, dom.Interactive
		}
		if open = open[:e.Depth]; e.Depth > 0 {
			e.Parent = open[e.Depth-1]
		}
		open = append(open, e.Ref)
		all = append(all, e)
	}
	return all
}

func TestTell(t *testing.T) {
	for name, test := range map[string]struct{ page, want string }{
		"unique": {"*button Save\n*button Cancel", ""},
		"equal":  {"*button Save\n*button Save", ""},
		"the first cells of a row": {`
table Orders
 row
  cell 1003
  cell Grace Hopper
  cell 30.00
  cell
   *button Edit
 row
  cell
   *link 1004
  cell
   generic Alan Turing
  cell
   *button Edit`, "6=1003 Grace Hopper 13=1004 Alan Turing"},
		"the header of a row":        {"row\n cell 1\n rowheader Ann\n *button X\nrow\n cell 1\n rowheader Bob\n *button X", "3=Ann 7=Bob"},
		"the words of an item":       {"listitem Milk Remove\n *button Remove\nlistitem Bread Remove\n *button Remove", "1=Milk 3=Bread"},
		"the heading of a card":      {"article\n heading Jeans\n paragraph Blue\n *button Buy\narticle\n heading Shirt\n paragraph Blue\n *button Buy", "3=Jeans 7=Shirt"},
		"the legend of a group":      {"group Delivery\n *textbox Street\ngroup Invoice\n *textbox Street", "1=Delivery 3=Invoice"},
		"no days around a day":       {"grid\n row\n  *gridcell 27\n  *gridcell 28\n row\n  *gridcell 26\n  *gridcell 28", ""},
		"the weekday of a day":       {"grid\n row\n  columnheader Su\n  columnheader Mo\n row\n  *gridcell 27\n  *gridcell 28\ngrid\n row\n  columnheader Su\n  columnheader Mo\n row\n  *gridcell 28\n  *gridcell 29", "6=Mo 12=Su"},
		"the month of a day":         {"grid October\n row\n  *gridcell 27\n  *gridcell 28\ngrid November\n row\n  *gridcell 26\n  *gridcell 28", "3=October 7=November"},
		"the nearest heading":        {"heading One\n*button More\nheading Two\n*button More", "1=One 3=Two"},
		"no words that all have":     {"main Shop\n *button More\n heading Two\n *button More", "3=Two"},
		"the innermost that one has": {"group A\n listitem Milk\n  *button X\ngroup B\n listitem Milk\n  *button X", "2=A 5=B"},
		"the heading of a form":      {"form\n heading In\n *textbox Mail\nform\n heading Up\n *textbox Mail", "2=In 5=Up"},
		"what is joined": {"group A\n listitem Milk\n  *button X\n listitem Bread\n  *button X\ngroup B\n listitem Milk\n  *button X",
			"2=Milk, A 4=Bread 7=B"},
		"another cell, where the first are equal": {`
row
 cell Ada
 cell 1
 cell London
 *button X
row
 cell Ada
 cell 1
 cell Paris
 *button X`, "4=London 9=Paris"},
		"a link that others have, too, is no name": {"listitem\n *link Edit\n *button X\n generic Ann\nlistitem\n *link Edit\n *button X\n generic Bob",
			"1=Ann 2=Ann 5=Bob 6=Bob"},
		"another button":                       {"listitem\n *button Ann\n *button X\nlistitem\n *button Bob\n *button X", "2=Ann 5=Bob"},
		"what stands before":                   {"generic Ann\n*button X\ngeneric Bob\n*button X", "1=Ann 3=Bob"},
		"what stands behind":                   {"*button X\ngeneric Ann\n*button X\ngeneric Bob", "0=Ann 2=Bob"},
		"not the heading of the one before it": {"article\n heading A\n *button X\narticle\n *button X\narticle\n heading C\n *button X", "2=A 7=C"},
		"several in one box": {"paragraph Room\nlist\n *button X\n *button X\nparagraph Food\nlist\n *button X\n *button X",
			"2=Room 3=Room 6=Food 7=Food"},
		"several in one box alone":        {"paragraph Room\nlist\n *button X\n *button X\nparagraph Food\nlist\n *button X\n *button X\n *button X", ""},
		"several in one row":              {"listitem Ann\n *button X\n *button X\nlistitem Bob\n *button X\n *button X", "1=Ann 2=Ann 4=Bob 5=Bob"},
		"not those of the row before":     {"list\n listitem Ann\n  *button X\n listitem\n  *button X\n listitem Bob\n  *button X", "2=Ann 6=Bob"},
		"other roles and names are apart": {"group A\n *button X\ngroup B\n *link X", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := pageOf(test.page)
			told := Distinguish(all, all)
			var got []string
			for _, e := range all {
				if c, ok := told[e.Ref]; ok {
					got = append(got, fmt.Sprintf("%d=%s", e.Ref, c.Words))
				}
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("got %s, want %s", s, test.want)
			}
		})
	}
}

func TestLinksToOnePlaceAreOne(t *testing.T) {
	all := pageOf("group A\n *link X\ngroup B\n *link X")
	all[1].Href, all[3].Href = "/x", "/x"
	if told := Distinguish(all, all); len(told) > 0 {
		t.Errorf("links to one place have the contexts %v", told)
	}
	all[3].Href = "/y"
	if told := Distinguish(all, all); len(told) != 2 {
		t.Errorf("links to two places have the contexts %v", told)
	}
}

func TestContextsAreShort(t *testing.T) {
	all := pageOf("group " + strings.Repeat("ä", 50) + "\n *button X\ngroup " + strings.Repeat("word ", 30) + "\n *button X")
	for ref, c := range Distinguish(all, all) {
		if len(c.Words) > maxWords+len("…") || !strings.HasSuffix(c.Words, "…") || strings.ToValidUTF8(c.Words, "?") != c.Words {
			t.Errorf("element %d has the context %q", ref, c.Words)
		}
	}
}

// sections creates a page of sections with items, each with the same button. Items of one section have different words; words of different
// sections may be equal.
func sections(random *rand.Rand) string {
	var b strings.Builder
	item := []string{"row\n   cell %s\n   cell\n    *button X\n", "listitem %s X\n   *button X\n", "article\n   heading %s\n   *button X\n", "generic %s X\n   *button X\n"}
	for s := range 2 + random.IntN(4) {
		switch name := "section " + strconv.Itoa(s); random.IntN(3) {
		case 0:
			b.WriteString("group " + name + "\n list\n")
		case 1:
			b.WriteString("form\n heading " + name + "\n")
		default:
			b.WriteString("heading " + name + "\nmain\n list\n")
		}
		kind := item[random.IntN(len(item))]
		for _, word := range random.Perm(6)[:1+random.IntN(5)] {
			b.WriteString("  " + fmt.Sprintf(kind, "item "+strconv.Itoa(word)))
		}
		b.WriteString("*button Only " + strconv.Itoa(s) + "\n")
	}
	return b.String()
}

// TestContextsDiffer creates pages whose texts distinguish all equal buttons. The contexts must do so too, and unique elements must have
// none.
func TestContextsDiffer(t *testing.T) {
	for seed := range uint64(2000) {
		page := sections(rand.New(rand.NewPCG(seed, 1)))
		all := pageOf(page)
		told, seen := Distinguish(all, all), map[string]dom.Ref{}
		for _, e := range all {
			c, known := told[e.Ref]
			if e.Text != "X" || e.Kind != dom.Interactive {
				if known {
					t.Fatalf("seed %d: element %d is unique, and has the context %q in\n%s", seed, e.Ref, c.Words, page)
				}
				continue
			}
			if other, double := seen[c.Words]; double {
				t.Fatalf("seed %d: elements %d and %d are both %q in\n%s", seed, other, e.Ref, c.Words, page)
			}
			if seen[c.Words] = e.Ref; len(c.Words) > MaxLen {
				t.Fatalf("seed %d: %q is too long", seed, c.Words)
			}
		}
	}
}

// FuzzTell creates pages of any shape.
func FuzzTell(f *testing.F) {
	f.Add([]byte("\x00\x11\x22\x33\x44\x55"), "a b ‹c› [1] d")
	f.Fuzz(func(t *testing.T, shape []byte, words string) {
		roles := []string{"row", "cell", "listitem", "heading", "group", "generic", "rowheader", "article", "form", "list"}
		var all []*dom.Element
		var open []dom.Ref
		for i, c := range shape[:min(len(shape), 200)] {
			e := &dom.Element{Ref: dom.Ref(i), Parent: dom.NoRef, Kind: dom.Structural, Role: roles[int(c)%len(roles)]}
			if e.Text = words[min(len(words), i%7):min(len(words), i%7+int(c)%90)]; c&0x80 != 0 {
				e.Kind, e.Role, e.Text = dom.Interactive, "button", words[:min(len(words), int(c)%3)]
			}
			open = open[:min(len(open), int(c>>3)%6)]
			if len(open) > 0 {
				e.Parent, e.Depth = open[len(open)-1], len(open)
			}
			open, all = append(open, e.Ref), append(all, e)
		}
		told := Distinguish(all, all)
		count := map[string]int{}
		for _, e := range all {
			if e.Kind == dom.Interactive {
				count[e.Role+" "+e.Text]++
			}
		}
		for ref, c := range told {
			if e := all[ref]; e.Kind != dom.Interactive || count[e.Role+" "+e.Text] < 2 || c.Words == "" || c.Of == nil || len(c.Words) > MaxLen {
				t.Errorf("%+v has the context %+v", e, c)
			}
		}
		for _, e := range Within(all, all, words[:min(len(words), 3)]) {
			if all[e.Ref] != e {
				t.Errorf("%v is not of the page", e)
			}
		}
	})
}

// table creates a page of rows with an Edit button each.
func table(rows int, same bool) []*dom.Element {
	var b strings.Builder
	b.WriteString("table Orders\n")
	for i := range rows {
		edit := "Edit"
		if !same {
			edit += " " + strconv.Itoa(i)
		}
		fmt.Fprintf(&b, " row\n  cell %d\n  cell Customer %d\n  cell\n   *button %s\n", i, i%(rows/2), edit)
	}
	return pageOf(b.String())
}

// BenchmarkTell distinguishes 10,000 elements: unique ones, the elements of 2,000 rows, and equal ones that nothing distinguishes.
func BenchmarkTell(b *testing.B) {
	for name, all := range map[string][]*dom.Element{
		"unique": pageOf(strings.TrimSuffix(strings.Repeat("*button %\n", 10_000), "\n")), "rows": table(2_000, true), "unique in rows": table(2_000, false),
		"equal": pageOf(strings.TrimSuffix(strings.Repeat("*button X\n", 10_000), "\n")),
		"nested": pageOf(func() string {
			var s strings.Builder
			for i := range 5000 {
				fmt.Fprintf(&s, "%slistitem w%d\n%s*button X\n", strings.Repeat(" ", i%300), i, strings.Repeat(" ", i%300+1))
			}
			return s.String()
		}()),
	} {
		if name == "unique" {
			for i, e := range all {
				e.Text = "Item " + strconv.Itoa(i)
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Distinguish(all, all)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "ms/page")
		})
	}
}

func TestWithin(t *testing.T) {
	const rows = `
dialog People
 table Orders
  row
   cell 1003
   cell Ada
   cell
    *button Edit
  row
   cell 10
   cell Grace Hopper
   cell
    *button Edit
*button Edit
heading Danger
*button Edit
main
 group Delivery
  *textbox Street
 group Invoice
  generic Ada lives elsewhere
  *textbox Street
row
 cell Nobody
table
 row
  cell Mia
  cell
   generic Done
    *checkbox Done`
	for name, test := range map[string]struct{ role, words, want string }{
		"a text of the row":                          {"button", "grace  HOPPER", "11"},
		"a part of it":                               {"button", "Hopp", "11"},
		"a part of a word":                           {"button", "opper", "11"},
		"the beginning of a word before any part":    {"button", "Da", "14"},
		"the whole text before a part":               {"button", "10", "11"},
		"the inner one of two around":                {"button", "Ada", "6"},
		"the context as printed":                     {"button", "1003 Ada", "6"},
		"a role":                                     {"button", "dialog", "6 11"},
		"the name of a table":                        {"button", "orders", "6 11"},
		"the heading above":                          {"button", "Danger", "14"},
		"a ref":                                      {"button", "[7]", "11"},
		"a ref in another notation":                  {"button", "@e7", "11"},
		"a number that is no ref around":             {"button", "1003", "6"},
		"the legend of a group":                      {"textbox", "Invoice", "20"},
		"a text of a group":                          {"textbox", "elsewhere", "20"},
		"a text of the only row":                     {"checkbox", "Mia", "28"},
		"nothing":                                    {"button", "Nobody", ""},
		"not what the element says itself":           {"button", "Edit", ""},
		"not what stands in another part":            {"textbox", "Grace", ""},
		"a ref of nothing around, which no one says": {"button", "e99", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := pageOf(rows)
			var among []*dom.Element
			for _, e := range all {
				if e.Role == test.role {
					among = append(among, e)
				}
			}
			var got []string
			for _, e := range Within(all, among, test.words) {
				got = append(got, strconv.Itoa(int(e.Ref)))
			}
			if s := strings.Join(got, " "); s != test.want {
				t.Errorf("within %q: %q, want %q", test.words, s, test.want)
			}
		})
	}
}

// TestWithinTheNameOfACandidate has cells whose names contain the names of others, as numbers do.
func TestWithinTheNameOfACandidate(t *testing.T) {
	all := pageOf(`
row
 *gridcell 31
 *gridcell Ada 31
 *gridcell 100
row
 *gridcell 32
 *gridcell Grace 32
 *gridcell 131`)
	among := []*dom.Element{all[1], all[2], all[7]}
	for words, want := range map[string]dom.Ref{"Ada 31": 1, "Grace 32": 7} {
		if got := Within(all, among, words); len(got) != 1 || got[0].Ref != want {
			t.Errorf("within %q: %v, want %d", words, got, want)
		}
	}
	if got := Within(all, among, "131"); len(got) != 0 {
		t.Errorf("within its own name: %v", got)
	}
}

// TestWhatIsWrittenInAFieldNamesItsRow has rows whose only words are values.
func TestWhatIsWrittenInAFieldNamesItsRow(t *testing.T) {
	all := pageOf(`
row
 cell
  *textbox Name
 cell :
 cell
  *button Delete
row
 cell
  *textbox Name
 cell :
 cell
  *button Delete`)
	all[2].Value, all[8].Value = "Pens", "Blue ink"
	told := Distinguish(all, all)
	for ref, want := range map[dom.Ref]string{2: "", 5: "Pens", 8: "", 11: "Blue ink"} {
		if got := told[ref].Words; got != want {
			t.Errorf("the context of %d is %q, want %q", ref, got, want)
		}
	}
	if got := Within(all, []*dom.Element{all[5], all[11]}, "ink"); len(got) != 1 || got[0] != all[11] {
		t.Errorf("within the value: %v", got)
	}
}

// TestTheValueOfAFieldIsNotItsContext has fields with drawn values, and native fields, whose values are not in the text of their rows. Equal
// words of the row are kept.
func TestTheValueOfAFieldIsNotItsContext(t *testing.T) {
	for tag, test := range map[string]struct{ page, first, second string }{
		"div":   {"generic\n generic Jacket\n generic Qty 3\n  *spinbutton Qty\ngeneric\n generic Gloves\n generic Qty 1\n  *spinbutton Qty", "Jacket", "Gloves"},
		"span":  {"listitem 3 Qty 3 Jacket\n generic\n  generic\n   *spinbutton Qty\nlistitem 1 Qty 1 Jacket\n generic\n  generic\n   *spinbutton Qty", "3 Jacket", "1 Jacket"},
		"input": {"listitem Room 3\n generic\n  generic\n   *spinbutton Guests\nlistitem Room 1\n generic\n  generic\n   *spinbutton Guests", "Room 3", "Room 1"},
	} {
		all := pageOf(test.page)
		all[3].Value, all[7].Value = "3", "1"
		all[3].Tag, all[7].Tag = tag, tag
		if told := Distinguish(all, all); told[3].Words != test.first || told[7].Words != test.second {
			t.Errorf("%s: the contexts are %v", tag, told)
		}
	}
}

// TestContextsThatAreCut checks the number of characters omitted from contexts, and finds the elements by their printed contexts.
func TestContextsThatAreCut(t *testing.T) {
	long := strings.Repeat("This offer is for you. ", 4) // 92 characters
	all := pageOf("listitem One " + long + "\n *button Buy\nlistitem Two " + long + "\n *button Buy\nlistitem Three " + long[:50] + "…\n *button Buy")
	all[4].Left = 200
	contexts := Distinguish(all, all)
	for ref, want := range map[dom.Ref]Context{
		1: {Words: "One " + long[:50] + "…", Left: 42},
		3: {Words: "Two " + long[:50] + "…", Left: 42},
		5: {Words: "Three " + long[:50] + "…", Left: 200},
	} {
		got := contexts[ref]
		if got.Words != want.Words || got.Left != want.Left {
			t.Errorf("%d: %q and %d more, want %q and %d", ref, got.Words, got.Left, want.Words, want.Left)
		}
		found := Within(all, []*dom.Element{all[1], all[3], all[5]}, got.Words+"+"+strconv.Itoa(got.Left))
		if len(found) != 1 || found[0].Ref != ref {
			t.Errorf("%d: within its context are %v", ref, found)
		}
	}
}
