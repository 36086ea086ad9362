package turn

import (
	"strconv"
	"testing"
	"time"

	"github.com/domtap/domtap/dom"
)

// TestDatesInTexts reads the parts of dates as calendars write them.
func TestDatesInTexts(t *testing.T) {
	for text, want := range map[string]datePieces{
		"March 14, 2026":                    {2026, time.March, 14},
		"Choose Saturday, March 14th, 2026": {2026, time.March, 14},
		"Sat Mar 14 2026":                   {2026, time.March, 14},
		"2026-03-14":                        {2026, time.March, 14},
		"November 2026 Previous Month":      {2026, time.November, 0},
		"« May, 2026 »":                     {2026, time.May, 0},
		"14":                                {},
		"Page 2":                            {},
		"Marching 14":                       {},
	} {
		if got := readDate(text); got != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

// TestValuesThatShowADate compares values of fields with a date.
func TestValuesThatShowADate(t *testing.T) {
	date := time.Date(2026, time.March, 4, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]bool{
		"03/04/2026": true, "4.3.2026": true, "2026-03-04": true, "Wed Mar 04 2026": true, "04.03.26": true, "4 March 2026, 10:00": true,
		"": false, "03/05/2026": false, "04/2026": false, "March 2026": false, "04/04/2026": false,
	} {
		if got := showsDate(value, date); got != want {
			t.Errorf("%q shows %s: %v, want %v", value, date.Format(time.DateOnly), got, want)
		}
	}
}

// TestNumbersOfAMonth finds a day among the numbers of a calendar, which begins and ends with days of other months.
func TestNumbersOfAMonth(t *testing.T) {
	var days []*dom.Element
	for _, run := range [][2]int{{29, 31}, {1, 30}, {1, 11}} {
		for n := run[0]; n <= run[1]; n++ {
			days = append(days, &dom.Element{Ref: dom.Ref(len(days)), Text: strconv.Itoa(n)})
		}
	}
	for day, want := range map[int]dom.Ref{1: 3, 5: 7, 30: 32} {
		if got := numbered(days, day); got == nil || got.Ref != want {
			t.Errorf("day %d is %v, want ref %d", day, got, want)
		}
	}
	if got := numbered(days, 31); got != nil {
		t.Errorf("day 31 of 30 is %v", got)
	}
	if got := numbered(days[:20], 3); got != nil {
		t.Errorf("a day of %d numbers is %v", 20, got)
	}
}
