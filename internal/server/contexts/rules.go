package contexts

import (
	"fmt"
	"path"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

const (
	maxText        = 4 << 20
	maxPatterns    = 100
	maxPlaceholder = 200
)

// Rules are the rules of the requests of ContextService.
var Rules = rules.Union(
	rules.Of(checkPruneTranscript),
	rules.Of(checkCountTokens),
	rules.Of(rules.Tab[*domtapv1.GetHistoryRequest]),
)

func checkPruneTranscript(v *rules.Violations, r *domtapv1.PruneTranscriptRequest) {
	v.Want(len(r.GetMessagesJson()) <= maxText, "messages_json", "must have at most 4 MiB; domtap prune takes more")
	v.Want(r.GetKeep() >= 0, "keep", "must be 0 or more")
	v.Want(len(r.GetTools()) <= maxPatterns, "tools", fmt.Sprintf("must have at most %d patterns", maxPatterns))
	for i, pattern := range r.GetTools() {
		_, err := path.Match(pattern, "")
		v.Want(err == nil && pattern != "" && len(pattern) <= rules.MaxID, fmt.Sprintf("tools[%d]", i), "must be a pattern such as browser_*")
	}
	v.Want(r.MinBytes == nil || r.GetMinBytes() > 0, "min_bytes", "must be more than 0")
	v.Want(len(r.GetPlaceholder()) <= maxPlaceholder, "placeholder", fmt.Sprintf("must have at most %d bytes", maxPlaceholder))
}

func checkCountTokens(v *rules.Violations, r *domtapv1.CountTokensRequest) {
	v.Want(len(r.GetText()) <= maxText, "text", "must have at most 4 MiB; count it in parts")
}
