package turn

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// TestTextsThatSayThatWorkGoesOn has texts of pages that a person would wait for, and permanent ones.
func TestTextsThatSayThatWorkGoesOn(t *testing.T) {
	for text, want := range map[string]bool{
		"Processing…": true, "Loading...": true, "Loading": true, "Saving draft…": true, "Please wait": true, "Please wait, your order is placed": true,
		"⏳ Sending your message…": true, "PROCESSING": true, "Signing in…": true, "Wird geladen…": true, "Placing your order…": true, "Generating report...": true, "Submitting…": true, "Nothing found…": false, "Building 7…": false, "Interesting": false, "Bitte warten": true, "読み込み中…": true,
		"Processing takes two days": false, "Read more…": false, "Saved": false, "Loading dock": false, "Order 17 placed": false, "": false,
		"Adding to the cart is free. Read more…": false, "Updated 3 minutes ago": false,
	} {
		if got := isWorking(dom.Notice{Kind: dom.NoticeText, Text: text}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if isWorking(dom.Notice{Kind: dom.NoticeText, Text: "Processing…", Gone: true}) || isWorking(dom.Notice{Kind: dom.NoticeHeading, Text: "Loading…"}) {
		t.Error("what is gone, or a heading, says that work goes on")
	}
}
