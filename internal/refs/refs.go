// Package refs parses element refs as people and models write them. domtap prints the notation [12]. Other browser tools print other
// notations, and models mix them, so all of them are accepted wherever a ref is text.
//
// The package is pure.
package refs

import (
	"strconv"
	"strings"
)

// IsNumber reports whether a text consists only of digits. Such a text may be a ref or a text of a page.
func IsNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// Parse parses a ref in the notations [12], 12, e12, @12 and [ref=e12]. ok reports whether text is a ref.
func Parse(text string) (ref uint32, ok bool) {
	text = strings.TrimSpace(text)
	if inner, opened := strings.CutPrefix(text, "["); opened {
		if text, ok = strings.CutSuffix(inner, "]"); !ok {
			return 0, false
		}
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "ref="), "@")
	text = strings.TrimPrefix(text, "e") // also removes the e in @e12
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 10, 32)
	return uint32(value), err == nil
}
