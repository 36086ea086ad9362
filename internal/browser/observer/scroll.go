package observer

// ScrollPosition is the answer of the command "scrollPosition".
type ScrollPosition struct {
	X     float64       `json:"x"`
	Y     float64       `json:"y"`
	Boxes []ScrolledBox `json:"boxes"`
}

// ScrolledBox is how far an element is scrolled. Path leads to the element: which child of which child of the root it is.
type ScrolledBox struct {
	Path []int   `json:"path"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// RestoreScroll is the argument of the command "restoreScroll". Patience is in milliseconds.
type RestoreScroll struct {
	ScrollPosition
	Patience int64 `json:"patience"`
}
