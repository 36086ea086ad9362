// Package identity authenticates callers. A caller is the operator, who may do and see everything, or a named client, which sees only its
// own sessions and tabs.
//
// Guarantees:
//
//   - A context without a principal yields the zero Principal, which has no rights and sees nothing.
//   - Tokens are stored and compared as SHA-256 sums, in constant time.
//   - An invalid list of clients is refused as a whole, and the previous list stays in force.
//
// Package intercept authenticates every call with this package. Package authz enforces the result.
package identity

import (
	"context"
	"errors"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// OperatorName is the name of the operator in lists of clients.
const OperatorName = "operator"

// Rights defines what a principal may do.
type Rights uint8

// The rights. Each includes the previous ones.
const (
	// None allows nothing.
	None Rights = iota
	// Read allows reading pages and lists.
	Read
	// All allows everything that the daemon's configuration allows.
	All
)

// String returns "none", "read" or "all".
func (r Rights) String() string { return [...]string{"none", "read", "all"}[min(r, All)] }

// Principal identifies a caller. It is comparable. The zero value has no rights.
type Principal struct {
	// name is empty in the zero value.
	name   string
	rights Rights
}

// Operator returns the operator, who owns the daemon, with all rights.
func Operator() Principal { return Principal{OperatorName, All} }

// OperatorWith returns the operator with the given rights.
func OperatorWith(rights Rights) Principal { return Principal{OperatorName, rights} }

// ClientPrincipal returns a named client. It returns the zero Principal if the name is invalid (see IsName).
func ClientPrincipal(name string, rights Rights) Principal {
	if !IsName(name) {
		return Principal{}
	}
	return Principal{name, rights}
}

var nameForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,32}$`)

// IsName reports whether a name is valid for a client: 1 to 32 letters, digits, - and _, and not the
// operator's.
func IsName(name string) bool { return nameForm().MatchString(name) && name != OperatorName }

// ParsePrincipal returns the operator or the client with a name, and with the rights that String returns: "all" or
// "read".
func ParsePrincipal(name, rights string) (Principal, error) {
	if name != OperatorName && !IsName(name) {
		return Principal{}, errors.New("the name must be 1 to 32 letters, digits, - and _")
	}
	for _, r := range []Rights{All, Read} {
		if r.String() == rights {
			return Principal{name, r}, nil
		}
	}
	return Principal{}, errors.New("the rights must be all or read")
}

// Name returns the name, for usage and limits: "operator", a client's name, or "" for the zero Principal.
func (p Principal) Name() string { return p.name }

// Rights returns the rights of the principal.
func (p Principal) Rights() Rights { return p.rights }

// IsOperator reports whether the principal is the operator, who owns all sessions.
func (p Principal) IsOperator() bool { return p.name == OperatorName }

// separator separates the name of a client from the name of its session. Neither name contains it.
const separator = "."

// SessionName returns the daemon's name for a session of the principal. It returns "" for the zero Principal.
func (p Principal) SessionName(session string) string {
	switch {
	case p.name == "":
		return ""
	case p.IsOperator():
		return session
	}
	return p.name + separator + session
}

// Prefix returns the prefix of the principal's sessions in the daemon's names. It returns "" for the operator.
func (p Principal) Prefix() string {
	if p.name == "" || p.IsOperator() {
		return ""
	}
	return p.name + separator
}

// Owns reports whether the principal may see a session, given the daemon's name for it.
func (p Principal) Owns(session string) bool {
	if p.IsOperator() {
		return true
	}
	return p.name != "" && len(session) > len(p.name) && session[:len(p.name)] == p.name && session[len(p.name):][:1] == separator
}

// OwnerOf returns the owner of a session, given the daemon's name for it.
func OwnerOf(session string) string {
	for i := range len(session) {
		if session[i:i+1] == separator {
			return session[:i]
		}
	}
	return OperatorName
}

type key struct{}

// With returns a context with the principal of a call.
func With(ctx context.Context, p Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns the principal of a call, or the zero Principal if there is none.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(key{}).(Principal)
	return p
}

type forwardedKey struct{}

// WithForwarded returns the context of a call that another node of the cluster has authenticated and forwarded. Only the server for other
// nodes may use it, after it has authenticated the calling node.
func WithForwarded(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, forwardedKey{}, p)
}

// Forwarded returns the caller that another node has authenticated. It returns false if the call was not forwarded.
func Forwarded(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(forwardedKey{}).(Principal)
	return p, ok
}
