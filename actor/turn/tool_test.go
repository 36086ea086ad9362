package turn

import (
	"testing"

	"github.com/domtap/domtap/actor/driver"
)

// TestSummariesOfToolsSayWhoSaysWhat checks the summary for each claim.
func TestSummariesOfToolsSayWhoSaysWhat(t *testing.T) {
	for status, want := range map[driver.ToolStatus]string{
		driver.ToolPending:   `tool "pay": called; it has not answered`,
		driver.ToolCompleted: `tool "pay": the page says that it completed`,
		driver.ToolFailed:    `tool "pay": the page says that it failed`,
		driver.ToolCanceled:  `tool "pay": the page canceled the call`,
	} {
		s := &ToolStep{ToolCall: driver.ToolCall{Name: "pay"}}
		if got := s.result(driver.ToolClaim{Status: status}, nil).Summary; got != want {
			t.Errorf("%v: %q, want %q", status, got, want)
		}
	}
}
