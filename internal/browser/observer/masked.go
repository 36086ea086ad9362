package observer

// MaskedAreas is the answer of the command "maskedBoxes": where a document shows what is masked, in CSS pixels of its viewport.
type MaskedAreas struct {
	// Boxes are left, top, width and height.
	Boxes [][4]float64 `json:"boxes"`
	// Frames are those it shows that are not masked themselves.
	Frames []struct {
		// Name is the frame's; empty: it is not known.
		Name string     `json:"name"`
		Box  [4]float64 `json:"box"`
		// At is where the frame's viewport begins; nil: the frame is not drawn in its own size.
		At *[2]float64 `json:"at"`
	} `json:"frames"`
	// More says that there is more than that.
	More bool `json:"more"`
	// Readable reports whether the document shows a secret as text, in the viewport or outside it.
	Readable bool `json:"readable"`
	// Unmasked reports whether the session has no masks. Boxes are those of secrets alone then.
	Unmasked bool `json:"unmasked"`
	// Width and Height are the viewport's, Zoom by how much a person's fingers enlarged it.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Zoom   float64 `json:"zoom"`
}
