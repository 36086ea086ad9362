package text

import (
	"fmt"
	"strings"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/truncate"
)

// logLine is the maximum length of a line of a log, in characters.
const logLine = 200

// Log formats the newest entries of a log, oldest first, in at most limit lines. Equal entries share one line with their number, at the
// position of the last one. more is the number of omitted entries.
func Log(entries []*domtapv1.LogEntry, limit int) (lines string, more int) {
	type group struct {
		line  string
		count int
	}
	var groups []*group // newest first
	known := map[string]*group{}
	for i := len(entries) - 1; i >= 0; i-- {
		line := truncate.Runes(Line(entry(entries[i])), logLine)
		switch same := known[line]; {
		case same != nil:
			same.count++
		case len(groups) == limit:
			more++
		default:
			known[line] = &group{line, 1}
			groups = append(groups, known[line])
		}
	}
	var b strings.Builder
	for i := len(groups) - 1; i >= 0; i-- {
		b.WriteString(groups[i].line)
		if n := groups[i].count; n > 1 {
			fmt.Fprintf(&b, " (×%d)", n)
		}
		b.WriteByte('\n')
	}
	return b.String(), more
}

// entry formats an entry without its time.
func entry(e *domtapv1.LogEntry) string {
	switch e.GetKind() {
	case domtapv1.LogKind_LOG_KIND_NETWORK:
		return strings.Join([]string{e.GetLevel(), ended(e), e.GetResourceType(), e.GetUrl()}, " ")
	case domtapv1.LogKind_LOG_KIND_ERROR:
		return "uncaught: " + e.GetText() + place(e)
	}
	return "console " + e.GetLevel() + ": " + e.GetText() + place(e)
}

// ended returns the result of a request.
func ended(e *domtapv1.LogEntry) string {
	switch {
	case e.GetFailure() != "":
		return e.GetFailure()
	case e.GetHttpStatus() == 0:
		return "(in progress)"
	}
	return fmt.Sprint(e.GetHttpStatus())
}

// place names an entry's script by its file name.
func place(e *domtapv1.LogEntry) string {
	file, _, _ := strings.Cut(e.GetUrl(), "?")
	file = file[strings.LastIndexByte(file, '/')+1:]
	if file == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", file, e.GetLine())
}
