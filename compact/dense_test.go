package compact

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/dense"
	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/compact/internal/site"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/elementcontext"
	"github.com/domtap/domtap/view"
)

// readable returns the expected parsed form of an element.
func readable(e *dom.Element) dense.Element {
	value := ""
	if part.HasReadableValue(e) {
		value = string(part.AppendClean(nil, e.Value, part.MaxValue))
	}
	return dense.Element{
		Ref: uint32(e.Ref), Left: e.Left, ValueLeft: leftOf(e, value), Name: string(part.AppendClean(nil, e.Text, part.MaxText)), Value: value,
		Role:  string(part.AppendRole(nil, e.Role)),
		Hints: strings.Fields(e.Hints), States: strings.Fields(string(part.AppendStates(nil, &e.States))), Covered: e.Covered,
	}
}

// leftOf returns the number of characters omitted from a value, if its text shows it.
func leftOf(e *dom.Element, value string) int {
	if !strings.HasSuffix(value, part.Ellipsis) {
		return 0
	}
	return e.ValueLeft
}

// checkDense prints a view in every way and fails the test unless the text is well formed and parsing it returns the elements.
func checkDense(t *testing.T, h Header, shown, all []*dom.Element) {
	t.Helper()
	contexts := elementcontext.Distinguish(all, all)
	for _, o := range []dense.Options{{}, {HRefs: true}, {Brief: true}, {HRefs: true, Brief: true}} {
		o.Base = NewBase(h.URL)
		p := dense.NewPage(o, all, all)
		h.Links = p.Home()
		shown := shown
		if p.Folds(shown) {
			shown = slices.DeleteFunc(slices.Clone(shown), func(e *dom.Element) bool { return e.Covered })
		}
		for _, m := range []dense.Mention{dense.MentionAll, dense.MentionNeeded, dense.MentionNone} {
			v := view.View{Elements: dom.ListOf(shown), Total: len(all), Reason: view.ElementLimit}
			text := Dense(h, v, p.Lines(shown, m))
			for line := range strings.Lines(text) {
				line, ended := strings.CutSuffix(line, "\n")
				checkLine(t, line)
				if !ended || line == "" || line[0] == '/' || line[0] == ' ' || line[0] == '!' {
					t.Fatalf("%q is not a line", line)
				}
				if n := utf8.RuneCountInString(line); n > 16_000 {
					t.Fatalf("a line has %d characters: %q", n, line)
				}
			}
			got, err := dense.Parse(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			for i := range got {
				if i >= len(shown) {
					t.Fatalf("%d elements, want %d in\n%s", len(got), len(shown), text)
				}
				want := readable(shown[i])
				if want.Target = got[i].Target; !isTarget(got[i].Target, shown[i], o) {
					t.Fatalf("[%d] leads to %q, and has the target %q in\n%s", got[i].Ref, shown[i].Href, got[i].Target, text)
				}
				c := contexts[shown[i].Ref]
				for _, limit := range []int{24, 40, 60, elementcontext.MaxLen} {
					if which := string(part.AppendClean(nil, c.Words, limit)); got[i].Context == which {
						want.Context = which
					}
				}
				if len(got[i].Hints) < len(want.Hints) { // the hint may omit the date of a day
					want.Hints = slices.DeleteFunc(want.Hints, func(hint string) bool { return strings.HasPrefix(hint, "is-20") })
				}
				if !equalRead(got[i], want) {
					t.Fatalf("read %+v, want %+v in\n%s", got[i], want, text)
				}
			}
			if len(got) != len(shown) {
				t.Fatalf("%d elements, want %d in\n%s", len(got), len(shown), text)
			}
		}
	}
}

// isTarget reports whether a printed target is that of a link: all of its short form with HRefs, and otherwise a part of it, nothing, or an
// arrow if the name of the link contains that of the site.
func isTarget(target string, link *dom.Element, o dense.Options) bool {
	href := link.Href
	if target == "→" {
		_, host, _ := part.SplitURL(href)
		name, _, _ := strings.Cut(site.Of(host), ".")
		return !o.HRefs && strings.Contains(strings.ToLower(strings.ReplaceAll(link.Text, " ", "")), name)
	}
	if o.HRefs {
		full := part.Target(o.Base.Href(href), 2*part.MaxHref)
		if full == `"` {
			full = "%22"
		}
		return target == full
	}
	short, _ := o.Base.Shorten(href)
	target = strings.Trim(target, part.Ellipsis)
	for _, s := range []string{href, short} {
		if s = part.Target(s, len(s)+1); strings.Contains(s, target) || target == "%22" && strings.Contains(s, `"`) {
			return true
		}
	}
	return false
}

func equalRead(a, b dense.Element) bool {
	states := slices.Equal(a.States, b.States)
	a.States, b.States = nil, nil
	return states && slices.Equal(a.Hints, b.Hints) && a.Ref == b.Ref && a.Name == b.Name && a.Left == b.Left && a.Role == b.Role && a.Value == b.Value && a.ValueLeft == b.ValueLeft &&
		a.Target == b.Target && a.Context == b.Context && a.Covered == b.Covered
}

// FuzzDenseReadsBack checks for arbitrary pages that parsing the text returns the elements of the view, with their refs, names, roles,
// values and states.
func FuzzDenseReadsBack(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x10\x11\x12\x13\x14\x15\x16"), "Delete (button)\n[7] Home", "a [12] b → c | d", "https://a.example/x")
	f.Add([]byte(strings.Repeat("\x21\x05\x00\x01\x33\x42", 20)), "Name (x\n (link) ‹3› →x\n| # <a>\n! alert: x", "\\", "https://b.example/")
	f.Add([]byte(strings.Repeat("\x21\x15\x80\x91\x03\x22\x01\x00", 20)), "\\[1] =[2]\n\"a\\\n…\n(covered) [1]\n ( (b) [1", `=" [3] x" (y) checked`, "")
	f.Add([]byte(strings.Repeat("\xe1\x05\x80\x91\x03\xe0\x01\x00", 20)), "All of it…\nMore…+7\n\\…+12\nA long one…", "…+5", "")
	f.Fuzz(func(t *testing.T, shape []byte, names, value, page string) {
		if len(shape) > 600 {
			return
		}
		all := fuzzedPage(shape, strings.Split(names, "\n"), value)
		var interactive, some []*dom.Element
		for i, e := range all {
			if e.Kind == dom.Interactive {
				interactive = append(interactive, e)
			}
			if i%3 != 0 {
				some = append(some, e)
			}
		}
		h := Header{URL: page, Title: names, Signals: value, Next: names, History: []Visit{{names, page}, {value, page}}}
		for _, shown := range [][]*dom.Element{interactive, some, all, nil} {
			checkDense(t, h, shown, all)
		}
	})
}

var (
	fuzzTags  = []string{"a", "a", "a", "div", "button", "input", "li", "h2", "td", "tr", "form", "select"}
	fuzzRoles = []string{
		"link", "link", "generic", "button", "textbox", "heading", "row", "cell", "columnheader", "table", "list",
		"listitem", "navigation", "main", "alert", "group", "checkbox", "form", "article", "", "Odd [3] (x)",
	}
	fuzzHints = []string{"", "", "", "", "", "trash", "active", "trash-can is-2"}
	fuzzHrefs = []string{"", "", "https://a.example/x", "https://b.example/[3] (y)?q=a b", "https://b.example/2", "mailto:a@b", "javascript:x", "/rel ative\\"}
)

// fuzzedPage creates elements from bytes, five for each.
func fuzzedPage(shape []byte, names []string, value string) []*dom.Element {
	var all []*dom.Element
	for i := 0; len(shape) >= 5; i, shape = i+1, shape[5:] {
		e := &dom.Element{Ref: dom.Ref(3 * i), Parent: dom.NoRef}
		if up := int(shape[0]) % 5; up > 0 && up <= i {
			e.Parent, e.Depth = all[i-up].Ref, all[i-up].Depth+1
		}
		e.Tag, e.Role = fuzzTags[int(shape[1])%len(fuzzTags)], fuzzRoles[int(shape[2])%len(fuzzRoles)]
		e.Kind = dom.Kind(shape[3] % 4 / 2)
		e.Text = names[int(shape[3]/4)%len(names)]
		if e.Level = int(shape[1] / 32); e.Level == 7 && strings.HasSuffix(string(part.AppendClean(nil, e.Text, part.MaxText)), "…") {
			e.Left = int(shape[3])
		}
		if shape[4]&0x80 != 0 {
			e.Href = fuzzHrefs[int(shape[4])%len(fuzzHrefs)]
		}
		if shape[4]&0x40 != 0 {
			e.Value = value
			if shape[0]&0x40 != 0 {
				e.ValueLeft = int(shape[1])
			}
		}
		e.Hints = fuzzHints[int(shape[2]/32)%len(fuzzHints)]
		e.Covered = shape[4]&0x30 == 0x30
		if shape[4]&0x08 != 0 {
			bits := binary.LittleEndian.Uint16(shape[3:])
			tri := func(shift int) dom.Tri { return dom.Tri(bits >> shift & 3) }
			e.States = dom.States{Checked: tri(0), Expanded: tri(2), Pressed: tri(4), Disabled: tri(6), Focused: tri(8)}
		}
		all = append(all, e)
	}
	return all
}

// FuzzRunsReadBack checks that elements with or without counting names, in rows or not, are restored from brief pages.
func FuzzRunsReadBack(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00"), "Seat 1", uint16(12), uint8(1), uint8(4), uint8(1))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00"), "Row 08 seat 009", uint16(40), uint8(2), uint8(8), uint8(2))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x01"), "97.5% of 1…3", uint16(9), uint8(7), uint8(0), uint8(255))
	f.Add([]byte{}, "", uint16(64), uint8(3), uint8(8), uint8(1))
	f.Fuzz(func(t *testing.T, kinds []byte, name string, count uint16, refStep, columns, numberStep uint8) {
		n := int(count % 200)
		var all []*dom.Element
		table := &dom.Element{Ref: 0, Parent: dom.NoRef, Tag: "table", Role: "table", Kind: dom.Structural}
		all = append(all, table)
		row, ref := table, dom.Ref(1)
		for i := range n {
			kind := byte(0)
			if i < len(kinds) {
				kind = kinds[i]
			}
			if columns > 1 && i%int(columns) == 0 {
				row = &dom.Element{Ref: ref, Parent: 0, Depth: 1, Tag: "tr", Role: "row", Kind: dom.Structural}
				all = append(all, row)
				ref++
			}
			e := &dom.Element{Ref: ref, Parent: row.Ref, Depth: row.Depth + 1, Tag: "button", Role: "button", Text: counted(name, i, int(columns), int(numberStep))}
			if kind&1 != 0 {
				e.States.Disabled = dom.True
			}
			e.Covered = kind&6 == 6
			if kind&24 == 24 {
				e.Hints = "blue"
			}
			all = append(all, e)
			ref += dom.Ref(1 + refStep%9)
			if kind&96 == 96 {
				ref++
			}
		}
		var interactive []*dom.Element
		for _, e := range all {
			if e.Kind == dom.Interactive {
				interactive = append(interactive, e)
			}
		}
		checkDense(t, Header{URL: "https://a.example/"}, interactive, all)
	})
}

// FuzzBoardsReadBack checks that days, as numbers or as written dates, some of them disabled, named differently or missing, in rows or not,
// are restored from brief pages.
func FuzzBoardsReadBack(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x02"), "Choose ", "Monday, January 2nd, 2006", uint16(42), uint16(9000), uint8(7), uint8(2))
	f.Add([]byte("\x00\x00\x00\x00\x01\x00\x00\x04"), "", "2", uint16(42), uint16(9000), uint8(7), uint8(1))
	f.Add([]byte("\x08"), "Mon [2] (x) ", "2 Jan 2006", uint16(35), uint16(20), uint8(0), uint8(1))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x01\x20"), "1,2…3 ", "January 02", uint16(60), uint16(50), uint8(9), uint8(3))
	f.Fuzz(func(t *testing.T, kinds []byte, before, layout string, count, first uint16, columns, refStep uint8) {
		shown, all := daysOf(kinds, before, layout, count, first, columns, refStep)
		checkDense(t, Header{URL: "https://a.example/"}, shown, all)
	})
}

// daysOf creates the days of a calendar.
func daysOf(kinds []byte, before, layout string, count, first uint16, columns, refStep uint8) (shown, all []*dom.Element) {
	table := &dom.Element{Ref: 0, Parent: dom.NoRef, Tag: "table", Role: "grid", Kind: dom.Structural}
	all = []*dom.Element{table}
	row, ref := table, dom.Ref(1)
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(first))
	for i := range int(count % 70) {
		if columns > 1 && i%int(columns) == 0 {
			row = &dom.Element{Ref: ref, Parent: 0, Depth: 1, Tag: "tr", Role: "row", Kind: dom.Structural}
			all = append(all, row)
			ref++
		}
		e := &dom.Element{Ref: ref, Parent: row.Ref, Depth: row.Depth + 1, Tag: "td", Role: "gridcell", Text: before + dated(start.AddDate(0, 0, i), layout)}
		ref += dom.Ref(1 + refStep%4)
		kind := byte(0)
		if len(kinds) > 0 {
			kind = kinds[i%len(kinds)]
		}
		switch {
		case kind&1 != 0: // missing
			continue
		case kind&2 != 0:
			e.Text, e.States.Disabled = "Not available "+strings.TrimPrefix(e.Text, before), dom.True
		case kind&4 != 0:
			e.Text += ", selected"
		case kind&8 != 0:
			e.States.Selected, e.Hints = dom.True, "today"
		}
		e.Covered = kind&48 == 48
		all = append(all, e)
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *dom.Element) bool { return e.Kind != dom.Interactive }), all
}

// dated formats a day in a layout of package time, in which "2nd" stands for an ordinal.
func dated(day time.Time, layout string) string {
	ordinal := "th"
	switch n := day.Day(); {
	case n%10 == 1 && n != 11:
		ordinal = "st"
	case n%10 == 2 && n != 12:
		ordinal = "nd"
	case n%10 == 3 && n != 13:
		ordinal = "rd"
	}
	return day.Format(strings.ReplaceAll(layout, "2nd", "2"+ordinal))
}

// counted increments the last number of a name, and the number before it by rows.
func counted(name string, i, columns, step int) string {
	digits := regexp.MustCompile(`[0-9]+`).FindAllStringIndex(name, -1)
	by := []int{i * step}
	if columns > 1 && len(digits) > 1 {
		by = []int{i % columns * step, i / columns}
	}
	for k, add := range by {
		if k >= len(digits) {
			break
		}
		at := digits[len(digits)-1-k]
		number, err := strconv.Atoi(name[at[0]:at[1]])
		if err != nil {
			return name
		}
		name = name[:at[0]] + fmt.Sprintf("%0*d", at[1]-at[0], number+add) + name[at[1]:]
	}
	return name
}

// TestDenseSaysAPageOnceInTheHistory includes a page that redirects to itself before it has a title.
func TestDenseSaysAPageOnceInTheHistory(t *testing.T) {
	for want, history := range map[string][]Visit{
		"Navigation: Shop → Cart\n":                {{"https://a.example/", "Shop"}, {"https://a.example/cart", ""}, {"https://a.example/cart?2", ""}, {"https://a.example/cart?3", "Cart"}, {"https://a.example/cart?4", "Cart"}},
		"Navigation: Cart → Shop → Cart\n":         {{"https://a.example/cart", "Cart"}, {"https://a.example/", "Shop"}, {"https://a.example/cart", "Cart"}},
		"Navigation: Shop → https://a.example/x\n": {{"https://a.example/", "Shop"}, {"https://a.example/x", ""}},
		"": {{"https://a.example/cart", "Cart"}, {"https://a.example/cart?2", "Cart"}},
	} {
		text := Dense(Header{URL: "https://a.example/", History: history}, view.View{}, "")
		if got := strings.TrimPrefix(text, "URL: https://a.example/\n"); got != want {
			t.Errorf("%v\nis %q, want %q", history, got, want)
		}
	}
}

// BenchmarkDenseRuns prints 10,000 elements that look like a run but are not one.
func BenchmarkDenseRuns(b *testing.B) {
	all := make([]*dom.Element, 10_000)
	for i := range all {
		all[i] = &dom.Element{Ref: dom.Ref(i), Parent: dom.NoRef, Tag: "button", Role: "button", Text: fmt.Sprintf("Order %d", i)}
		if i%4 < 2 {
			all[i].States.Disabled = dom.True
		}
		if i%3 == 0 {
			all[i].Hints = fmt.Sprintf("hint-%d", i)
		}
	}
	for _, brief := range []bool{false, true} {
		b.Run(fmt.Sprintf("brief=%v", brief), func(b *testing.B) {
			for b.Loop() {
				dense.NewPage(dense.Options{Brief: brief}, all, all).Lines(all, dense.MentionAll)
			}
		})
	}
}

func BenchmarkDense300(b *testing.B) {
	all := benchmarkElements(300)
	h := Header{URL: "https://shop.example/", Title: "Shop"}
	v := view.View{Elements: dom.ListOf(all), Total: 300}
	b.ReportAllocs()
	for b.Loop() {
		Dense(h, v, dense.NewPage(dense.Options{Base: NewBase(h.URL)}, all, all).Lines(all, dense.MentionAll))
	}
}
