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

func (c *collector) pruneTranscript(r *domtapv1.PruneTranscriptRequest) {
	c.want(len(r.GetMessagesJson()) <= maxTokens, "messages_json", "must have at most 4 MiB; domtap prune takes more")
	c.want(r.GetKeep() >= 0, "keep", "must be 0 or more")
	c.want(len(r.GetTools()) <= maxPatterns, "tools", fmt.Sprintf("must have at most %d patterns", maxPatterns))
	for i, pattern := range r.GetTools() {
		_, err := path.Match(pattern, "")
		c.want(err == nil && pattern != "" && len(pattern) <= maxID, fmt.Sprintf("tools[%d]", i), "must be a pattern such as browser_*")
	}
	c.want(r.MinBytes == nil || r.GetMinBytes() > 0, "min_bytes", "must be more than 0")
	c.want(len(r.GetPlaceholder()) <= maxPlaceholder, "placeholder", fmt.Sprintf("must have at most %d bytes", maxPlaceholder))
}
