package dom

// Selector is a CSS selector that the page evaluates. It can be used as a map key.
type Selector struct {
	CSS string
	// Shown excludes elements that are hidden or have no box.
	Shown bool
}

// Selection is the result of a selector in a page, or in one document of it.
type Selection struct {
	// Count is the number of matching elements, and Enabled the number of elements among the first thousand that are not disabled.
	Count, Enabled int
	// Refs holds the refs of those among the first thousand that are in the stored DOM, in any order.
	Refs []Ref
	// Invalid reports that the browser rejects the selector. The other fields are then zero.
	Invalid bool
}

// With returns the combined selection of two documents.
func (s Selection) With(o Selection) Selection {
	return Selection{
		Count: s.Count + o.Count, Enabled: s.Enabled + o.Enabled, Invalid: s.Invalid || o.Invalid,
		Refs: append(s.Refs[:len(s.Refs):len(s.Refs)], o.Refs...),
	}
}
