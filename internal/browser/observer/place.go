package observer

// Place is the answer of the command "scrolled".
type Place struct {
	X     float64    `json:"x"`
	Y     float64    `json:"y"`
	Boxes []PlaceBox `json:"boxes"`
}

// PlaceBox is how far an element is scrolled to which Path leads: which child of which child of the root it is.
type PlaceBox struct {
	Path []int   `json:"path"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// ReturnRequest is the argument of the command "scrollBack". Patience is in milliseconds.
type ReturnRequest struct {
	Place
	Patience int64 `json:"patience"`
}
