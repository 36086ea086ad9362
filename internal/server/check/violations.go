package check

// maxViolations is how many fields an error names; package trailers bounds its length.
const maxViolations = 25

// violations collects what is wrong with one request.
type violations struct {
	list []Violation
	// refused is the error for a URL that the policy forbids.
	refused error
	// unbuilt is the first field that asks for something that is not implemented.
	unbuilt *Unsupported
}

// err returns the most severe fault; nil: the request is valid.
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

// unsupported records the first field that asks for something that is not implemented.
func (v *violations) unsupported(field, instead string) {
	if v.unbuilt == nil {
		v.unbuilt = &Unsupported{Field: field, Instead: instead}
	}
}
