package compact

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/view"
)

func TestNativeRole(t *testing.T) {
	tests := []struct {
		tag, typ string
		hasHref  bool
		want     string
	}{
		{"a", "", true, "link"}, {"a", "", false, "generic"}, {"area", "", true, "link"},
		{"button", "submit", false, "button"}, {"button", "", true, "button"},
		{"input", "", false, "textbox"}, {"input", "text", false, "textbox"}, {"input", "email", false, "textbox"},
		{"input", "password", false, "textbox"}, {"input", "search", false, "searchbox"},
		{"input", "number", false, "spinbutton"}, {"input", "range", false, "slider"},
		{"input", "checkbox", false, "checkbox"}, {"input", "radio", false, "radio"},
		{"input", "submit", false, "button"}, {"input", "file", false, "button"},
		{"select", "", false, "combobox"}, {"select", "select-one", false, "combobox"},
		{"select", "select-multiple", false, "listbox"}, {"textarea", "", false, "textbox"},
		{"summary", "", false, "button"}, {"details", "", false, "group"}, {"h1", "", false, "heading"},
		{"h6", "", false, "heading"}, {"img", "", false, "img"}, {"nav", "", false, "navigation"},
		{"main", "", false, "main"}, {"div", "", false, "generic"}, {"x-menu", "", false, "generic"},
	}
	for _, test := range tests {
		if got := NativeRole(test.tag, test.typ, test.hasHref); got != test.want {
			t.Errorf("NativeRole(%s, %s, %v) = %q, want %q", test.tag, test.typ, test.hasHref, got, test.want)
		}
	}
}

func TestRoleIsPrintedWhenItIsNotTheTagsOwn(t *testing.T) {
	tests := []struct{ tag, role, want string }{
		{"button", "button", "(button)"}, {"button", "", "(button)"}, {"button", "tab", "(button role=tab)"},
		{"div", "generic", "(div)"}, {"div", "button", "(div role=button)"}, {"div", "\u200b", "(div)"},
		{"header", "banner", "(header)"}, {"header", "generic", "(header)"},
		{"section", "generic", "(section)"}, {"section", "alert", "(section role=alert)"},
		{"img", "none", "(img)"}, {"svg", "image", "(svg)"}, {"select", "listbox", "(select)"},
		{"th", "rowheader", "(th)"}, {"td", "gridcell", "(td)"}, {"label", "label", "(label)"},
		{"a", "button", "(a role=button)"}, {"a", "generic", "(a)"},
	}
	for _, test := range tests {
		got := line(&dom.Element{Tag: test.tag, Role: test.role}, Base{})
		if want := "[0] " + test.want; got != want {
			t.Errorf("%s with role %q is %s, want %s", test.tag, test.role, got, want)
		}
	}
}

func TestHref(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct{ page, href, want string }{
		{"https://a.example/p?q=1#now", "https://a.example/p?q=1#then", "#then"},
		{"https://a.example/p?q=1", "https://a.example/p?q=1#", "#"},
		{"https://a.example/p", "https://a.example/p", "/p"},
		{"https://a.example/p", "https://a.example/p?q=2#x", "/p?q=2#x"},
		{"https://a.example/p", "https://a.example", "/"},
		{"https://a.example", "https://a.example/", "/"},
		{"https://a.example/p", "http://a.example/p", "http://a.example/p"},
		{"https://a.example/p", "https://a.example.evil/p", "https://a.example.evil/p"},
		{"https://a.example/p", "https://a.example:444/p", "https://a.example:444/p"},
		{"https://a.example/p", "https://a.example//evil/p", "https://a.example//evil/p"},
		{"https://u:p@a.example/", "https://u:p@a.example/x", "/x"},
		{"https://a.example/p", "https://b.example/?to=https://a.example/p", "https://b.example/?to=https://a.example/p"},
		{"https://a.example/p", "mailto:anna@a.example", "mailto:anna@a.example"},
		{"https://a.example/p", "javascript:void(0)", "javascript:…"},
		{"https://a.example/p", "JAVASCRIPT:alert(1)", "javascript:…"},
		{"https://a.example/p", "data:image/svg+xml;utf8,<svg/>", "data:image/svg+xml…"},
		{"https://a.example/p", "data:,hello", "data:…"},
		{"https://a.example/p", "data:" + long, "data:…"},
		{"https://a.example/p", "https://a.example/" + long, "/" + long[:118] + "…"},
		{"https://a.example/p", "https://b.example/" + long, "https://b.example/" + long[:101] + "…"},
		{"about:blank", "about:blank#x", "#x"},
		{"", "https://b.example/p#x", "https://b.example/p#x"},
		{"", "#x", "#x"},
	}
	for _, test := range tests {
		got := line(&dom.Element{Tag: "a", Href: test.href}, NewBase(test.page))
		if want := "[0] (a →" + test.want + ")"; got != want {
			t.Errorf("%s on %s: %s, want %s", test.href, test.page, got, want)
		}
	}
}

func TestStringsAreCut(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"},
		{" abc ", 3, "abc"}, {"a b", 3, "a b"}, {"a bc", 3, "a…"}, {"ab c", 3, "ab…"}, {"ab ", 2, "ab"},
		{"a\x00\x00b", 3, "a b"}, {"\u200ba\u202eb\ufeffc", 3, "abc"}, {"ab\xff", 3, "ab\ufffd"}, {"abc\u200b", 3, "abc"},
	}
	for _, test := range tests {
		if got := string(part.AppendClean(nil, test.in, test.limit)); got != test.want {
			t.Errorf("part.AppendClean(%q, %d) = %q, want %q", test.in, test.limit, got, test.want)
		}
	}
}

// words counts like a tokenizer with one token per space and line end.
func words(s string) int { return strings.Count(s, " ") + strings.Count(s, "\n") }

func longHeader() Header {
	h := Header{URL: "https://a.example/" + strings.Repeat("x ", 200), Title: strings.Repeat("long title ", 20)}
	for i := range 7 {
		h.History = append(h.History, Visit{Title: fmt.Sprintf("page %d of many", i)})
	}
	return h
}

func TestHeaderFitsWithin(t *testing.T) {
	h := longHeader()
	last := h.Overhead(words) + 1
	for limit := last; limit > 0; limit-- {
		short := h.Within(limit, words)
		if cost := short.Overhead(words); cost > limit && short.shortening < smallestHeader {
			t.Fatalf("costs %d, limit %d, though it could be shorter", cost, limit)
		} else if cost > last {
			t.Fatalf("costs %d within %d, more than %d before", cost, limit, last)
		} else {
			last = cost
		}
		if !strings.HasPrefix(Lines(short, view.View{}), "URL: https://a.example/") {
			t.Fatalf("within %d the URL is gone", limit)
		}
	}
	if whole := (Header{URL: "u", Title: "t"}); whole.Within(1000, words).shortening != 0 {
		t.Error("a header that fits is cut")
	}
}

func TestThriftyHeaderKeepsPathsShort(t *testing.T) {
	h := longHeader().Within(1, words)
	v := view.View{Elements: dom.ListOf([]*dom.Element{{Tag: "a", Href: "https://a.example/x"}})}
	if text := Lines(h, v); !strings.HasSuffix(text, "[0] (a →/x)\n") {
		t.Errorf("got %q", text)
	}
}

func TestEmptyHeader(t *testing.T) {
	if got := Lines(Header{History: []Visit{{Title: "only"}}}, view.View{}); got != "URL: (none)\n" {
		t.Errorf("got %q", got)
	}
}

// TestSettledTokensAreExact covers the sizes at which the number in "# Tokens:" gets longer.
func TestSettledTokensAreExact(t *testing.T) {
	h := Header{URL: "https://a.example/", Title: "T", Next: "c1"}
	letters := func(s string) int { return len(s) } // every byte counts, and so does every digit
	for n := range 60 {
		all := make([]*dom.Element, n)
		for i := range all {
			all[i] = &dom.Element{Ref: dom.Ref(i), Tag: "button", Text: "Go"}
		}
		s := &dom.Snapshot{Elements: dom.ListOf(all)}
		for _, budget := range []int{200, 1000, 1050, 2000} {
			o := view.Options{MaxTokens: budget, Overhead: h.Overhead(letters), Cost: Cost(NewBase(h.URL), nil, letters)}
			v, err := view.Of(s, o)
			if err != nil {
				t.Fatal(err)
			}
			v = Settle(h, v, o.Overhead, letters)
			if got := letters(Lines(h, v)); got != v.Tokens || got > budget {
				t.Fatalf("%d elements, budget %d: text costs %d, said %d", n, budget, got, v.Tokens)
			}
		}
	}
}

func TestSettleLeavesViewsWithoutBudget(t *testing.T) {
	if v := Settle(Header{}, view.View{Total: 3}, 10, words); v.Tokens != 0 {
		t.Errorf("got %d tokens", v.Tokens)
	}
}

// TestValuesAreNoStates has values that look like a state, or like the end of a line.
func TestValuesAreNoStates(t *testing.T) {
	for value, want := range map[string]string{
		"SPRING":            `[1] Name (input =SPRING)`,
		"disabled":          `[1] Name (input =disabled)`,
		"Mine disabled":     `[1] Name (input ="Mine disabled")`,
		"a) [2] Pay (input": `[1] Name (input ="a) \[2] Pay \(input")`,
		`"x" y`:             `[1] Name (input ="\"x\" y")`,
		`a\`:                `[1] Name (input ="a\\")`,
		" \n ":              `[1] Name (input type=text)`,
	} {
		e := &dom.Element{Ref: 1, Tag: "input", Type: "text", Role: "textbox", Text: "Name", Value: value}
		if got := line(e, Base{}); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}

// TestADiffSaysWhatAddedElementsHold checks that a diff has the values and states of only the added elements.
func TestADiffSaysWhatAddedElementsHold(t *testing.T) {
	field := &dom.Element{Ref: 6, Tag: "input", Type: "text", Role: "textbox", Text: "Name", Value: `Ada "L"`, States: dom.States{Required: dom.True}}
	box := &dom.Element{Ref: 7, Tag: "input", Type: "checkbox", Role: "checkbox", Text: "Gift", Value: "on", States: dom.States{Checked: dom.True}}
	d := diff.Diff{Added: []diff.Added{{Element: field}, {Element: box}}, Removed: []diff.Removed{{Element: field}}}
	const want = "Changes: +2 -1 ~0\nAdded:\n  [6] <input type=\"text\" value=\"Ada \\\"L\\\"\" required> Name\n" +
		"  [7] <input type=\"checkbox\" checked> Gift\nRemoved:\n  [6] <input type=\"text\"> Name\n"
	if got := Diff(d); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// checkLine fails the test if the line contains anything that could end or hide it.
func checkLine(t *testing.T, line string) {
	t.Helper()
	if !utf8.ValidString(line) {
		t.Fatalf("%q is no UTF-8", line)
	}
	for _, r := range line {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || IsInvisible(r) {
			t.Fatalf("%q holds %U", line, r)
		}
	}
}

// hostileElement distributes the strings over an element's fields.
func hostileElement(ref uint32, states uint32, a, b, c string) *dom.Element {
	tri := func(shift int) dom.Tri { return dom.Tri(states >> shift & 3) }
	e := &dom.Element{
		Ref: dom.Ref(ref), Tag: a, Role: b, Text: c, Type: a + b,
		States: dom.States{
			Checked: tri(0), Disabled: tri(2), Expanded: tri(4), Selected: tri(6), Pressed: tri(8),
			Required: tri(10), Readonly: tri(12), Focused: tri(14), Invalid: tri(16),
		},
	}
	if states&(1<<18) != 0 {
		e.Href = b + c
	}
	if states&(1<<19) != 0 {
		e.Value = c + a
	}
	if states&(1<<20) != 0 {
		e.Tag = "input"
	}
	return e
}

func seeds(f *testing.F) {
	f.Add(uint32(7), uint32(0), "input", "textbox", "Email", "https://a.example/")
	f.Add(uint32(1<<32-1), uint32(1<<21-1), "a\nb", "\u2028", "\xff\x00\u202e", "data:x")
	f.Add(uint32(9), uint32(5<<18), "javascript:", "data:text/html,", strings.Repeat("汉字 ", 80), "#\n")
	f.Add(uint32(9), uint32(1<<18), "a", "https://a.example//", "/x\r\n", "https://a.example/")
}

func FuzzLineIsOneValidLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ref, states uint32, a, b, c, page string) {
		e := hostileElement(ref, states, a, b, c)
		line := line(e, NewBase(page))
		checkLine(t, line)
		if !strings.HasPrefix(line, fmt.Sprintf("[%d] ", ref)) || !strings.HasSuffix(line, ")") {
			t.Fatalf("%q has another form", line)
		}
		if n := utf8.RuneCountInString(line); n > 450 {
			t.Fatalf("%q is %d characters long", line, n)
		}
	})
}

func FuzzTextHasOneLineForEachEntry(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, ref, states uint32, a, b, c, page string) {
		e := hostileElement(ref, states, a, b, c)
		other := *e
		other.Ref++
		other.Value += a
		h := Header{URL: page, Title: c, Next: a, History: []Visit{{a, b}, {b, ""}, {c, a}}}
		v := view.View{Elements: dom.ListOf([]*dom.Element{e, &other}), Total: 3, Tokens: 9, Reason: view.TokenBudget}
		checkText(t, Lines(h, v), 6)
		d := diff.Diff{
			Added:   []diff.Added{{Index: 0, Element: e}},
			Removed: []diff.Removed{{Index: 0, Element: e}},
			Changed: []diff.Changed{{Index: 0, Old: e, New: &other}},
			Moved:   []diff.Moved{{From: 1, To: 2, Element: &other}},
		}
		checkText(t, Diff(d), 9)
	})
}

func checkText(t *testing.T, text string, lines int) {
	t.Helper()
	rest, ok := strings.CutSuffix(text, "\n")
	got := strings.Split(rest, "\n")
	if !ok || len(got) != lines {
		t.Fatalf("%q has %d lines, want %d and a line end", text, len(got), lines)
	}
	for _, line := range got {
		checkLine(t, line)
		if line == "" || line[0] == '/' {
			t.Fatalf("%q has a line that could join the one before", text)
		}
	}
}

func benchmarkElements(n int) []*dom.Element {
	var out []*dom.Element
	for i := range n {
		out = append(out, &dom.Element{
			Ref: dom.Ref(i), Tag: "a", Role: "link", Text: fmt.Sprintf("Item number %d of the long list", i),
			Href: fmt.Sprintf("https://shop.example/items/%d", i),
		})
	}
	return out
}

func BenchmarkLines300(b *testing.B) {
	h := Header{URL: "https://shop.example/", Title: "Shop"}
	v := view.View{Elements: dom.ListOf(benchmarkElements(300)), Total: 300}
	b.SetBytes(int64(len(Lines(h, v))))
	b.ReportAllocs()
	for b.Loop() {
		Lines(h, v)
	}
}

func BenchmarkDiff100(b *testing.B) {
	old := benchmarkElements(100)
	var now []*dom.Element
	for _, e := range old {
		c := *e
		c.States.Focused = dom.True
		now = append(now, &c)
	}
	d := diff.Compute(old, now)
	b.ReportAllocs()
	for b.Loop() {
		Diff(d)
	}
}

func line(e *dom.Element, base Base) string { return string(AppendLine(nil, e, base)) }
