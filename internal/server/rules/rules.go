// Package rules is the vocabulary in which each service states which requests are valid: the violations that an error reports, the fields
// that several services share, and the URL policy.
//
// The rules of a service are the table Rules in its package: for each type of request a function that reads only the request. Each rule
// names a field, says whether the field is valid, and describes what it must be, so that a client can correct all fields in one go.
// Whether a tab, a ref or a revision exists is checked by the actors.
//
// A request that passes Table.Check is within the ranges that the protos document, and handlers rely on that.
package rules

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"google.golang.org/protobuf/proto"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Violation describes an invalid field.
type Violation struct {
	// Field is the path of the field, such as "steps[2].click.target.ref".
	Field string
	// Description states what the field must be.
	Description string
}

// Invalid is the error of a request with invalid fields.
type Invalid struct {
	// Violations lists the invalid fields, in the order of the request's fields.
	Violations []Violation
}

// Error lists the violations.
func (e *Invalid) Error() string {
	parts := make([]string, len(e.Violations))
	for i, v := range e.Violations {
		parts[i] = v.Field + ": " + v.Description
	}
	return strings.Join(parts, "; ")
}

// Unsupported is the error of a well-formed request for something that is not implemented.
type Unsupported struct {
	// Field is the path of the field with the request, or the name of the method.
	Field string
	// Instead describes what works.
	Instead string
}

// Error names the field and what works instead.
func (e *Unsupported) Error() string {
	return fmt.Sprintf("%s is not implemented yet: %s", e.Field, e.Instead)
}

// Table maps each type of request to its rules.
type Table map[reflect.Type]func(v *Violations, m proto.Message)

// Check returns nil for a valid request and for a message without rules. Otherwise it returns the first of these that applies: an
// *Invalid, an *apierr.Error of kind Refused for a URL that the policy forbids, or an *Unsupported.
func (t Table) Check(m proto.Message) error {
	check, ok := t[reflect.TypeOf(m)]
	if !ok {
		return nil
	}
	v := new(Violations)
	check(v, m)
	return v.err()
}

// Of returns the table of one type of request.
func Of[M proto.Message](check func(*Violations, M)) Table {
	return Table{reflect.TypeFor[M](): func(v *Violations, m proto.Message) { check(v, m.(M)) }}
}

// Union returns a table with all entries of some tables. No type of request may be in two of them.
func Union(tables ...Table) Table {
	all := Table{}
	for _, t := range tables {
		maps.Copy(all, t)
	}
	return all
}

// Tab checks a request that has no fields with rules other than the name of a tab.
func Tab[M interface{ GetTabId() string }](v *Violations, r M) { v.TabID(r.GetTabId()) }

// Session checks a request that has no fields with rules other than the name of a session.
func Session[M interface{ GetSessionId() string }](v *Violations, r M) { v.SessionID(r.GetSessionId()) }

// At adds the rules of a moment to the rules of a request that may name a moment of a recording.
func At[M interface{ GetAt() *domtapv1.Moment }](check func(*Violations, M)) func(*Violations, M) {
	return func(v *Violations, r M) {
		check(v, r)
		v.Moment(r.GetAt())
	}
}
