// Package css writes texts into CSS selectors.
package css

import (
	"strconv"
	"strings"
)

// String quotes a text for a selector (CSS Syntax Module Level 3, section 4.3.5). Quotation marks, backslashes and control characters are
// escaped by their numbers, so that the string may stand within one of Go or of a shell.
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
