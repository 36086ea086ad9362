package dense

import "testing"

func TestDaysInWords(t *testing.T) {
	for text, want := range map[string]string{
		"October 2026 Su Mo Tu We Th Fr Sa 27 28":  "October 2026",
		"Sonntag Montag Dienstag Mittwoch Freitag": "",
		"Room 12 for 3 nights, 2 adults":           "Room 12 for 3 nights, 2 adults",
		"1 2 3 4 32":                               "1 2 3 4 32",
	} {
		if got := WithoutDays(text); got != want {
			t.Errorf("%q without days is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"Su Mo Tu We Th Fr Sa": true, "27 28 29 30 1": true, "Su": true, "8": false, "1 2 3 4 5 EUR": false, "": false} {
		if got := IsDays(text); got != want {
			t.Errorf("%q is days: %v, want %v", text, got, want)
		}
	}
}

func TestDatesGoOn(t *testing.T) {
	for text, want := range map[string]string{
		"Choose Sunday, February 28th, 2027": "Monday, March 1st, 2027",
		"28 Feb 2028":                        "29 Feb 2028",
		"MON, DEC 31, 2029":                  "TUE, JAN 1, 2030",
		"jueves 30 de abril de 2026":         "viernes 1 de mayo de 2026",
		"September 09":                       "September 10",
	} {
		if _, d, _, ok := dateIn(text); !ok || d.after(1) != want {
			t.Errorf("the day after %q is %q, want %q", text, d.after(1), want)
		}
	}
	for _, text := range []string{"May I have 2026", "Market 5000", "31", "June"} {
		if _, _, _, ok := dateIn(text); ok {
			t.Errorf("%q has a date", text)
		}
	}
}
