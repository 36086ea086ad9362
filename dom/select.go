package dom

// Selector is a CSS selector that the page evaluates. It may be a map's key.
type Selector struct {
	CSS string
	// Shown leaves out elements that are hidden or have no box.
	Shown bool
}

// Selection is what a selector matches in a page, or in one document of it.
type Selection struct {
	// Count is how many elements match, Enabled how many of the first thousand are not disabled.
	Count, Enabled int
	// Refs names those of the first thousand that are in the stored DOM, in any order.
	Refs []Ref
	// Invalid says that the browser does not take the selector; the rest is zero.
	Invalid bool
}

// With returns the selection of both documents.
func (s Selection) With(o Selection) Selection {
	return Selection{
		Count: s.Count + o.Count, Enabled: s.Enabled + o.Enabled, Invalid: s.Invalid || o.Invalid,
		Refs: append(s.Refs[:len(s.Refs):len(s.Refs)], o.Refs...),
	}
}
