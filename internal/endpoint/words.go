package endpoint

import (
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var (
	// dialing is what gRPC says of a daemon that does not answer, and net of why.
	dialing = regexp.MustCompile(`Error while dialing:? (?:dial )?(?:(tcp|unix) (\S+): )?(?:connect: )?([^"]*)`)
	// handshake is what gRPC says of an answer that is not a daemon's, or not in the right language.
	handshake = regexp.MustCompile(`(?:authentication handshake failed:|error reading server preface:) ([^"]*)`)
	// lost is what gRPC says of a connection that ended during a call.
	lost = regexp.MustCompile(`^(?:error reading from server:|closing transport due to:|transport is closing|the connection is draining|connection error:|name resolver error:) ?(.*)`)
	// late is what gRPC says of a deadline that the daemon knows nothing of.
	late = regexp.MustCompile(`^(?:context deadline exceeded|received context error|stream terminated|latest balancer error)`)
)

// hintThere says what helps where nobody answers at an address.
const hintThere = "domtap serve starts a daemon there; without --addr, commands find this user's daemon, or start it"

// Words says in plain words what the client's side of gRPC made a status of, which knows nothing of the page, and what helps;
// empty: the daemon itself answered.
func Words(st *status.Status) (message, hint string) {
	said := st.Message()
	if st.Code() != codes.Unavailable && st.Code() != codes.DeadlineExceeded {
		return "", ""
	}
	if m := dialing.FindStringSubmatch(said); m != nil {
		return unanswered(m[1], m[2], m[3]), hintThere
	}
	if m := handshake.FindStringSubmatch(said); m != nil {
		return "the daemon refuses the connection: " + strings.TrimSuffix(m[1], "."), "check that a daemon listens there, and whether with TLS: --tls-ca, --tls-client-cert"
	}
	if st.Code() == codes.DeadlineExceeded {
		if late.MatchString(said) {
			return "no answer in time", ""
		}
		return "", ""
	}
	if m := lost.FindStringSubmatch(said); m != nil {
		return strings.TrimSuffix("the connection to the daemon was lost: "+m[1], ": "), ""
	}
	return "", ""
}

// nobody is how Words begins to say that nothing listens at an address, which it names.
const nobody = "no daemon answers"

// IsUnanswered reports whether a message is of Words, and says that nobody answers.
func IsUnanswered(message string) bool { return strings.HasPrefix(message, nobody) }

func unanswered(network, address, why string) string {
	if address == "" {
		return nobody + ": " + strings.TrimPrefix(why, "tcp: ")
	}
	if network == "unix" {
		address = "unix://" + address
	}
	return nobody + " at " + address + ": " + why
}
