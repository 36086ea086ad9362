package stats

import (
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/usage"
)

// statsMessage converts usage figures.
func statsMessage(s usage.Report, tokenizer string) *domtapv1.GetStatsResponse {
	m := &domtapv1.GetStatsResponse{Since: timestamppb.New(s.Since), Tokenizer: tokenizer, Total: account(&s.Total)}
	for i := range s.Sessions {
		m.Sessions = append(m.Sessions, account(&s.Sessions[i]))
	}
	for i := range s.Tabs {
		m.Tabs = append(m.Tabs, account(&s.Tabs[i]))
	}
	return m
}

func account(a *usage.Account) *domtapv1.Account {
	m := &domtapv1.Account{SessionId: a.Session, TabId: a.Tab, Reads: &domtapv1.ReadStats{
		Pages: a.Reads.Pages, HeadHits: a.Reads.HeadHits, ViewHits: a.Reads.ViewHits, Texts: a.Reads.Texts, TextHits: a.Reads.TextHits,
		Incremental: a.Reads.Incremental, Resyncs: a.Reads.Resyncs,
		FoldedLandmarks: a.Reads.Landmarks, FoldedElements: a.Reads.Elements,
	}}
	for i := range a.Methods {
		m.Methods = append(m.Methods, methodStats(&a.Methods[i]))
	}
	for _, s := range a.Steps {
		m.Steps = append(m.Steps, &domtapv1.StepStats{
			Kind: s.Kind, Done: s.Done, Healed: s.Healed, Failed: s.Failed, Failures: s.Failures, Skipped: s.Skipped,
		})
	}
	return m
}

func methodStats(s *usage.Method) *domtapv1.MethodStats {
	m := &domtapv1.MethodStats{
		Method: s.Name, Calls: s.Calls, Failed: s.Failed, Failures: s.Failures, Messages: s.Messages, Bytes: s.Bytes,
		Tokens: s.Tokens, EstimatedTokens: s.Estimated, FullTokens: s.Full, SavedTokens: s.Full - s.Compared,
	}
	if n := s.Times.Count(); n > 0 {
		m.Latency = &domtapv1.LatencyStats{
			Count: n, P50: durationpb.New(s.Times.Quantile(0.5)), P90: durationpb.New(s.Times.Quantile(0.9)),
			P99: durationpb.New(s.Times.Quantile(0.99)), Max: durationpb.New(s.Times.Max()),
		}
	}
	return m
}
