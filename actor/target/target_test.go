package target

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// page returns elements for lines such as `button Pay`, ` link Help` (inside the last line above with less indentation), and `~heading
// Cart` for a structural element. Refs count from 0.
func page(lines ...string) []*dom.Element {
	var out []*dom.Element
	var up []int // indents of the elements that may be parents
	var refs []dom.Ref
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for len(up) > 0 && up[len(up)-1] >= indent {
			up, refs = up[:len(up)-1], refs[:len(refs)-1]
		}
		line = strings.TrimSpace(line)
		el := &dom.Element{Ref: dom.Ref(i), Parent: dom.NoRef}
		if len(refs) > 0 {
			el.Parent = refs[len(refs)-1]
		}
		if rest, shown := strings.CutPrefix(line, "~"); shown {
			line, el.Kind = rest, dom.Structural
		}
		el.Role, el.Text, _ = strings.Cut(line, " ")
		el.Tag = el.Role
		out = append(out, el)
		up, refs = append(up, indent), append(refs, el.Ref)
	}
	return out
}

func refs(elements []*dom.Element) string {
	var out []string
	for _, el := range elements {
		out = append(out, fmt.Sprint(el.Ref))
	}
	return strings.Join(out, " ")
}

func TestMatchMeansWhatFitsClosest(t *testing.T) {
	shop := page("button Pay", "button pay", "button Pay later", "link Pay", "~heading Pay", "~heading Orders of  last year", "row Apple", "  link Apple", "button Save as")
	for _, c := range []struct {
		target Target
		want   string
	}{
		{Target{By: Role, Role: "button", Name: "Pay"}, "0"},
		{Target{By: Role, Role: "button", Name: "PAY"}, "0 1"},
		{Target{By: Role, Role: "button", Name: "later"}, "2"},
		{Target{By: Role, Role: "button", Name: "a"}, "8"},
		{Target{By: Role, Role: "button", Name: "y"}, ""},
		{Target{By: Role, Role: "BUTTON", Name: "Pay"}, "0"},
		{Target{By: Role, Role: "link"}, "3 7"},
		{Target{By: Role, Name: "Pay"}, "0 3"},
		{Target{By: Role, Role: "heading"}, "4 5"},
		{Target{By: Role, Role: "heading", Name: "orders of last year"}, "5"},
		{Target{By: Role, Role: "slider"}, ""},
		{Target{By: Text, Words: "Pay"}, "0 3"},
		{Target{By: Text, Words: "Apple"}, "7"},
		{Target{By: Text, Words: "Orders"}, "5"},
		{Target{By: Text, Words: "  "}, ""},
		{Target{By: Label, Words: "Pay"}, ""},
	} {
		if got := refs(Match(c.target, shop)); got != c.want {
			t.Errorf("%v means %q, want %q", c.target, got, c.want)
		}
	}
}

func TestRoleWordsOfFieldsAreRoles(t *testing.T) {
	for _, word := range []string{"slider", "Time", "date", "datetime"} {
		if got, is := (Target{By: Label, Words: word, Nth: 2}).RoleOfFields(); !is || got.Role != strings.ToLower(word) || got.Nth != 2 {
			t.Errorf("label %q is %v, want its role", word, got)
		}
	}
	if got, is := (Target{By: Label, Words: "Day"}).RoleOfFields(); is {
		t.Errorf("label Day is the role %v", got)
	}
}

func TestMatchMeansTheFieldOfALabel(t *testing.T) {
	for want, form := range map[string][]*dom.Element{
		"1":   page("label City", "combobox City", "button Go"),
		"0":   page("label City", "button Go"),
		"1 3": page("label City", "textbox City", "label City", "textbox City"),
		"0 1": page("label City", "button City"),
		"0 2": page("combobox City", "button Go", "label City"), // belongs to another field
	} {
		if got := refs(Match(Target{By: Text, Words: "City"}, form)); got != want {
			t.Errorf("City means %q, want %q", got, want)
		}
	}
	form := page("label City", "combobox City")
	if got := refs(Match(Target{By: Role, Role: "label", Name: "City"}, form)); got != "0" {
		t.Errorf("the label is %q", got)
	}
}

// TestABoxOfAnItemIsItsItem finds two drawn checkboxes in a tree item.
func TestABoxOfAnItemIsItsItem(t *testing.T) {
	all := page("treeitem Animals", "checkbox Animals", "checkbox Animals", "button Go")
	for i, el := range all[:3] {
		if el.Tag = "span"; i > 0 {
			el.Parent = all[0].Ref
		}
	}
	found := Match(Target{By: Text, Words: "Animals"}, all)
	if got := refs(found) + ", " + refs(ItemsOfBoxes(found, all)); got != "1 2, 0" {
		t.Errorf("the boxes and their item are %q", got)
	}
}

func TestMatchMeansElementsByTheirHints(t *testing.T) {
	for words, want := range map[string]string{"~star": "0 2", "~active": "1", "~sta": "", "star": "3"} {
		icons := page("button", "button Home", "generic", "button star")
		icons[0].Hints, icons[1].Hints, icons[2].Hints, icons[3].Hints = "star", "active", "star selected", "star"
		if got := refs(Match(Target{By: Text, Words: words}, icons)); got != want {
			t.Errorf("%s means %q, want %q", words, got, want)
		}
	}
	icon := page("button")
	icon[0].Hints = "trash"
	if got := refs(Match(Target{By: Role, Role: "button", Name: "~trash"}, icon)); got != "0" {
		t.Errorf("the button is %q", got)
	}
}

// TestWholeWordsComeBeforeParts checks that a match at the start of a word precedes a match within a word.
func TestWholeWordsComeBeforeParts(t *testing.T) {
	for text, want := range map[string]Fit{
		"Age": Exactly, "age": Folded, "Age: sort": Worded, "By age": Worded, "Ages": Worded, "entries per page": Not, "page, age": Worded, "Größage": Not, "Ag": Not,
	} {
		if got := Compare(text, "Age"); got != want {
			t.Errorf("%q fits %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]Fit{"Tokyo": Not, "OK, go": Worded, "12ok": Worded, "東京駅": Not, "Submit": Not} {
		if got := Compare(text, "OK"); got != want {
			t.Errorf("%q fits %v, want %v", text, got, want)
		}
	}
	if Compare("東京駅", "京駅") != Partly || Compare("Submit order", "ubmit") != Partly {
		t.Error("a long part, or one of a script without words, does not fit")
	}
	list := page("combobox entries per page", "button Age: sort")
	if got := refs(Match(Target{By: Text, Words: "Age"}, list)); got != "1" {
		t.Errorf("got %q", got)
	}
}

func TestCompareKnowsTextsThatWereCut(t *testing.T) {
	long := strings.Repeat("word ", 30)
	if got := Compare(long[:99]+"…", long); got != Folded {
		t.Errorf("the beginning of a long text fits %v", got)
	}
	if got := Compare("Pay…", "Pay later"); got != Folded {
		t.Errorf("got %v", got)
	}
}

func TestNearestForgivesMistakes(t *testing.T) {
	shop := page("button Submit order", "link Sitemap", "textbox E-mail", "~heading Submit", "button Cancel")
	for _, c := range []struct {
		target Target
		want   string
	}{
		{Target{By: Role, Role: "button", Name: "Submit ordre"}, "0 3"},
		{Target{By: Role, Role: "link", Name: "Cancel"}, "4"},
		{Target{By: Label, Words: "Email"}, "2"},
		{Target{By: Text, Words: "qqqq"}, ""},
		{Target{By: Selector, Words: "Cancel"}, ""},
	} {
		if got := refs(Nearest(c.target, shop, 2)); got != c.want {
			t.Errorf("nearest to %v: %q, want %q", c.target, got, c.want)
		}
	}
	gone := &dom.Element{Role: "button", Text: "Submit"}
	if got := refs(Similar(gone, shop, 1)); got != "0" {
		t.Errorf("like %v: %q", gone, got)
	}
}

func TestFindingsOfFramesAreOne(t *testing.T) {
	one := Resolution{Matches: []PageMatch{{Ref: 3, Fit: Partly}, {Ref: dom.NoRef, Fit: Partly}}}
	other := Resolution{Matches: []PageMatch{{Ref: 9, Fit: Folded}, {Ref: 9, Fit: Folded}}, Hidden: 2, HiddenWas: "<input>"}
	all := one.Merge(other)
	got, unread := all.Closest()
	if fmt.Sprint(got, unread, all.Hidden, all.HiddenWas) != "[9] false 2<input>" {
		t.Errorf("got %v, %v of %+v", got, unread, all)
	}
	if _, unread := one.Closest(); !unread {
		t.Error("the element without a ref is not told")
	}
}

// FuzzMatchGivesOnlyWhatFitsAlike checks that all matches have the same fit and are in document order, and that no better match is omitted.
func FuzzMatchGivesOnlyWhatFitsAlike(f *testing.F) {
	f.Add("button", "Pay", "button Pay\nlink pay\n~heading Pay now")
	f.Add("", "a", "x a\n  y A\n x b…")
	f.Fuzz(func(t *testing.T, role, words, text string) {
		lines := strings.Split(text, "\n")
		if len(lines) > 50 {
			return
		}
		all := page(lines...)
		for _, wanted := range []Target{{By: Role, Role: role, Name: words}, {By: Text, Words: words}} {
			found := Match(wanted, all)
			last := -1
			for _, el := range found {
				if int(el.Ref) <= last {
					t.Fatalf("%v: out of order", refs(found))
				}
				last = int(el.Ref)
				if wanted.Fit(el) != wanted.Fit(found[0]) || el.Kind != found[0].Kind || wanted.Fit(el) == Not {
					t.Fatalf("%v means %v, which fit differently", wanted, refs(found))
				}
			}
			for _, el := range all {
				fit := wanted.Fit(el)
				if fit != Not && len(found) == 0 || len(found) > 0 && el.Kind == found[0].Kind && fit < wanted.Fit(found[0]) {
					t.Fatalf("%v leaves out %v", wanted, el)
				}
			}
			Nearest(wanted, all, 3)
			_ = wanted.String()
		}
	})
}

func TestASentenceThatMentionsWordsIsNotMeant(t *testing.T) {
	for text, want := range map[string]bool{
		"You cannot undo.": true, "Undo": false, "Undo the last of all changes.": false, "Item 12 Undo": false,
		"What was done here stays as it is, so undo it by hand": true,
	} {
		if got := Mentions(&dom.Element{Kind: dom.Structural, Role: "paragraph", Text: text}, "Undo"); got != want {
			t.Errorf("%q mentions it: %v, want %v", text, got, want)
		}
	}
	if Mentions(&dom.Element{Kind: dom.Interactive, Role: "button", Text: "Click here to undo."}, "undo") {
		t.Error("a button is no sentence")
	}
}

// TestCellsThatContainTheTextsOfOthers has rows that are not listed themselves, so that only the joins show them.
func TestCellsThatContainTheTextsOfOthers(t *testing.T) {
	all := page("gridcell 9", "gridcell Edsger 9", "gridcell 94", "gridcell 10", "gridcell Barbara 10", "gridcell 30")
	for i, el := range all {
		if el.Join = 2; i%3 == 0 {
			el.Join = 1
		}
	}
	if got := refs(Match(Target{By: Role, Role: "gridcell", Name: "9", Within: "Edsger 9"}, all)); got != "0" {
		t.Errorf("9 within Edsger 9: %s", got)
	}
	if got := refs(Match(Target{By: Role, Role: "gridcell", Name: "9", Within: "Barbara 10"}, all)); got != "" {
		t.Errorf("9 within another row: %s", got)
	}
}
