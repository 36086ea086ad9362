package turn

import (
	"testing"

	"github.com/domtap/domtap/dom"
)

// TestChipsOfRemovers names the chips that buttons remove, and those of a value. A button for all chips, or for a part of a word, is of none.
func TestChipsOfRemovers(t *testing.T) {
	for _, c := range []struct {
		name, value, chip string
		isListed          bool
	}{
		{"Remove Red", "Red, Green", "Red", true},
		{"Deselect option: Green Tea", "Red;Green\nTea", "Green Tea", true},
		{"Remove file", "Profile", "file", false},
		{"Remove all", "all", "", false},
		{"Deselect All options", "Small", "", false},
		{"Red", "Red", "", false},
	} {
		chip := chipOf(&dom.Element{Kind: dom.Interactive, Role: "button", Text: c.name})
		if chip != c.chip || chip != "" && listsWhole(c.value, chip) != c.isListed {
			t.Errorf("%q is for chip %q, in %q: %v", c.name, chip, c.value, listsWhole(c.value, chip))
		}
	}
}
