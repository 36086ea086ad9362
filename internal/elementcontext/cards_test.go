package elementcontext

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// node is a node of a document: a control, a text, or a container. An unnamed div is not listed.
type node struct {
	id, role, text string
	frame          bool
	kids           []*node
}

// document creates random documents of cards in nested boxes, in which no two texts are equal.
type document struct {
	random *rand.Rand
	words  int
}

func (d *document) word() string { d.words++; return fmt.Sprintf("word%d", d.words) }

func (d *document) text() *node {
	return &node{role: []string{"generic", "paragraph", "heading"}[d.random.IntN(3)], text: d.word()}
}

// wrapped wraps nodes in some boxes.
func (d *document) wrapped(kids ...*node) *node {
	box := &node{kids: kids}
	for range d.random.IntN(3) {
		box = &node{kids: []*node{box}}
	}
	return box
}

// card creates an item with a button, with texts before or after it, plain or in boxes.
func (d *document) card(id string, shape int) *node {
	button := &node{id: id, role: "button", text: "Remove"}
	name := &node{role: "generic", text: d.word()}
	switch shape % 5 {
	case 0:
		return &node{kids: []*node{name, button}}
	case 1:
		return &node{kids: []*node{button, name}}
	case 2:
		return &node{kids: []*node{{kids: []*node{name}}, {kids: []*node{button}}}}
	case 3:
		return &node{role: "listitem", kids: []*node{name, {kids: []*node{button}}}}
	}
	return &node{kids: []*node{{kids: []*node{{role: "button", id: id + "e", text: "Edit"}, name}}, button}}
}

// page creates a document with lists of cards, some in frames, and texts between them.
func (d *document) page() *node {
	root := &node{}
	for s := range 1 + d.random.IntN(3) {
		list := &node{role: []string{"", "list", "group"}[d.random.IntN(3)]}
		shape := d.random.IntN(5)
		for c := range 2 + d.random.IntN(4) {
			list.kids = append(list.kids, d.card(fmt.Sprintf("b%d.%d", s, c), shape))
		}
		section := d.wrapped(list)
		if d.random.IntN(2) == 0 {
			section = &node{kids: []*node{{role: "heading", text: d.word()}, section}}
		}
		if d.random.IntN(4) == 0 {
			section = &node{role: "frame", frame: true, kids: []*node{section}}
		}
		root.kids = append(root.kids, section)
		if d.random.IntN(3) == 0 {
			root.kids = append(root.kids, d.text())
		}
	}
	return &node{kids: []*node{root}}
}

// list lists a document as the observer does, and returns the IDs of its elements.
func (n *node) list() (all []*dom.Element, ids map[dom.Ref]string) {
	ids = map[dom.Ref]string{}
	low := 0
	var walk func(n *node, depth int, parent *dom.Element, frame dom.FrameID)
	walk = func(n *node, depth int, parent *dom.Element, frame dom.FrameID) {
		low = min(low, depth-1)
		if n.role != "" {
			e := &dom.Element{Ref: dom.Ref(len(all)), Parent: dom.NoRef, Kind: dom.Structural, Tag: n.role, Role: n.role, Text: n.text, Join: max(0, low), Frame: frame}
			if parent != nil {
				e.Parent, e.Depth = parent.Ref, parent.Depth+1
			}
			switch n.role {
			case "button":
				e.Kind = dom.Interactive
			case "heading":
				e.Level = 2
			}
			if n.frame {
				e.Kind, e.Child = dom.FrameHost, dom.FrameID(fmt.Sprint("f", e.Ref))
			}
			all, ids[e.Ref], parent, low = append(all, e), n.id, e, depth
		}
		if n.frame {
			outer := low
			low = 0
			for _, kid := range n.kids {
				walk(kid, 0, parent, parent.Child)
			}
			low = outer
			return
		}
		for _, kid := range n.kids {
			walk(kid, depth+1, parent, frame)
		}
		low = min(low, depth)
	}
	walk(n, 0, nil, "")
	return all, ids
}

// contexts returns the contexts of a document by the IDs of its buttons.
func (n *node) contexts() map[string]string {
	all, ids := n.list()
	out := map[string]string{}
	for ref, c := range Distinguish(all, all) {
		out[ids[ref]] = c.Words
	}
	return out
}

// each calls f for each node, with its parent.
func (n *node) each(f func(n, up *node, at int)) {
	for i, kid := range slices.Clone(n.kids) {
		f(kid, n, i)
		kid.each(f)
	}
}

// cardOf returns the texts of the largest node around a button that contains no other button of its name.
func (n *node) cardOf(id string) (texts []string) {
	var best *node
	var visit func(n *node) (removes int, has bool)
	visit = func(n *node) (removes int, has bool) {
		for _, kid := range n.kids {
			r, h := visit(kid)
			removes, has = removes+r, has || h
		}
		if n.role == "button" && n.text == "Remove" {
			removes++
		}
		has = has || n.id == id
		if has && removes == 1 {
			best = n
		}
		return removes, has
	}
	visit(n)
	best.each(func(n, _ *node, _ int) {
		if n.text != "" && n.role != "button" {
			texts = append(texts, n.text)
		}
	})
	return texts
}

func documentOf(seed uint64) (*document, *node) {
	d := &document{random: rand.New(rand.NewPCG(seed, 7))}
	return d, d.page()
}

// FuzzContextsStandInTheCard checks that the words of each context are in the card of its element, or above it, and in no other card.
func FuzzContextsStandInTheCard(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		_, page := documentOf(seed)
		contexts := page.contexts()
		cards := map[string][]string{}
		page.each(func(n, _ *node, _ int) {
			if n.role == "button" && n.text == "Remove" {
				cards[n.id] = page.cardOf(n.id)
			}
		})
		for id, own := range cards {
			words := contexts[id]
			if words == "" && len(own) > 0 && len(cards) > 1 {
				t.Errorf("seed %d: %s has no context, and its card says %v", seed, id, own)
			}
			for part := range strings.SplitSeq(words, Separator) {
				for other, texts := range cards {
					if other != id && slices.Contains(texts, part) {
						t.Errorf("seed %d: %s has the context %q of the card of %s", seed, id, words, other)
					}
				}
			}
		}
	})
}

// FuzzWithinChoosesTheCard checks that words that are only in one card select its button, and no other.
func FuzzWithinChoosesTheCard(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		_, page := documentOf(seed)
		all, ids := page.list()
		var buttons []*dom.Element
		cards := map[string]string{} // the button of each text
		for _, e := range all {
			if e.Text == "Remove" {
				buttons = append(buttons, e)
				for _, text := range page.cardOf(ids[e.Ref]) {
					cards[text] = ids[e.Ref]
				}
			}
		}
		if len(buttons) < 2 {
			return
		}
		for _, e := range all {
			if e.Text == "" || e.Kind == dom.Interactive {
				continue
			}
			found := Within(all, buttons, e.Text)
			switch want := cards[e.Text]; {
			case want != "" && (len(found) != 1 || ids[found[0].Ref] != want):
				t.Errorf("seed %d: within %q are %d, not %s", seed, e.Text, len(found), want)
			case want == "" && len(found) == 1:
				t.Errorf("seed %d: within %q is %s, in whose card it is not", seed, e.Text, ids[found[0].Ref])
			}
		}
	})
}

// FuzzContextsDoNotDependOnMarkup checks that a box around a part of a document, another role of a list, or a text before a list changes no
// context.
func FuzzContextsDoNotDependOnMarkup(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		d, page := documentOf(seed)
		was := page.contexts()
		for range 5 {
			what := d.change(page)
			if now := page.contexts(); !maps.Equal(now, was) {
				t.Fatalf("seed %d: after %s the contexts are\n%v, and were\n%v", seed, what, now, was)
			}
		}
	})
}

// change changes a document without changing what a person sees.
func (d *document) change(page *node) string {
	type place struct {
		up *node
		at int
	}
	var all, lists []place
	page.each(func(n, up *node, at int) {
		all = append(all, place{up, at})
		if n.role == "list" || n.role == "group" {
			lists = append(lists, place{up, at})
		}
	})
	p := all[d.random.IntN(len(all))]
	switch d.random.IntN(3) {
	case 0:
		if len(lists) > 0 {
			p = lists[d.random.IntN(len(lists))]
			p.up.kids[p.at].role = map[string]string{"list": "group", "group": "list"}[p.up.kids[p.at].role]
			return "another role of a list"
		}
	case 1:
		page.kids[0].kids = slices.Insert(page.kids[0].kids, 0, &node{role: "paragraph", text: d.word()})
		return "a paragraph before all"
	}
	p.up.kids[p.at] = &node{kids: []*node{p.up.kids[p.at]}}
	return "a box around a part"
}

// TestACardAroundOthers distinguishes comments from their answers, which are inside them.
func TestACardAroundOthers(t *testing.T) {
	comment := func(id string, answers ...*node) *node {
		return &node{kids: append([]*node{{role: "generic", text: id}, {kids: []*node{{id: id, role: "button", text: "Reply"}}}}, answers...)}
	}
	page := &node{kids: []*node{comment("Ann", comment("Ben", comment("Dan")), comment("Eve")), comment("Cy")}}
	for _, name := range []string{"Ann", "Ben", "Dan", "Eve", "Cy"} {
		if got := page.contexts()[name]; got != name {
			t.Errorf("the context of %s is %q", name, got)
		}
	}
	all, ids := page.list()
	var buttons []*dom.Element
	for _, e := range all {
		if e.Role == "button" {
			buttons = append(buttons, e)
		}
	}
	for _, name := range []string{"Ann", "Ben", "Dan", "Eve", "Cy"} {
		if found := Within(all, buttons, name); len(found) != 1 || ids[found[0].Ref] != name {
			t.Errorf("within %s are %d", name, len(found))
		}
	}
}

// board creates columns of cards, whose titles are no headings. Each argument has a title and the names of cards.
func board(shape func(title string, cards ...*node) *node, columns ...string) *node {
	page := &node{}
	for _, c := range columns {
		title, names, _ := strings.Cut(c, ": ")
		column := shape(title)
		list := column.kids[len(column.kids)-1]
		for name := range strings.FieldsSeq(names) {
			list.kids = append(list.kids, &node{kids: []*node{{role: "generic", text: name}, {id: title + " " + name, role: "button", text: "Move"}}})
		}
		page.kids = append(page.kids, column)
	}
	return &node{kids: []*node{page}}
}

// columnShapes are the shapes of columns.
var columnShapes = map[string]func(title string, cards ...*node) *node{
	"a title above a list": func(title string, _ ...*node) *node {
		return &node{kids: []*node{{role: "generic", text: title}, {}}}
	},
	"a title with a count and a menu": func(title string, _ ...*node) *node {
		return &node{kids: []*node{{kids: []*node{{role: "generic", text: title}, {role: "generic", text: "2"}, {role: "button", text: "Menu"}}}, {}}}
	},
	"a title above a list with a role": func(title string, _ ...*node) *node {
		return &node{kids: []*node{{kids: []*node{{role: "generic", text: title}}}, {role: "list"}}}
	},
}

// TestColumnsOfCards expects that cards with equal names are distinguished by the titles of their columns, and that a title selects the cards
// of its column.
func TestColumnsOfCards(t *testing.T) {
	for name, shape := range columnShapes {
		page := board(shape, "Todo: Docs Bug", "Doing: Docs", "Empty: ", "Done: Docs Bug Ship")
		all, ids := page.list()
		var buttons []*dom.Element
		for _, e := range all {
			if e.Text == "Move" {
				buttons = append(buttons, e)
			}
		}
		contexts := page.contexts()
		for _, e := range buttons {
			column, card, _ := strings.Cut(ids[e.Ref], " ")
			if words := contexts[ids[e.Ref]]; !strings.Contains(words, column) && card != "Ship" || words != column && !strings.Contains(words, card) {
				t.Errorf("%s: the context of %s is %q", name, ids[e.Ref], words)
			}
		}
		for column, want := range map[string]int{"Todo": 2, "Doing": 1, "Empty": 0, "Done": 3} {
			found := Within(all, buttons, column)
			if len(found) != want || slices.ContainsFunc(found, func(e *dom.Element) bool { return !strings.HasPrefix(ids[e.Ref], column+" ") }) {
				t.Errorf("%s: within %s are %d", name, column, len(found))
			}
		}
		for _, e := range buttons { // as if the row had its own name
			for _, column := range []string{"Todo", "Doing", "Empty", "Done"} {
				one := *e
				one.Text = "Open"
				alone := slices.Clone(all)
				alone[e.Ref] = &one
				own := strings.HasPrefix(ids[e.Ref], column+" ")
				if found := Within(alone, []*dom.Element{&one}, column); len(found) > 0 && !own {
					t.Errorf("%s: within %s is %s", name, column, ids[e.Ref])
				}
			}
		}
	}
}
