package elementcontext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// pageOf makes the elements of lines `ROLE TEXT`, indented by their depth; a star makes one actionable.
func pageOf(lines string) []*dom.Element {
	var all []*dom.Element
	var open []dom.Ref
	for line := range strings.SplitSeq(strings.Trim(lines, "\n"), "\n") {
		rest := strings.TrimLeft(line, " ")
		role, text, _ := strings.Cut(rest, " ")
		e := &dom.Element{Ref: dom.Ref(len(all)), Parent: dom.NoRef, Depth: len(line) - len(rest), Kind: dom.Structural, Role: role, Text: text}
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
		"the header of a row":             {"row\n cell 1\n rowheader Ann\n *button X\nrow\n cell 1\n rowheader Bob\n *button X", "3=Ann 7=Bob"},
		"the words of an item":            {"listitem Milk Remove\n *button Remove\nlistitem Bread Remove\n *button Remove", "1=Milk 3=Bread"},
		"the heading of a card":           {"article\n heading Jeans\n paragraph Blue\n *button Buy\narticle\n heading Shirt\n paragraph Blue\n *button Buy", "3=Jeans 7=Shirt"},
		"the legend of a group":           {"group Delivery\n *textbox Street\ngroup Invoice\n *textbox Street", "1=Delivery 3=Invoice"},
		"the nearest heading":             {"heading One\n*button More\nheading Two\n*button More", "1=One 3=Two"},
		"no words that all have":          {"main Shop\n *button More\n heading Two\n *button More", "3=Two"},
		"the innermost that one has":      {"group A\n listitem Milk\n  *button X\ngroup B\n listitem Milk\n  *button X", "2=A 5=B"},
		"other roles and names are apart": {"group A\n *button X\ngroup B\n *link X", ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := pageOf(test.page)
			told := Tell(all, all)
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
	if told := Tell(all, all); len(told) > 0 {
		t.Errorf("links to one place have the contexts %v", told)
	}
	all[3].Href = "/y"
	if told := Tell(all, all); len(told) != 2 {
		t.Errorf("links to two places have the contexts %v", told)
	}
}

func TestContextsAreShort(t *testing.T) {
	all := pageOf("group " + strings.Repeat("ä", 50) + "\n *button X\ngroup " + strings.Repeat("word ", 30) + "\n *button X")
	for ref, c := range Tell(all, all) {
		if len(c.Words) > maxWords+len("…") || !strings.HasSuffix(c.Words, "…") || strings.ToValidUTF8(c.Words, "?") != c.Words {
			t.Errorf("element %d has the context %q", ref, c.Words)
		}
	}
}
