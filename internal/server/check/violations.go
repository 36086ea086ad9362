package check

// maxViolations limits the fields that an error names. Package trailers limits the error's length.
const maxViolations = 25

// violations collects the violations of one request.
type violations struct {
	list []Violation
	// refused is the error for a URL that the policy forbids.
	refused error
	// unbuilt is the first field that requests something that is not implemented.
	unbuilt *Unsupported
}

// err returns the most severe error, or nil if the request is valid.
func (v *violations) err() error {
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

// want adds a violation unless ok, and returns ok.
func (v *violations) want(ok bool, field, description string) bool {
	if !ok && len(v.list) < maxViolations {
		v.list = append(v.list, Violation{Field: field, Description: description})
	}
	return ok
}

// unsupported records a field that requests something that is not implemented. Only the first one is kept.
func (v *violations) unsupported(field, instead string) {
	if v.unbuilt == nil {
		v.unbuilt = &Unsupported{Field: field, Instead: instead}
	}
}
