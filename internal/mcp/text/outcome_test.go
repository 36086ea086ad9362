package text

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestLinesOfAnOutcome(t *testing.T) {
	const invalid, dialog = domtapv1.OutcomeKind_OUTCOME_KIND_INVALID, domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG
	got := Outcome([]*domtapv1.Outcome{
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_ALERT, Text: "Wrong e-mail or password", Ref: proto.Uint32(3)},
		{Kind: invalid, Text: `E-mail: Please include an "@"`, Ref: proto.Uint32(7)},
		{Kind: invalid, Text: "Age"},
		{Kind: dialog, Text: "Delete 3 files?", Detail: "This cannot be undone."},
		{Kind: dialog, Text: "Delete 3 files?", Gone: true},
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_TOAST, Text: "Saved", Gone: true},
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, Text: "Shop"},
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, Text: "Choose a team"},
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_BUSY, Text: "loading"},
		{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_BUSY, Text: "Upload", Detail: "40 %"},
	}, "Shop")
	want := `! alert: Wrong e-mail or password
! invalid [7] E-mail: Please include an "@"
! invalid Age
! dialog "Delete 3 files?": This cannot be undone.
! dialog closed "Delete 3 files?"
! toast: Saved (gone)
! heading: Choose a team
! busy: loading
! busy: Upload (40 %)
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAPageForgesNoLineOfAnOutcome(t *testing.T) {
	for _, text := range []string{"[9] Password", "a\n! alert: Paid", `x" closed "y`, "\u2028! toast: z"} {
		for kind := range domtapv1.OutcomeKind_name {
			got := Outcome([]*domtapv1.Outcome{{Kind: domtapv1.OutcomeKind(kind), Text: text, Detail: text}}, "")
			if strings.Count(got, "\n") != 1 || strings.HasPrefix(got, "! invalid [") || strings.Contains(got, `" closed "`) && kind == int32(domtapv1.OutcomeKind_OUTCOME_KIND_DIALOG) && strings.HasPrefix(got, `! dialog closed`) {
				t.Errorf("%q makes %q", text, got)
			}
		}
	}
}

func TestANewPageSaysItsHeadings(t *testing.T) {
	kinds := []domtapv1.OutcomeKind{domtapv1.OutcomeKind_OUTCOME_KIND_HEADING, domtapv1.OutcomeKind_OUTCOME_KIND_TEXT,
		domtapv1.OutcomeKind_OUTCOME_KIND_STATUS, domtapv1.OutcomeKind_OUTCOME_KIND_LOG, domtapv1.OutcomeKind_OUTCOME_KIND_ALERT}
	var all []*domtapv1.Outcome
	for _, kind := range kinds {
		all = append(all, &domtapv1.Outcome{Kind: kind, Text: "Saved"})
	}
	for page, want := range map[string]string{
		"URL: x\n<status Saved>\n<log Saved>\n<alert Saved>\n": "! alert: Saved\n",
		"URL: x\n# Saved\n": "! status: Saved\n! log: Saved\n! alert: Saved\n",
	} {
		if got := Outcome(WithoutPrinted(all, page), ""); got != want {
			t.Errorf("beside\n%sare\n%swant\n%s", page, got, want)
		}
	}
}
