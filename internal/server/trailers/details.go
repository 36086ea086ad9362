package trailers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/domtap/domtap/internal/truncate"
)

const (
	// detailBytes bounds the details before they are encoded: about half of Limit.
	detailBytes = 1400
	// widest and narrowest bound the length of a text in the details, in bytes; all texts are cut to the
	// same length.
	widest, narrowest = 512, 32
	// textsPerList is how many bytes of the width count for one entry of a list.
	textsPerList = 16
	// LeftOut is the metadata key of an ErrorInfo with the number of entries and details that were left
	// out.
	LeftOut = "left_out"
)

// shorten makes details fit into detailBytes.
func shorten(details []*anypb.Any) []*anypb.Any {
	for width := widest; width >= narrowest; width /= 2 {
		if shorter := shortenTo(details, width); total(shorter) <= detailBytes {
			return shorter
		}
	}
	return nil // no reason of domtap is so long
}

func total(details []*anypb.Any) int {
	n := 0
	for _, d := range details {
		n += proto.Size(d) + 4 // with its tag and its length
	}
	return n
}

// shortenTo cuts the texts of details at a width, and drops longer details of unknown types.
func shortenTo(details []*anypb.Any, width int) []*anypb.Any {
	var kept []proto.Message
	var reason *errdetails.ErrorInfo
	dropped := 0
	for _, one := range details {
		m, err := one.UnmarshalNew()
		if err != nil {
			dropped++
			continue
		}
		switch m := m.(type) {
		case *errdetails.ErrorInfo:
			dropped += shortenInfo(m, width)
			if reason == nil {
				reason = m
			}
		case *errdetails.BadRequest:
			shortenViolations(m, width)
		case *errdetails.QuotaFailure:
			shortenQuota(m, width)
		default:
			if proto.Size(m) > width {
				dropped++
				continue
			}
		}
		kept = append(kept, m)
	}
	if reason != nil && dropped > 0 {
		if reason.Metadata == nil {
			reason.Metadata = map[string]string{}
		}
		reason.Metadata[LeftOut] = strconv.Itoa(dropped)
	}
	return pack(kept)
}

// pack encodes details, without those that cannot be encoded.
func pack(all []proto.Message) []*anypb.Any {
	var packed []*anypb.Any
	for _, m := range all {
		if one, err := anypb.New(m); err == nil {
			packed = append(packed, one)
		}
	}
	return packed
}

// shortenInfo keeps the reason, and the first of the facts by name; it returns how many are left out.
func shortenInfo(m *errdetails.ErrorInfo, width int) (dropped int) {
	most := width / textsPerList
	for i, name := range slices.Sorted(maps.Keys(m.GetMetadata())) {
		value := m.GetMetadata()[name]
		if i >= most || len(name) > narrowest {
			delete(m.Metadata, name)
			dropped++
			continue
		}
		m.Metadata[name] = cutEnd(value, width)
	}
	return dropped
}

func shortenViolations(m *errdetails.BadRequest, width int) {
	most := width / textsPerList
	more := len(m.GetFieldViolations()) - most
	if more > 0 {
		m.FieldViolations = append(m.FieldViolations[:most:most], &errdetails.BadRequest_FieldViolation{
			Field: "request", Description: fmt.Sprintf("%d more violations are left out", more),
		})
	}
	for _, v := range m.GetFieldViolations() {
		v.Field, v.Description = cutEnd(v.GetField(), width), cutEnd(v.GetDescription(), width)
	}
}

func shortenQuota(m *errdetails.QuotaFailure, width int) {
	m.Violations = m.Violations[:min(len(m.GetViolations()), width/textsPerList)]
	for _, v := range m.GetViolations() {
		v.Subject, v.Description = cutEnd(v.GetSubject(), width), cutEnd(v.GetDescription(), width)
	}
}

// cutEnd cuts a text at a width, and appends how many characters are left out.
func cutEnd(text string, width int) string {
	kept := truncate.Bytes(text, width)
	if kept == text {
		return text
	}
	return kept + fmt.Sprintf("… (%d more characters)", utf8.RuneCountInString(text[len(kept):]))
}
