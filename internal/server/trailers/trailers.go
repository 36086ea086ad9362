// Package trailers bounds the size of a call's status in the trailers of its answer.
//
// gRPC's C core, which the clients in Python, Ruby, PHP and C++ use, accepts 8 KiB of metadata. With
// more, a caller gets INTERNAL and "RST_STREAM" instead of the error. The message is sent twice:
// percent-encoded, which takes nine bytes for one Chinese character, and in base64 with the details. So
// even short texts of a page can exceed the limit.
package trailers

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Limit bounds a status, in bytes as RFC 9113 counts header fields: half of what C core accepts,
// because a proxy may add fields of its own.
const Limit = 4 << 10

// fieldOverhead is what a field counts in addition to its name and its value.
const fieldOverhead = 32

// Fit returns a status of at most Limit bytes: the same one if it fits, else one with the same code and
// reason, without the middle of the message and the long parts of the details. Both say how much was
// left out.
func Fit(s *status.Status) *status.Status {
	p := s.Proto()
	if p == nil || Size(p) <= Limit && utf8.ValidString(p.GetMessage()) {
		return s
	}
	p.Details = shorten(p.GetDetails())
	empty := &spb.Status{Code: p.GetCode(), Details: p.GetDetails()}
	// Lengths that grow with the message, and base64 that works on groups of three bytes, may add a few bytes.
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

// percentEncoded is the length of a message as gRPC encodes it.
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
	return 3 * utf8.RuneLen(r) // what is not valid counts as U+FFFD, and is sent as that
}

// cutMiddle removes the middle of a message that is too long: its beginning says what failed, its end
// what to do next.
func cutMiddle(message string, size int, twice bool) string {
	runes := []rune(message)   // what is not valid UTF-8 becomes U+FFFD
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
