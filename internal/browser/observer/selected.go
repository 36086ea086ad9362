package observer

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/domtap/domtap/dom"
)

const (
	// maxSelected limits the selectors of a message.
	maxSelected = 256
	// maxSelectorRefs limits the refs of a selector's matches.
	maxSelectorRefs = 1000
)

// selected is one line of a message with the matches of selectors.
type selected struct {
	Selector
	Count   int64   `json:"count"`
	Enabled int64   `json:"enabled"`
	Refs    []int64 `json:"refs"`
	Invalid bool    `json:"invalid"`
}

// decodeSelected decodes the matches of selectors.
func decodeSelected(into map[dom.Selector]dom.Selection, lines string) error {
	for line := range strings.SplitSeq(lines, "\n") {
		var s selected
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return malformed("matches of a selector: %v", err)
		}
		if len(into) >= maxSelected {
			return malformed("more than %d selectors", maxSelected)
		}
		if !(0 <= s.Enabled && s.Enabled <= s.Count && s.Count <= math.MaxInt32) || len(s.Refs) > maxSelectorRefs {
			return malformed("selector with %d matches, %d enabled, %d refs", s.Count, s.Enabled, len(s.Refs))
		}
		found := dom.Selection{Count: int(s.Count), Enabled: int(s.Enabled), Invalid: s.Invalid}
		for _, ref := range s.Refs {
			if ref < 0 || ref >= int64(dom.NoRef) {
				return malformed("invalid ref %d", ref)
			}
			found.Refs = append(found.Refs, dom.Ref(ref))
		}
		into[dom.Selector{CSS: s.CSS, Shown: s.Shown}] = found
	}
	return nil
}
