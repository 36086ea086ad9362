package metering

import (
	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/tokens"
)

// tokensOfBytes estimates the tokens of a structured answer from its size in bytes.
func tokensOfBytes(size int64) int64 { return size / 4 }

// sampled is the number of elements of a large page that are measured to estimate the cost of the whole page.
const sampled = 100

// Cost returns the approximate number of tokens that an answer costs a model. estimated reports whether the number is an estimate.
func Cost(answer any) (tokens uint64, estimated bool) {
	exact, about := cost(answer, 0)
	if message, ok := answer.(proto.Message); ok && exact+about == 0 {
		var size int64
		if page, ok := answer.(*domtapv1.GetDomResponse); ok && len(page.GetElements()) > sampled {
			part := &domtapv1.GetDomResponse{Elements: page.GetElements()[:sampled]}
			size = int64(proto.Size(part)) * int64(len(page.GetElements())) / sampled
		} else {
			size = int64(proto.Size(message))
		}
		exact, about = cost(answer, size)
	}
	return uint64(max(0, exact+about)), about > 0
}

// cost returns the number of tokens that an answer costs a model. The number is exact if the tokens were counted when the answer was
// created, and an estimate otherwise. cost itself counts nothing.
func cost(answer any, size int64) (exact, estimated int64) {
	switch r := answer.(type) {
	case *domtapv1.GetCompactResponse:
		return textCost(r.GetMetadata().GetTokens(), r.GetText())
	case *domtapv1.FindResponse:
		return textCost(r.GetMetadata().GetTokens(), r.GetText())
	case *domtapv1.AuditResponse:
		return textCost(r.GetTokens(), r.GetText())
	case *domtapv1.RecordVideoResponse:
		size -= int64(len(r.GetGif()))
	case *domtapv1.SearchResponse:
		return textCost(r.GetTokens(), r.GetText())
	case *domtapv1.ReadPageResponse:
		return textCost(r.GetTokens(), r.GetText())
	case *domtapv1.GetDomResponse:
		if n := r.GetMetadata().GetTokens(); n > 0 {
			return 0, int64(n) // the count is for the text form
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
	return 0, tokensOfBytes(max(0, size))
}

// textCost returns the cost of a text. n is the counted number of tokens, or 0 if they were not counted.
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
		estimated += about + tokensOfBytes(int64(len(one.GetResultJson())))
	}
	return exact, estimated
}

// images returns the total size of the screenshots in results.
func images(results []*domtapv1.StepResult) int64 {
	n := 0
	for _, r := range results {
		n += len(r.GetImage())
	}
	return int64(n)
}
