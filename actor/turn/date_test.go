package turn

import (
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
)

// sectionsNamed returns sections with names.
func sectionsNamed(names ...string) (all []*dom.Element) {
	for i, name := range names {
		all = append(all, &dom.Element{Ref: dom.Ref(i), Tag: "span", Role: "spinbutton", Text: name})
	}
	return all
}

// TestSectionsOfDatesEndWhereAPartRepeats finds the date fields among spin buttons.
func TestSectionsOfDatesEndWhereAPartRepeats(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  []int
	}{
		{[]string{"month, Birth day", "day, Birth day", "year, Birth day"}, []int{3}},
		{[]string{"Day", "Month", "Year", "Day", "Month", "Year"}, []int{3, 3}},
		{[]string{"Tag", "Monat", "Jahr", "Stunden", "Minuten", "Meridiem"}, []int{6}},
		{[]string{"Days", "Amount"}, nil},
		{[]string{"Quantity", "Price"}, nil},
	} {
		var got []int
		for _, field := range dateFields(sectionsNamed(c.names...)) {
			got = append(got, len(field))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q has fields of %v sections, want %v", c.names, got, c.want)
		}
	}
}

// TestTextsOfSections splits dates and times into the texts of sections.
func TestTextsOfSections(t *testing.T) {
	date, clock := []string{"day", "month", "year"}, []string{"hour", "minute", "AM/PM"}
	for _, c := range []struct {
		value string
		names []string
		want  string
	}{
		{"2026-03-14", date, "14 03 2026"},
		{"14 March 2026", date, "14 03 2026"},
		{"Mar 4, 2026", date, "04 03 2026"},
		{"14.3.2026", date, "14 3 2026"},
		{"19:05", clock, "07 05 P"},
		{"7:05 AM", clock, "07 05 A"},
		{"00:30", clock, "12 30 A"},
		{"2026-03-14T19:05", slices.Concat(date, []string{"hour", "minute"}), "14 03 2026 19 05"},
		{"2026-03", []string{"month", "year"}, "03 2026"},
		{"2026-03", date, "error"},
		{"7:30 pm", clock, "07 30 P"},
		{"03/14/2026 07:30 PM", slices.Concat([]string{"month", "day", "year"}, clock), "03 14 2026 07 30 P"},
		{"07:30:15", clock, "error"},
		{"2026-02-30", date, "error"},
		{"tomorrow", date, "error"},
		{"2026-03-14 19:05", date, "error"},
	} {
		got, err := sectionTexts(c.value, dateFields(sectionsNamed(c.names...))[0])
		if said := strings.Join(got, " "); said != c.want && (err == nil || c.want != "error") {
			t.Errorf("%s for %v is %q, %v, want %s", c.value, c.names, said, err, c.want)
		}
	}
}

// TestWordsThatNameTheEndOfARange tells names of the second field of a range from others with the same words.
func TestWordsThatNameTheEndOfARange(t *testing.T) {
	for name, want := range map[string]bool{"To": true, "Date to": true, "To date:": true, "Select end date": true, "Check-out": true, "Enter to add": false, "Time": false, "Add to cart now": false} {
		for _, el := range []*dom.Element{{Tag: "input", Text: name}, {Tag: "input", Text: "Other", Placeholder: name}} {
			if isEnd(el) != want {
				t.Errorf("isEnd(%q, placeholder %q) is %v", el.Text, el.Placeholder, !want)
			}
		}
	}
}
