package observer

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/domtap/domtap/dom"
)

const (
	// maxSelected is how many selectors one message may tell of.
	maxSelected = 256
	// maxChosen is how many elements one selector may name.
	maxChosen = 1000
)

// selected is one line of what selectors match.
type selected struct {
	Selector
	Count   int64   `json:"count"`
	Enabled int64   `json:"enabled"`
	Refs    []int64 `json:"refs"`
	Invalid bool    `json:"invalid"`
}

// decodeSelected reads what selectors match.
func decodeSelected(into map[dom.Selector]dom.Selection, lines string) error {
	for line := range strings.SplitSeq(lines, "\n") {
		var s selected
		if err := json.Unmarshal([]byte(line), &s); err != nil || len(into) >= maxSelected {
			return malformed("matches of a selector")
		}
		if !(0 <= s.Enabled && s.Enabled <= s.Count && s.Count <= math.MaxInt32) || len(s.Refs) > maxChosen {
			return malformed("%d matches of a selector, %d enabled, %d named", s.Count, s.Enabled, len(s.Refs))
		}
		found := dom.Selection{Count: int(s.Count), Enabled: int(s.Enabled), Invalid: s.Invalid}
		for _, ref := range s.Refs {
			if ref < 0 || ref >= int64(dom.NoRef) {
				return malformed("ref %d", ref)
			}
			found.Refs = append(found.Refs, dom.Ref(ref))
		}
		into[dom.Selector{CSS: s.CSS, Shown: s.Shown}] = found
	}
	return nil
}
