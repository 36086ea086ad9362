package rules

import (
	"cmp"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxViolations limits the fields that an error names. Package trailers limits the error's length.
const maxViolations = 25

// Violations collects the violations of one request. Its methods are rules: they add a violation unless the field is valid.
type Violations struct {
	list []Violation
	// refused is the error for a URL that the policy forbids.
	refused error
	// unbuilt is the first field that requests something that is not implemented.
	unbuilt *Unsupported
}

// err returns the most severe error, or nil if the request is valid.
func (v *Violations) err() error {
	switch {
	case len(v.list) > 0:
		return &Invalid{Violations: v.list}
	case v.refused != nil:
		return v.refused
	case v.unbuilt != nil:
		return v.unbuilt
	}
	return nil
}

// Want adds a violation unless ok, and returns ok.
func (v *Violations) Want(ok bool, field, description string) bool {
	if !ok && len(v.list) < maxViolations {
		v.list = append(v.list, Violation{Field: field, Description: description})
	}
	return ok
}

// Add adds the violations of a part of the request that was checked elsewhere.
func (v *Violations) Add(part *Invalid) { v.list = append(v.list, part.Violations...) }

// Unsupported records a field that requests something that is not implemented. Only the first one is kept.
func (v *Violations) Unsupported(field, instead string) {
	if v.unbuilt == nil {
		v.unbuilt = &Unsupported{Field: field, Instead: instead}
	}
}

// Range requires that an optional number is unset or in a range, which includes its ends.
func Range[N cmp.Ordered](v *Violations, field string, n *N, least, most N, description string) {
	v.Want(n == nil || least <= *n && *n <= most, field, description)
}

// Known requires that the proto of this daemon defines a value of an enum.
func Known(v *Violations, field string, value protoreflect.Enum, description string) {
	v.Want(IsKnown(value), field, description)
}

// IsKnown reports whether the proto of this daemon defines a value of an enum.
func IsKnown(value protoreflect.Enum) bool {
	return value.Descriptor().Values().ByNumber(value.Number()) != nil
}

// MaxEntries requires that a list has at most a number of entries.
func (v *Violations) MaxEntries(field string, n, most int) {
	v.Want(n <= most, field, fmt.Sprintf("must have at most %d entries", most))
}

// MaxBytes requires that a text has at most a number of bytes.
func (v *Violations) MaxBytes(field, value string, most int) {
	v.Want(len(value) <= most, field, fmt.Sprintf("must have at most %d bytes", most))
}
