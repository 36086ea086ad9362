package diff

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// el creates an element from "ref:text" or "ref:text=value".
func el(ref dom.Ref, text, value string) *dom.Element {
	return &dom.Element{Ref: ref, Parent: dom.NoRef, Tag: "button", Text: text, Value: value}
}

// list parses elements from words such as "3" (text t3), "3b" (another key) and "3=x" (another value).
func list(t *testing.T, words string) []*dom.Element {
	t.Helper()
	var out []*dom.Element
	for _, w := range strings.Fields(words) {
		name, value, _ := strings.Cut(w, "=")
		var ref dom.Ref
		var variant string
		if n, _ := fmt.Sscanf(name, "%d%s", &ref, &variant); n == 0 {
			t.Fatalf("bad element %q", w)
		}
		out = append(out, el(ref, "t"+name, value))
	}
	return out
}

// words is the inverse of list.
func words(elements []*dom.Element) string {
	var out []string
	for _, e := range elements {
		w := strings.TrimPrefix(e.Text, "t")
		if e.Value != "" {
			w += "=" + e.Value
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// describe formats a diff such as "+3@1 -4@0 ~5@2 >6@0-3".
func describe(d Diff) string {
	var out []string
	for _, a := range d.Added {
		out = append(out, fmt.Sprintf("+%s@%d", words([]*dom.Element{a.Element}), a.Index))
	}
	for _, r := range d.Removed {
		out = append(out, fmt.Sprintf("-%s@%d", words([]*dom.Element{r.Element}), r.Index))
	}
	for _, c := range d.Changed {
		out = append(out, fmt.Sprintf("~%d@%d", c.New.Ref, c.Index))
	}
	for _, m := range d.Moved {
		out = append(out, fmt.Sprintf(">%d@%d-%d", m.Element.Ref, m.From, m.To))
	}
	return strings.Join(out, " ")
}

func same(a, b []*dom.Element) bool {
	return slices.EqualFunc(a, b, (*dom.Element).Same)
}

func TestCompute(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{"both empty", "", "", ""},
		{"equal", "1 2 3", "1 2 3", ""},
		{"first", "", "1 2", "+1@0 +2@1"},
		{"all gone", "1 2", "", "-1@0 -2@1"},
		{"append", "1 2", "1 2 3", "+3@2"},
		{"insert", "1 2", "1 3 2", "+3@1"},
		{"remove", "1 2 3", "1 3", "-2@1"},
		{"change", "1 2 3", "1 2=x 3", "~2@1"},
		{"off again", "1=x", "1", "~1@0"},
		{"another key", "1 2 3", "1 2b 3", "+2b@1 -2@1"},
		{"replaced", "1 2 3", "1 4 3", "+4@1 -2@1"},
		{"one to the end", "1 2 3 4", "2 3 4 1", ">1@0-3"},
		{"one to the start", "1 2 3 4", "4 1 2 3", ">4@3-0"},
		{"swapped", "1 2", "2 1", ">1@0-1"},
		{"reversed", "1 2 3 4", "4 3 2 1", ">3@2-1 >2@1-2 >1@0-3"},
		{"moved and changed", "1 2 3", "2 3 1=x", "~1@0 >1@0-2"},
		{"moved with another key", "1 2 3", "2 3 1b", "+1b@2 -1@0"},
		{"new at both ends", "1 2", "3 1 2 4", "+3@0 +4@3"},
		{"all at once", "1 2 3 4 5", "5 1=x 6 3 7 4b", "+6@2 +7@4 +4b@5 -2@1 -4@3 ~1@0 >5@4-0"},
		{"refs far apart", "1 4000000000 3", "3 1 5", "+5@2 -4000000000@1 >1@0-1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old, now := list(t, test.old), list(t, test.now)
			d := Compute(old, now)
			got := describe(d)
			if test.name == "swapped" || test.name == "reversed" || test.name == "refs far apart" {
				// The choice between several smallest sets of moves is not specified.
				if len(d.Moved) != strings.Count(test.want, ">") {
					t.Errorf("%d moves in %q, want as many as in %q", len(d.Moved), got, test.want)
				}
			} else if got != test.want {
				t.Errorf("Compute(%s → %s) = %q, want %q", test.old, test.now, got, test.want)
			}
			if made := apply(t, old, d); !same(made, now) {
				t.Errorf("apply = %s, want %s", words(made), test.now)
			}
		})
	}
}

func TestViewportIsNoChange(t *testing.T) {
	old := list(t, "1 2 3")
	now := list(t, "1 2 3")
	for _, e := range now {
		e.InViewport = true
	}
	if d := Compute(old, now); !d.Empty() {
		t.Errorf("scrolling is reported as %s", describe(d))
	}
}

func TestEveryFieldIsAChange(t *testing.T) {
	base := dom.Element{Ref: 7, Parent: dom.NoRef, Tag: "input", Role: "textbox"}
	tests := []struct {
		change func(*dom.Element)
		want   Field
	}{
		{func(e *dom.Element) { e.Role = "searchbox" }, Field{"role", "textbox", "searchbox"}},
		{func(e *dom.Element) { e.Type = "email" }, Field{"type", "", "email"}},
		{func(e *dom.Element) { e.Value = "v" }, Field{"value", "", "v"}},
		{func(e *dom.Element) { e.Placeholder = "p" }, Field{"placeholder", "", "p"}},
		{func(e *dom.Element) { e.Parent = 3 }, Field{"parent_ref", "", "3"}},
		{func(e *dom.Element) { e.Depth = 2 }, Field{"depth", "0", "2"}},
		{func(e *dom.Element) { e.Level = 2 }, Field{"level", "0", "2"}},
		{func(e *dom.Element) { e.Frame = "F" }, Field{"frame_id", "", "F"}},
		{func(e *dom.Element) { e.Child = "F" }, Field{"child_frame_id", "", "F"}},
		{func(e *dom.Element) { e.Kind = dom.Structural }, Field{"actionable", "true", "false"}},
		{func(e *dom.Element) { e.Kind = dom.FrameHost }, Field{"actionable", "true", "false"}},
		{func(e *dom.Element) { e.States.Checked = dom.Mixed }, Field{"checked", "", "mixed"}},
		{func(e *dom.Element) { e.States.Disabled = dom.True }, Field{"disabled", "", "true"}},
		{func(e *dom.Element) { e.States.Expanded = dom.False }, Field{"expanded", "", "false"}},
		{func(e *dom.Element) { e.States.Selected = dom.True }, Field{"selected", "", "true"}},
		{func(e *dom.Element) { e.States.Pressed = dom.True }, Field{"pressed", "", "true"}},
		{func(e *dom.Element) { e.States.Required = dom.True }, Field{"required", "", "true"}},
		{func(e *dom.Element) { e.States.Readonly = dom.True }, Field{"readonly", "", "true"}},
		{func(e *dom.Element) { e.States.Focused = dom.True }, Field{"focused", "", "true"}},
		{func(e *dom.Element) { e.States.Invalid = dom.True }, Field{"invalid", "", "true"}},
		{func(e *dom.Element) { e.Attributes = map[string]string{"id": "x"} }, Field{"attributes.id", "", "x"}},
		{func(e *dom.Element) { e.Attributes = map[string]string{"hidden": ""} }, Field{"attributes.hidden", "", "(empty)"}},
	}
	for _, test := range tests {
		t.Run(test.want.Name, func(t *testing.T) {
			old, now := base, base
			test.change(&now)
			for _, way := range []struct {
				a, b *dom.Element
				want Field
			}{
				{&old, &now, test.want},
				{&now, &old, Field{test.want.Name, test.want.New, test.want.Old}},
			} {
				d := Compute([]*dom.Element{way.a}, []*dom.Element{way.b})
				if len(d.Changed) != 1 || len(d.Added)+len(d.Removed)+len(d.Moved) != 0 {
					t.Fatalf("got %s, want one change", describe(d))
				}
				if got := d.Changed[0].Fields(); !reflect.DeepEqual(got, []Field{way.want}) {
					t.Errorf("Fields() = %v, want %v", got, way.want)
				}
			}
		})
	}
}

func TestKeysWithBarsDoNotCollide(t *testing.T) {
	old := []*dom.Element{{Ref: 1, Tag: "a", Text: "x|y", Href: "z"}}
	now := []*dom.Element{{Ref: 1, Tag: "a", Text: "x", Href: "y|z"}}
	d := Compute(old, now)
	if len(d.Removed) != 1 || len(d.Added) != 1 || len(d.Changed) != 0 {
		t.Errorf("got %d removed, %d added, %d changed, want 1, 1, 0", len(d.Removed), len(d.Added), len(d.Changed))
	}
}

func TestThreeEqualButtonsToTwo(t *testing.T) {
	old := []*dom.Element{el(1, "Buy", ""), el(2, "Buy", ""), el(3, "Buy", "")}
	d := Compute(old, []*dom.Element{old[0], old[2]})
	if len(d.Removed) != 1 || d.Removed[0].Element.Ref != 2 || len(d.Added) != 0 || len(d.Moved) != 0 {
		t.Errorf("got %s, want only ref 2 removed", describe(d))
	}
}

// TestLongWalk applies the diffs of many random steps, as the reader of a stream does.
func TestLongWalk(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	now := randomList(random, 60)
	for step := range 300 {
		next := mutate(random, now)
		now = apply(t, now, Compute(now, next))
		if !same(now, next) {
			t.Fatalf("step %d: got %s, want %s", step, words(now), words(next))
		}
	}
}

func randomList(random *rand.Rand, n int) []*dom.Element {
	var out []*dom.Element
	for i := range n {
		out = append(out, el(dom.Ref(i), fmt.Sprint("t", random.IntN(n/2+1)), ""))
	}
	return out
}

// mutate returns a copy of a list with a few random edits. Untouched elements are shared.
func mutate(random *rand.Rand, in []*dom.Element) []*dom.Element {
	out := slices.Clone(in)
	for range 1 + random.IntN(4) {
		if len(out) < 10 {
			out = append(out, el(dom.Ref(1e6+random.IntN(1e6)), "late", ""))
			continue
		}
		i, j := random.IntN(len(out)), random.IntN(len(out))
		e := *out[i]
		switch random.IntN(5) {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out = slices.Insert(out, i, el(dom.Ref(1000+random.IntN(1e5)), "new", ""))
		case 2:
			out[i] = out[j]
			out[j] = &e
		case 3:
			e.Value = fmt.Sprint(random.IntN(3))
			out[i] = &e
		case 4:
			e.Text = fmt.Sprint("t", random.IntN(3))
			out[i] = &e
		}
	}
	seen := map[dom.Ref]bool{}
	return slices.DeleteFunc(out, func(e *dom.Element) bool {
		twice := seen[e.Ref]
		seen[e.Ref] = true
		return twice
	})
}
