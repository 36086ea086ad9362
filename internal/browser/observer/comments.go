package observer

import "strings"

// withoutComments returns a script without the lines that are comments, empty lines and indentation: the comments are
// a third of the sources, and every document parses the script. It reads lines, not JavaScript, so a script must
// not have template literals or other strings of several lines; TestScriptsHaveNoTemplates sees to that.
func withoutComments(src string) string {
	var b strings.Builder
	b.Grow(len(src))
	inside := false
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		switch {
		case inside:
			inside = !strings.HasSuffix(line, "*/")
		case line == "" || strings.HasPrefix(line, "//"):
		case strings.HasPrefix(line, "/*") && !strings.Contains(line, "*/"):
			inside = true
		case strings.HasPrefix(line, "/*") && strings.Index(line, "*/") == len(line)-len("*/"):
		default:
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}
