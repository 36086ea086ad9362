package endpoint

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/lazyregexp"
)

var (
	// dialing matches gRPC errors for a daemon that does not answer, with the cause from package net.
	dialing = lazyregexp.New(`Error while dialing:? (?:dial )?(?:(tcp|unix) (\S+): )?(?:connect: )?([^"]*)`)
	// handshake matches gRPC errors for a peer that is not a daemon, or that does not use TLS as expected.
	handshake = lazyregexp.New(`(?:authentication handshake failed:|error reading server preface:) ([^"]*)`)
	// lost matches gRPC errors for a connection that ended during a call.
	lost = lazyregexp.New(`^(?:error reading from server:|closing transport due to:|transport is closing|the connection is draining|connection error:|name resolver error:) ?(.*)`)
	// late matches gRPC errors for a deadline that expired on the client's side.
	late = lazyregexp.New(`^(?:context deadline exceeded|received context error|stream terminated|latest balancer error)`)
)

// noDaemonHint is the hint for an address at which no daemon answers.
const noDaemonHint = "domtap serve starts a daemon there; without --addr, commands find this user's daemon, or start it"

// Words returns a plain message and a hint for a status that gRPC created on the client's side. Both are empty if the daemon itself
// answered.
func Words(st *status.Status) (message, hint string) {
	said := st.Message()
	if st.Code() != codes.Unavailable && st.Code() != codes.DeadlineExceeded {
		return "", ""
	}
	if m := dialing().FindStringSubmatch(said); m != nil {
		return unanswered(m[1], m[2], m[3]), noDaemonHint
	}
	if m := handshake().FindStringSubmatch(said); m != nil {
		return "the daemon refuses the connection: " + strings.TrimSuffix(m[1], "."), "check that a daemon listens there and whether it uses TLS (--tls-ca, --tls-client-cert)"
	}
	if st.Code() == codes.DeadlineExceeded {
		if late().MatchString(said) {
			return "no answer in time", ""
		}
		return "", ""
	}
	if m := lost().FindStringSubmatch(said); m != nil {
		return strings.TrimSuffix("the connection to the daemon was lost: "+m[1], ": "), ""
	}
	return "", ""
}

// noDaemon is the prefix of the messages of Words for an address at which nothing listens.
const noDaemon = "no daemon answers"

// IsUnanswered reports whether a message of Words means that no daemon answers.
func IsUnanswered(message string) bool { return strings.HasPrefix(message, noDaemon) }

func unanswered(network, address, why string) string {
	if address == "" {
		return noDaemon + ": " + strings.TrimPrefix(why, "tcp: ")
	}
	if network == "unix" {
		address = "unix://" + address
	}
	return noDaemon + " at " + address + ": " + why
}
