package observer

// ScrollPosition is the response to the command "scrollPosition".
type ScrollPosition struct {
	X     float64       `json:"x"`
	Y     float64       `json:"y"`
	Boxes []ScrolledBox `json:"boxes"`
}

// ScrolledBox is the scroll position of an element. Path contains the child indexes that lead from the root to the element.
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
