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
	// detailBytes limits the size of the details before encoding. Encoded in base64, that is about half of Limit.
	detailBytes = 1400
	// widest and narrowest are the range for the length of a text in the details, in bytes. All texts are cut to the same length.
	widest, narrowest = 512, 32
	// textsPerList is the part of the width, in bytes, that allows one entry of a list.
	textsPerList = 16
	// LeftOut is the metadata key in ErrorInfo for the number of omitted entries and details.
	LeftOut = "left_out"
)

// shorten shortens details to at most detailBytes.
func shorten(details []*anypb.Any) []*anypb.Any {
	for width := widest; width >= narrowest; width /= 2 {
		if shorter := shortenTo(details, width); total(shorter) <= detailBytes {
			return shorter
		}
	}
	return nil // cannot happen: no reason of domtap is that long
}

func total(details []*anypb.Any) int {
	n := 0
	for _, d := range details {
		n += proto.Size(d) + 4 // plus tag and length
	}
	return n
}

// shortenTo cuts the texts of details to a width, and drops details of unknown types that are longer.
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

// pack encodes details. It skips those that cannot be encoded.
func pack(all []proto.Message) []*anypb.Any {
	var packed []*anypb.Any
	for _, m := range all {
		if one, err := anypb.New(m); err == nil {
			packed = append(packed, one)
		}
	}
	return packed
}

// shortenInfo keeps the reason and the first metadata entries by name. It returns the number of omitted entries.
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

// cutEnd cuts a text to a width, and appends the number of omitted characters.
func cutEnd(text string, width int) string {
	kept := truncate.Bytes(text, width)
	if kept == text {
		return text
	}
	return kept + fmt.Sprintf("… (%d more characters)", utf8.RuneCountInString(text[len(kept):]))
}
