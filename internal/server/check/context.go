package check

import (
	"fmt"
	"path"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	maxPatterns    = 100
	maxPlaceholder = 200
)

func checkPruneTranscript(v *violations, r *domtapv1.PruneTranscriptRequest) {
	v.want(len(r.GetMessagesJson()) <= maxTokens, "messages_json", "must have at most 4 MiB; domtap prune takes more")
	v.want(r.GetKeep() >= 0, "keep", "must be 0 or more")
	v.want(len(r.GetTools()) <= maxPatterns, "tools", fmt.Sprintf("must have at most %d patterns", maxPatterns))
	for i, pattern := range r.GetTools() {
		_, err := path.Match(pattern, "")
		v.want(err == nil && pattern != "" && len(pattern) <= maxID, fmt.Sprintf("tools[%d]", i), "must be a pattern such as browser_*")
	}
	v.want(r.MinBytes == nil || r.GetMinBytes() > 0, "min_bytes", "must be more than 0")
	v.want(len(r.GetPlaceholder()) <= maxPlaceholder, "placeholder", fmt.Sprintf("must have at most %d bytes", maxPlaceholder))
}

func checkCountTokens(v *violations, r *domtapv1.CountTokensRequest) {
	v.want(len(r.GetText()) <= maxTokens, "text", "must have at most 4 MiB; count it in parts")
}

func checkGetStats(v *violations, r *domtapv1.GetStatsRequest) {
	checkSessionID(v, r.GetSessionId())
	checkMaxBytes(v, "tab_id", r.GetTabId(), maxID)
}
