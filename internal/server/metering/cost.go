package metering

import (
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// perBytes is about how many tokens so many bytes of a structured answer are.
func perBytes(size int64) int64 { return size / 4 }

// cost returns what an answer of so many bytes costs a model: what was counted when it was made, exactly, or else an
// estimate. Nothing is counted here.
func cost(answer any, size int64) (exact, estimated int64) {
	switch r := answer.(type) {
	case *domtapv1.GetCompactResponse:
		return textCost(r.GetMetadata().GetTokens(), r.GetText())
	case *domtapv1.ReadPageResponse:
		return textCost(r.GetTokens(), r.GetText())
	case *domtapv1.GetDomResponse:
		if n := r.GetMetadata().GetTokens(); n > 0 {
			return 0, int64(n) // as text
		}
	case *domtapv1.BatchResponse:
		return batchCost(r)
	case *domtapv1.PruneTranscriptResponse:
		return int64(r.GetStats().GetTokensAfter()), 0
	case *domtapv1.InteractResponse:
		size -= images(r.GetResults())
	case *domtapv1.FillFormResponse:
		size -= images(r.GetResults())
	case *domtapv1.ScreenshotResponse:
		size -= int64(len(r.GetImage()))
	case *domtapv1.PdfResponse:
		size -= int64(len(r.GetPdf()))
	}
	return 0, perBytes(max(0, size))
}

// textCost is what a text costs that was counted when there was a budget.
func textCost(n int32, text string) (exact, estimated int64) {
	if n > 0 {
		return int64(n), 0
	}
	return 0, int64(tokens.Estimate(text))
}

func batchCost(r *domtapv1.BatchResponse) (exact, estimated int64) {
	for _, one := range r.GetResults() {
		e, about := textCost(one.GetTokens(), one.GetText())
		exact += e
		estimated += about + perBytes(int64(len(one.GetResultJson())))
	}
	return exact, estimated
}

// images are the bytes of the pictures in results.
func images(results []*domtapv1.StepResult) int64 {
	n := 0
	for _, r := range results {
		n += len(r.GetImage())
	}
	return int64(n)
}
