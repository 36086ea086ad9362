package render

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func latency(p50, p90, p99, most time.Duration) *domtapv1.LatencyStats {
	return &domtapv1.LatencyStats{P50: durationpb.New(p50), P90: durationpb.New(p90), P99: durationpb.New(p99), Max: durationpb.New(most)}
}

func TestStatsAreTables(t *testing.T) {
	compact := &domtapv1.MethodStats{
		Method: "GetCompact", Calls: 58, Failed: 3, Failures: map[string]int64{"STALE_REF": 1, "NOT_FOUND": 2}, Tokens: 210433, FullTokens: 420866, SavedTokens: 210433,
		Latency: latency(1234*time.Microsecond, 12345*time.Microsecond, 123456*time.Microsecond, 61*time.Second),
	}
	dom := &domtapv1.MethodStats{Method: "GetDom", Calls: 1, EstimatedTokens: 400, FullTokens: 200, SavedTokens: -200, Latency: latency(0, 7*time.Microsecond, 950, 0)}
	watch := &domtapv1.MethodStats{Method: "WatchDom", Calls: 2, EstimatedTokens: 7}
	answer := &domtapv1.GetStatsResponse{
		Since: timestamppb.New(time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)), Tokenizer: "o200k_base",
		Total: &domtapv1.Account{
			Methods: []*domtapv1.MethodStats{compact, dom, watch},
			Steps: []*domtapv1.StepStats{
				{Kind: "click", Done: 12, Healed: 1, Failed: 1, Failures: map[string]int64{"NOT_ACTIONABLE": 1}}, {Kind: "wait", Skipped: 2},
			},
			Reads: &domtapv1.ReadStats{Pages: 59, HeadHits: 30, ViewHits: 20, Texts: 4, TextHits: 1, Incremental: 5, Resyncs: 2, FoldedLandmarks: 3, FoldedElements: 120},
		},
		Sessions: []*domtapv1.Account{{SessionId: "default", Methods: []*domtapv1.MethodStats{compact, dom}}},
		Tabs:     []*domtapv1.Account{{SessionId: "default", TabId: "t12", Methods: []*domtapv1.MethodStats{dom}}},
	}
	want := `since 2026-11-21T09:30:00Z; tokens of o200k_base, those with ~ estimated

METHOD      CALLS  FAILED  TOKENS  ~TOKENS   ~FULL  SAVED     P50      P90    P99   MAX  FAILURES
GetCompact     58       3  210433        0  420866    50%  1.23ms  12.35ms  123ms  1m1s  NOT_FOUND 2, STALE_REF 1
GetDom          1       0       0      400     200     0%      0s      7µs  950ns    0s
WatchDom        2       0       0        7       0      -       -        -      -     -
all            61       3  210433      407  421066    50%       -        -      -     -

STEP   DONE  FAILED  SKIPPED  SUCCESS  HEALED  FAILURES
click    12       1        0      92%       1  NOT_ACTIONABLE 1
wait      0       0        2        -       0

59 reads of elements: the page unchanged in 30, the same view in 20; 5 answered with changes, 2 with the whole page instead
4 reads of text: 1 from the cache
navigation folded: 3 landmarks with 120 elements

SESSION  TAB  CALLS  FAILED  TOKENS  ~TOKENS   ~FULL  SAVED
default  -       59       3  210433      400  421066    50%
default  t12      1       0       0      400     200     0%
`
	if got := Stats(answer); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	empty := &domtapv1.GetStatsResponse{Since: answer.Since, Tokenizer: "o200k_base", Total: new(domtapv1.Account)}
	if got := Stats(empty); got != "since 2026-11-21T09:30:00Z; tokens of o200k_base, those with ~ estimated\nno calls yet\n" {
		t.Errorf("got %q", got)
	}
}
