// Package identity knows who calls: the operator, who may do and see everything, or a named client, who has sessions and
// tabs of its own and sees no others.
//
// What it guarantees:
//
//   - A context that nobody has put a principal into has one that may do nothing and sees nothing.
//   - Tokens are kept and compared as SHA-256 sums. How long a comparison takes tells neither which token nor how much of
//     one was right.
//   - A list of clients that is no good is refused as a whole: the one before stays in force.
//
// Package intercept asks here for every call; package authz uses the answer.
package identity

import (
	"context"
	"regexp"
)

// OperatorName is what the operator is called in lists of clients.
const OperatorName = "operator"

// Rights are what a principal may do.
type Rights uint8

// The rights. Each includes those before it.
const (
	// None allows nothing.
	None Rights = iota
	// Read allows to look at pages and lists, and changes nothing.
	Read
	// All allows everything that the daemon was started with.
	All
)

// String returns "none", "read" or "all".
func (r Rights) String() string { return [...]string{"none", "read", "all"}[min(r, All)] }

// Principal is who calls. It is a value, and comparable. The zero value is nobody.
type Principal struct {
	// name is empty for nobody.
	name   string
	rights Rights
}

// Operator is who owns the daemon.
func Operator() Principal { return Principal{OperatorName, All} }

// OperatorWith is the operator with other rights than all.
func OperatorWith(rights Rights) Principal { return Principal{OperatorName, rights} }

// Client is a named client; nobody when the name is not fit for one (see IsName).
func Client(name string, rights Rights) Principal {
	if !IsName(name) {
		return Principal{}
	}
	return Principal{name, rights}
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`)

// IsName reports whether a name is fit for a client: 1 to 32 letters, digits, - and _, and not the operator's.
func IsName(name string) bool { return nameForm.MatchString(name) && name != OperatorName }

// Name says who it is, to count calls and limits by: "operator", a client's name, or "" for nobody.
func (p Principal) Name() string { return p.name }

// Rights are what the principal may do.
func (p Principal) Rights() Rights { return p.rights }

// IsOperator reports whether it is the operator, whose sessions are all there are.
func (p Principal) IsOperator() bool { return p.name == OperatorName }

// separator stands between the name of a client and the name of one of its sessions. It stands in neither.
const separator = "."

// Inward returns the daemon's name of the session that the principal calls so; empty when it can have none.
func (p Principal) Inward(session string) string {
	switch {
	case p.name == "":
		return ""
	case p.IsOperator():
		return session
	}
	return p.name + separator + session
}

// Prefix is what stands before the names of the principal's sessions in the daemon's names; empty for the operator.
func (p Principal) Prefix() string {
	if p.name == "" || p.IsOperator() {
		return ""
	}
	return p.name + separator
}

// Owns reports whether the session of this name of the daemon's is the principal's to see.
func (p Principal) Owns(session string) bool {
	if p.IsOperator() {
		return true
	}
	return p.name != "" && len(session) > len(p.name) && session[:len(p.name)] == p.name && session[len(p.name):][:1] == separator
}

// OwnerOf returns whose session it is, by the daemon's name for it.
func OwnerOf(session string) string {
	for i := range len(session) {
		if session[i:i+1] == separator {
			return session[:i]
		}
	}
	return OperatorName
}

type key struct{}

// With returns a context of a call that the principal makes.
func With(ctx context.Context, p Principal) context.Context { return context.WithValue(ctx, key{}, p) }

// From returns who makes the call; nobody when that is not known.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(key{}).(Principal)
	return p
}
