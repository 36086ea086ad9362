package observer

// MaskedAreas is the response to the command "maskedBoxes": the areas of a document that show masked content, in CSS pixels of its
// viewport.
type MaskedAreas struct {
	// Boxes contains the left, top, width and height of each area.
	Boxes [][4]float64 `json:"boxes"`
	// Frames contains the visible frames that are not masked themselves.
	Frames []struct {
		// Name is the ID of the frame, or empty if it is unknown.
		Name string     `json:"name"`
		Box  [4]float64 `json:"box"`
		// At is the origin of the frame's viewport. It is nil if the frame is scaled.
		At *[2]float64 `json:"at"`
	} `json:"frames"`
	// More reports that areas or frames are missing.
	More bool `json:"more"`
	// Readable reports whether the document shows a secret as text, in the viewport or outside it.
	Readable bool `json:"readable"`
	// Unmasked reports whether the session has no masks. If so, Boxes contains only secrets.
	Unmasked bool `json:"unmasked"`
	// Width and Height are the size of the viewport. Zoom is the factor of its pinch zoom.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Zoom   float64 `json:"zoom"`
}
