package dense

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestElementsOfALine(t *testing.T) {
	link := func(ref uint32, name string) Element { return Element{Ref: ref, Name: name, Role: "link"} }
	tests := map[string][]Element{
		"[1] Home [2] Help →help.example":     {link(1, "Home"), {Ref: 2, Name: "Help", Role: "link", Target: "help.example"}},
		"[1] →/a?b (link focused)":            {{Ref: 1, Role: "link", Target: "/a?b", States: []string{"focused"}}},
		"[1]":                                 {link(1, "")},
		"[1] (button)":                        {{Ref: 1, Role: "button"}},
		"## Cart [1] Edit":                    {link(1, "Edit")},
		"| 1003 | [1] A | b [2] C |":          {link(1, "A"), link(2, "C")},
		"<main [1] A>":                        nil,
		"! alert: [1] A":                      nil,
		"URL: https://a.example/[1] A":        nil,
		`[1] \[2] a \(b) c (d) \\ \→x → ‹ \→`: {link(1, `[2] a (b) c (d) \ →x → ‹ →`)},
		"[1] Acme News → [2] Acme → (link focused) ‹Row›": {
			{Ref: 1, Name: "Acme News", Role: "link", Target: "→"}, {Ref: 2, Name: "Acme", Role: "link", Target: "→", States: []string{"focused"}, Context: "Row"},
		},
		`[1] A (textbox ="x\") \[2] y" type=week required) ‹Row \‹1› [2] B`: {
			{Ref: 1, Name: "A", Role: "textbox", Value: `x") [2] y`, States: []string{"required"}, Context: "Row ‹1"}, link(2, "B"),
		},
		`[1] A…+7 (textbox ="b…\+3 c…+230" focused) ‹Row…› [2] B (textbox ="…\+5") ‹…\+6›`: {
			{Ref: 1, Name: "A…", Left: 7, Role: "textbox", Value: "b…+3 c…", ValueLeft: 230, States: []string{"focused"}, Context: "Row…"},
			{Ref: 2, Name: "B", Role: "textbox", Value: "…+5", Context: "…+6"},
		},
		"(covered) [1]=[2] Open (button)": {
			{Ref: 1, Name: "Open", Role: "generic", Covered: true}, {Ref: 2, Name: "Open", Role: "button", Covered: true},
		},
		"(covered) (button) [1] A [2] B (link) [3]": {
			{Ref: 1, Name: "A", Role: "button", Covered: true}, {Ref: 2, Name: "B", Role: "link", Covered: true}, {Ref: 3, Role: "button", Covered: true},
		},
		`[1] A ‹Row…› [2] B ‹› [3] C ‹› [4] D ‹"›`: {
			{Ref: 1, Name: "A", Role: "link", Context: "Row…"}, {Ref: 2, Name: "B", Role: "link", Context: "Row…"},
			{Ref: 3, Name: "C", Role: "link", Context: "Row…"}, {Ref: 4, Name: "D", Role: "link", Context: `"`},
		},
		"[1] A ‹Row› [2] B\n# Words\n[3] C [4] D ‹›": {
			{Ref: 1, Name: "A", Role: "link", Context: "Row"}, link(2, "B"), link(3, "C"), {Ref: 4, Name: "D", Role: "link", Context: "Row"},
		},
		"[3] Blue jeans →x.example [1]=3": {
			{Ref: 3, Name: "Blue jeans", Role: "link", Target: "x.example"}, {Ref: 1, Name: "Blue jeans", Role: "link", Target: "x.example"},
		},
	}
	for line, want := range tests {
		got, err := Parse(line + "\n")
		for i := range got {
			if len(got[i].States) == 0 {
				got[i].States = nil
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n is read as %+v, %v\n    want %+v", line, got, err, want)
		}
	}
}

func TestTextsThatAreNotDense(t *testing.T) {
	for _, text := range []string{"[1]=[2]\n", "[1]Home\n", "[1] Home  (\n[1] A (button disabled=\"x\") (link\n[2]=[9]"} {
		if got, err := Parse(text); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}

// TestExampleOfTheManual parses the first page in docs/dense.md.
func TestExampleOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/dense.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(manual), "\n    URL: ")
	page, _, _ = strings.Cut(page, "\n## ")
	all, err := Parse(strings.ReplaceAll(page, "\n    ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var refs []uint32
	for _, e := range all {
		refs = append(refs, e.Ref)
	}
	if !slices.Equal(refs, []uint32{65, 66, 67, 13, 14, 15, 16, 17, 20, 21, 22, 23, 24}) || all[11].Name != "Orders and returns" || all[8].Value != "ada@x.org" {
		t.Errorf("the page is read as %+v", all)
	}
}

// TestChangesOfTheManual parses the example of DENSE_DIFF in docs/dense.md.
func TestChangesOfTheManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/dense.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(manual), "\n    ~ [9]")
	text, _, _ = strings.Cut("~ [9]"+text, "\n\n")
	got, err := ParseDiff(strings.ReplaceAll(text, "\n    ", "\n"))
	want := Diff{
		Added:   []Element{{Ref: 50, Name: "Undo", Role: "button", States: []string{}}},
		Removed: []Element{{Ref: 20, Name: "Remove", Role: "button", Context: "Blue jeans", States: []string{}}},
		Changed: []Change{
			{Element{Ref: 9, Name: "Gift wrap", Role: "checkbox", States: []string{}}, Element{Ref: 9, Name: "Gift wrap", Role: "checkbox", States: []string{"checked"}}},
			{Element{Ref: 11, Name: "Cart: 2 items", Role: "link", States: []string{}}, Element{Ref: 11, Name: "Cart: 3 items", Role: "link", States: []string{}}},
		},
		Redrawn: []Redrawn{{281, 325, 33}}, Moved: []uint32{4, 7}, More: map[byte]int{},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v\nwant %+v", got, err, want)
	}
}

func TestChangesOfWhatIsCut(t *testing.T) {
	got, err := ParseDiff(`~ [1] A (textbox ="new…+230") ‹Row…› ← (textbox ="old…+7") ‹Rows…›` + "\n" + `~ [2] B (textbox ="c") ‹Row…› ← (textbox ="d")` + "\n")
	if err != nil || len(got.Changed) != 2 {
		t.Fatalf("read %+v, %v", got, err)
	}
	was, same := got.Changed[0].Was, got.Changed[1].Was
	if was.Value != "old…" || was.ValueLeft != 7 || was.Context != "Rows…" || same.ValueLeft != 0 {
		t.Errorf("read %+v", got.Changed)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[1]=[2] a (b) | [3] →x ‹y›\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse(text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has several lines: %v", text, err)
		}
		if _, err := ParseDiff(text); err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error has several lines: %v", text, err)
		}
	})
}
