// Package css quotes texts for CSS selectors.
package css

import (
	"strconv"
	"strings"
)

// String quotes a text for a selector (CSS Syntax Module Level 3, section 4.3.5). Quotation marks, backslashes and control characters are
// escaped as code points, so that the result can be embedded in a string of Go or of a shell.
func String(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' || r < ' ' || r == 0x7f {
			b.WriteString(`\` + strconv.FormatInt(int64(r), 16) + " ")
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
