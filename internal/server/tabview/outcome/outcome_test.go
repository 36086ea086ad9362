package outcome

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/mcp/text"
	"github.com/domtap/domtap/internal/tokens"
)

func noticed(kind dom.NoticeKind, text string) dom.Notice {
	return dom.Notice{Kind: kind, Text: text, Ref: dom.NoRef}
}

// lines formats outcomes, one per line.
func lines(all []*domtapv1.Outcome) string { return text.Outcome(all, "") }

func TestAnOutcomeKeepsItsOrder(t *testing.T) {
	field := noticed(dom.NoticeInvalid, "E-mail")
	field.Ref = 7
	got := lines(Of([]dom.Notice{noticed(dom.NoticeHeading, "Teams"), noticed(dom.NoticeAlert, "Wrong"), field}))
	if want := "! heading: Teams\n! alert: Wrong\n! invalid [7] E-mail\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatIsSaidTwiceIsOneEntry(t *testing.T) {
	got := lines(Of([]dom.Notice{noticed(dom.NoticeStatus, "Saved"), noticed(dom.NoticeToast, "Saved"), noticed(dom.NoticeStatus, "Saved"), noticed(dom.NoticeToast, "Sent")}))
	if want := "! status: Saved\n! toast: Sent\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestADialogThatFlickersIsToldAsItIs reports a dialog that closes, is drawn once more while it fades out, and is gone.
func TestADialogThatFlickersIsToldAsItIs(t *testing.T) {
	open, closed := noticed(dom.NoticeDialog, "Delete?"), noticed(dom.NoticeDialog, "Delete?")
	open.Detail, open.Ref, closed.Gone = "For good", 3, true
	other := open
	other.Detail = "2 files"
	for want, all := range map[string][]dom.Notice{
		"! dialog closed \"Delete?\"\n":                                   {closed, open, closed},
		"! dialog \"Delete?\": For good\n":                                {open, closed, open},
		"! dialog \"Delete?\": For good\n! dialog \"Delete?\": 2 files\n": {open, other},
		"! dialog \"Delete?\": For good\n! dialog closed \"Delete?\"\n":   {open, closed},
		"! dialog closed \"Delete?\"\n! dialog \"Delete?\": For good\n":   {closed, open},
		"! dialog closed \"Delete?\"\n! status: Deleted\n":                {closed, noticed(dom.NoticeStatus, "Deleted")},
	} {
		if got := lines(Of(all)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWhatMattersLessIsLeftOutFirst(t *testing.T) {
	var all []dom.Notice
	for i := range 20 {
		all = append(all, noticed(dom.NoticeLog, fmt.Sprint("line ", i)))
	}
	all = append(all, noticed(dom.NoticeHeading, "Teams"), noticed(dom.NoticeDialog, "Delete?"))
	got := lines(Of(all))
	if !strings.HasPrefix(got, "! log: line 0\n") || !strings.HasSuffix(got, "! heading: Teams\n! dialog \"Delete?\"\n") || strings.Count(got, "\n") != MaxEntries {
		t.Errorf("got %s", got)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	out := Of([]dom.Notice{noticed(dom.NoticeAlert, strings.Repeat("word ", 200)), noticed(dom.NoticeAlert, "short")})
	if len(out) != 2 || !strings.HasSuffix(out[0].GetText(), "…") || out[1].GetText() != "short" {
		t.Errorf("got %v", out)
	}
}

// FuzzAnOutcomeIsBounded checks the limits for any notices.
func FuzzAnOutcomeIsBounded(f *testing.F) {
	f.Add("Wrong e-mail or password\nalert", uint8(1), uint8(3))
	f.Add(strings.Repeat("🏴󠁧󠁢󠁥󠁮󠁧󠁿", 400), uint8(2), uint8(40))
	f.Add("\x00\xff[7]", uint8(5), uint8(200))
	f.Fuzz(func(t *testing.T, said string, kind, count uint8) {
		var all []dom.Notice
		for i := range count {
			n := dom.Notice{Kind: dom.NoticeKind((kind + i) % 10), Text: said[int(i)%(len(said)+1):], Detail: said, Ref: dom.Ref(i), Gone: i%3 == 0}
			all = append(all, n)
		}
		out := Of(all)
		if printed := lines(out); len(out) > MaxEntries || tokens.Count(printed) > MaxTokens || strings.Count(printed, "\n") != len(out) {
			t.Errorf("%d entries of %d tokens: %q", len(out), tokens.Count(printed), printed)
		}
		if slices.ContainsFunc(out, func(o *domtapv1.Outcome) bool { return o.GetKind() == 0 }) {
			t.Errorf("an entry without a kind: %v", out)
		}
	})
}

func TestTextsAreSaidOnce(t *testing.T) {
	text := func(words, more string) dom.Notice {
		n := noticed(dom.NoticeText, words)
		n.Detail = more
		return n
	}
	gone := text("Loading", "")
	gone.Gone = true
	all := Of([]dom.Notice{text("Saved", ""), gone, noticed(dom.NoticeStatus, "Saved at 12:00"), text("Total: 3", ""), text("Milk", "5 more")})
	for shown, want := range map[string]string{
		"nothing":                     "! status: Saved at 12:00\n! text: Total: 3\n! text: Milk (5 more)\n",
		"+ [4] Milk":                  "! status: Saved at 12:00\n! text: Total: 3\n! text: Milk (5 more)\n", // the number is kept
		"~ [5] Total: 3 ←":            "! status: Saved at 12:00\n! text: Milk (5 more)\n",
		"~ [5] Total: 3 ← + [4] Milk": "! status: Saved at 12:00\n",
	} {
		got := WithoutShown(slices.Clone(all), func(text string) bool { return strings.Contains(shown, text) })
		if lines(got) != want {
			t.Errorf("beside %q: %s, want %s", shown, lines(got), want)
		}
	}
	if got := lines(Of([]dom.Notice{gone})); got != "! text: Loading (gone)\n" {
		t.Errorf("a text that came and went: %q", got)
	}
}

// TestWhatTheTextSaysIsNotSaidTwice checks that entries are omitted if the text contains them: the contents of a new page, and the heading
// of a new card.
func TestWhatTheTextSaysIsNotSaidTwice(t *testing.T) {
	noted := []dom.Notice{noticed(dom.NoticeAlert, "Wrong"), noticed(dom.NoticeHeading, "Cart"), noticed(dom.NoticeHeading, "Trip"), noticed(dom.NoticeText, "Total"),
		noticed(dom.NoticeStatus, "3 items"), noticed(dom.NoticeStatus, "Saved"), noticed(dom.NoticeLog, "Ada came")}
	all := "! alert: Wrong\n! heading: Cart\n! heading: Trip\n! text: Total\n! status: 3 items\n! status: Saved\n! log: Ada came\n"
	page := "URL: x\n# Cart\n<status 3 items>\n<log Ada came>\n[1] Home\n"
	for _, test := range []struct {
		text     string
		replaced bool
		want     string
	}{
		{page, true, "! alert: Wrong\n! status: Saved\n"},
		{page, false, all},
		{"~ [1] Add to Cart (button) ← Buy\n- [2] Trip\n", false, all},
		{"+ [1] Trip…+130 (button)\n+ [2] Cart\n", false, "! alert: Wrong\n! text: Total\n! status: 3 items\n! status: Saved\n! log: Ada came\n"},
		{"+ [1] Save (button) [2] Trip…+130 (button) [3] Cart [4] Help\n", false, "! alert: Wrong\n! text: Total\n! status: 3 items\n! status: Saved\n! log: Ada came\n"},
		{"+ [1] Tripoli\n~ [2] Cart (button pressed) ← (button)\n", false, all},
	} {
		if got := lines(Unprinted(Of(noted), test.text, test.replaced)); got != test.want {
			t.Errorf("beside\n%sare\n%swant\n%s", test.text, got, test.want)
		}
	}
}
