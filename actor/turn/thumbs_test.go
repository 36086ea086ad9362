package turn

import (
	"strings"
	"testing"
)

// TestNumbersOfThumbs splits values into the numbers of two thumbs. One number with separated thousands is not two.
func TestNumbersOfThumbs(t *testing.T) {
	for value, want := range map[string]string{
		"20-80": "20 80", "20 to 80": "20 80", "20,80": "20 80", "100, 200": "100 200", "-5..5": "-5 5",
		"1,000": "", "100,200": "", "NaN-Inf": "", "0x10-0x20": "", "20": "",
	} {
		if got := strings.Join(numbersOf([]string{value}, 2), " "); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// TestHeldDates compares what a field holds with the date or time that was filled in.
func TestHeldDates(t *testing.T) {
	for _, c := range []struct {
		held, filled string
		want         bool
	}{
		{"10:00:00", "10:00", true}, {"10:00 AM", "10:00", true}, {"22:00", "10:00", false}, {"", "10:00", false},
		{"03/14/2026", "2026-03-14", true}, {"2026-03-14T10:00", "2026-03-14 10:00", true}, {"2026-03-15T10:00", "2026-03-14 10:00", false},
	} {
		if got := holdsDate(c.held, c.filled); got != c.want {
			t.Errorf("%q for %q: %v", c.held, c.filled, got)
		}
	}
}
