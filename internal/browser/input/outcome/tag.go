package outcome

import "github.com/domtap/domtap/actor/driver"

// Tag reports what a field that takes tags did at Enter.
type Tag struct {
	// Armed reports that the field takes tags, and that the guard waits for Enter.
	Armed bool `json:"armed"`
	// Made reports that the field shows the text as a tag, Taken that it no longer holds the text as typed.
	Made  bool `json:"made"`
	Taken bool `json:"taken"`
}

// Note returns the remark about a tag.
func (t Tag) Note() string {
	switch {
	case t.Made:
		return driver.TagAdded
	case t.Taken:
		return "ok, then Enter was pressed to add it as a tag, but no such tag shows: read the page"
	}
	return "ok, but it is no tag: Enter did not add it, so choose an option or read the page for what it accepts"
}
