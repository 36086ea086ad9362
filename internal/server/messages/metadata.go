package messages

import (
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/content/injection"
	"github.com/domtap/domtap/view"
)

// Metadata converts the metadata of a view. The tokenizer is set only if the text was counted, which requires a budget.
func Metadata(v view.View, tokenizer string) *domtapv1.ViewMetadata {
	m := &domtapv1.ViewMetadata{
		TotalElements:    int32(v.Total),
		IncludedElements: int32(v.Elements.Len()),
		Truncated:        v.Reason != view.NotTruncated,
		Tokens:           int32(v.Tokens),
	}
	switch v.Reason {
	case view.ElementLimit:
		m.TruncationReason = domtapv1.TruncationReason_TRUNCATION_REASON_ELEMENT_LIMIT
	case view.TokenBudget:
		m.TruncationReason = domtapv1.TruncationReason_TRUNCATION_REASON_TOKEN_BUDGET
	}
	if v.Tokens > 0 {
		m.Tokenizer = tokenizer
	}
	if len(v.OmittedByRole) > 0 {
		m.OmittedByRole = make(map[string]int32, len(v.OmittedByRole))
		for role, n := range v.OmittedByRole {
			m.OmittedByRole[role] = int32(n)
		}
	}
	return m
}

// Signals converts suspected prompt injections.
func Signals(all []injection.Signal) []*domtapv1.Signal {
	var out []*domtapv1.Signal
	for _, s := range all {
		m := &domtapv1.Signal{Kind: s.Kind, Where: s.Where, Count: int32(s.Count)}
		if s.Ref != dom.NoRef {
			ref := uint32(s.Ref)
			m.Ref = &ref
		}
		out = append(out, m)
	}
	return out
}
