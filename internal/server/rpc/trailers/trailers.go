// Package trailers limits the size of a call's status in the trailers of its answer.
//
// gRPC's C core, which is used by the clients in Python, Ruby, PHP and C++, accepts 8 KiB of metadata. If there is more, the caller gets
// INTERNAL and "RST_STREAM" instead of the error. The message is sent twice: percent-encoded, which takes nine bytes for one Chinese
// character, and in base64 with the details. So even short texts of a page can exceed the limit.
package trailers

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Limit is the maximum size of a status in bytes, counted as header fields in RFC 9113. It is half of C core's limit, because a proxy may
// add its own fields.
const Limit = 4 << 10

// fieldOverhead is the size of a field in addition to its name and its value.
const fieldOverhead = 32

// Fit returns a status of at most Limit bytes. It returns s itself if that fits. Otherwise the result has the same code and reason, but
// lacks the middle of the message and the long parts of the details. Both state how much is omitted.
func Fit(s *status.Status) *status.Status {
	p := s.Proto()
	if p == nil || Size(p) <= Limit && utf8.ValidString(p.GetMessage()) {
		return s
	}
	p.Details = shorten(p.GetDetails())
	empty := &spb.Status{Code: p.GetCode(), Details: p.GetDetails()}
	// Length prefixes that grow with the message, and base64, which encodes groups of three bytes, may add a few bytes.
	const slack = 16
	p.Message = cutMiddle(p.GetMessage(), Limit-Size(empty)-slack, len(p.GetDetails()) > 0)
	return status.FromProto(p)
}

// Size returns the size of a status in trailers.
func Size(p *spb.Status) int {
	n := fieldOverhead + len("grpc-status") + len(strconv.Itoa(int(p.GetCode())))
	n += fieldOverhead + len("grpc-message") + percentEncoded(p.GetMessage())
	if len(p.GetDetails()) > 0 {
		n += fieldOverhead + len("grpc-status-details-bin") + base64.RawStdEncoding.EncodedLen(proto.Size(p))
	}
	return n
}

// percentEncoded returns the length of a message in gRPC's encoding.
func percentEncoded(message string) int {
	n := 0
	for _, r := range message {
		n += runeSize(r)
	}
	return n
}

func runeSize(r rune) int {
	if ' ' <= r && r <= '~' && r != '%' {
		return 1
	}
	return 3 * utf8.RuneLen(r) // an invalid rune is sent as U+FFFD
}

// cutMiddle removes the middle of a message that is too long. The start states what failed, and the end what to do next.
func cutMiddle(message string, size int, twice bool) string {
	runes := []rune(message)   // invalid UTF-8 becomes U+FFFD
	cost := func(r rune) int { // in thirds of a byte, for base64
		if !twice {
			return 3 * runeSize(r)
		}
		return 3*runeSize(r) + 4*utf8.RuneLen(r)
	}
	size *= 3
	all := 0
	for _, r := range runes {
		all += cost(r)
	}
	if all <= size {
		return string(runes)
	}
	for _, r := range leftOut(len(runes)) {
		size -= cost(r)
	}
	first, last := 0, len(runes)
	for used := 0; first < last; first++ {
		if used += cost(runes[first]); used > size*2/3 {
			break
		}
	}
	for used := 0; last > first; last-- {
		if used += cost(runes[last-1]); used > size/3 {
			break
		}
	}
	return string(runes[:first]) + leftOut(last-first) + string(runes[last:])
}

func leftOut(count int) string { return " … (" + strconv.Itoa(count) + " characters left out) … " }
