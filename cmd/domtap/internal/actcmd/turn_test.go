package actcmd

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func TestASearchFollowsFewTexts(t *testing.T) {
	text := func(words, detail string) *domtapv1.Outcome {
		return &domtapv1.Outcome{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_TEXT, Text: words, Detail: detail}
	}
	alert := &domtapv1.Outcome{Kind: domtapv1.OutcomeKind_OUTCOME_KIND_ALERT, Text: "Late"}
	for _, test := range []struct {
		next string
		more string
		want int
	}{{"find", "25 more", 2}, {"extract", "25 more", 2}, {"find", "1 more", 4}, {"snapshot", "25 more", 4}, {"read", "25 more", 1}} {
		answer := &domtapv1.InteractResponse{Outcome: []*domtapv1.Outcome{text("1 Ada", ""), alert, text("2 Grace", ""), text("3 Alan", test.more)}}
		leaveTo(test.next, answer)
		left := answer.GetOutcome()
		if len(left) != test.want {
			t.Errorf("before %s, after %s: %v, want %d lines", test.next, test.more, left, test.want)
		}
		if test.want == 2 && (left[0].GetDetail() != "27 more" || left[1] != alert) {
			t.Errorf("before %s: %v", test.next, left)
		}
	}
}
