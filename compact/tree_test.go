package compact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

// nested returns n buttons, each inside the previous one.
func nested(n int) []*dom.Element {
	out := make([]*dom.Element, n)
	for i := range out {
		out[i] = &dom.Element{Ref: dom.Ref(i), Parent: dom.Ref(i) - 1, Depth: i, Role: "button", Text: "Go"}
	}
	out[0].Parent = dom.NoRef
	return out
}

func TestTreeLinesAreBoundedHoweverDeep(t *testing.T) {
	all := nested(20_000)
	o := NewOutline(Base{}, all, all, nil)
	text := Tree(Header{}, view.View{Elements: dom.ListOf(all)}, o)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:]
	if len(lines) != len(all) || o.Len() != len(all) {
		t.Fatalf("%d lines, want %d", len(lines), len(all))
	}
	for i, line := range lines {
		level := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		if level != min(i, maxLevel) {
			t.Fatalf("line %d stands at level %d", i, level)
		}
	}
}

// pieces counts like a tokenizer with tokens for eight spaces and for one, so that a deeper line may cost less than another.
func pieces(s string) int {
	return len(strings.ReplaceAll(s, "        ", "8"))
}

func TestTreeCostIsABoundAndOutlineCostIsExact(t *testing.T) {
	all := nested(80)
	for i, e := range all {
		if i%7 == 3 {
			e.Kind, e.Role, e.Text = dom.Structural, "generic", ""
		}
	}
	folded := Folded{79: 5}
	for _, count := range []func(string) int{words, pieces, func(s string) int { return len(s) }} {
		cost := TreeCost(Base{}, folded, nil, count)
		for _, step := range []int{1, 2, 5} {
			var shown []*dom.Element
			for i := 0; i < len(all); i += step {
				shown = append(shown, all[i])
			}
			bound := 0
			for _, e := range shown {
				bound += cost(e)
			}
			o := NewOutline(Base{}, shown, all, folded)
			h, v := Header{URL: "u"}, view.View{Elements: dom.ListOf(shown)}
			exact := count(Tree(h, v, o)) - count(Tree(h, v, Outline{}))
			if got := o.Cost(count); got != exact || got > bound {
				t.Errorf("every %d: the lines cost %d, said %d, bound %d", step, exact, got, bound)
			}
		}
	}
}

func FuzzTreeEntryIsOneValidLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ref, states uint32, a, b, c, page string) {
		e := hostileElement(ref, states, a, b, c)
		e.Level = int(states >> 28)
		child, leaf := *e, *e
		child.Ref, child.Parent = e.Ref+1, e.Ref
		leaf.Ref, leaf.Parent, leaf.Text = e.Ref+2, e.Ref+1, b
		e.Parent = dom.NoRef
		if ref >= 1<<32-3 {
			return
		}
		all := []*dom.Element{e, &child, &leaf}
		o := NewOutline(NewBase(page), all, all, Folded{leaf.Ref: 3})
		text := Tree(Header{URL: page}, view.View{Elements: dom.ListOf(all)}, o)
		checkText(t, text, 1+o.Len())
		for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n")[1:] {
			if n := utf8.RuneCountInString(line); n > 800 {
				t.Fatalf("%q is %d characters long", line, n)
			}
			checkEntry(t, line, ref)
		}
	})
}

// checkEntry fails the test unless the first ref outside of quotes is first or one of the next two.
func checkEntry(t *testing.T, line string, first uint32) {
	t.Helper()
	rest := strings.TrimLeft(line, " ")
	if !strings.HasPrefix(rest, "- ") {
		t.Fatalf("%q has no dash", line)
	}
	head, quoted, ok := strings.Cut(rest, ` "`)
	if ok && !strings.Contains(head, "ref=") {
		_, rest, ok = strings.Cut(quoted, `"`)
		if !ok {
			t.Fatalf("the name in %q does not end", line)
		}
	}
	_, after, _ := strings.Cut(rest, "[ref=e")
	for i := range uint32(3) {
		if strings.HasPrefix(after, fmt.Sprintf("%d]", first+i)) {
			return
		}
	}
	t.Fatalf("%q names another ref", line)
}
