package dense

import (
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// landmarkWord returns the kind of a group in its line, or an empty string for an element without such a line. Forms are landmarks only if
// they have a name, as in HTML-AAM. Figures have no line, because their pictures and links say the same words.
func landmarkWord(e *dom.Element) string {
	switch {
	case e.Kind == dom.Interactive, e.Tag == "details": // its summary says what it is
		return ""
	case e.Kind == dom.FrameHost:
		return "iframe"
	case isForm(e):
		if e.Text == "" {
			return ""
		}
		return e.Tag
	}
	switch e.Role {
	case "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "form", "log", "main",
		"navigation", "region", "search", "status":
		return e.Role
	case "grid", "group", "listbox", "menu", "menubar", "radiogroup", "table", "tablist", "toolbar",
		"tree", "treegrid":
		if e.Text != "" {
			return e.Role
		}
	}
	return ""
}

func isForm(e *dom.Element) bool { return e.Tag == "form" || e.Tag == "fieldset" }

// isLive reports whether groups of the role are live regions.
func isLive(role string) bool { return role == "alert" || role == "status" || role == "log" }

// hasWords reports whether a group has words.
func (l *layout) hasWords(i int) bool {
	words, _ := l.words(i)
	return words != ""
}

// words returns the name of a group, and how many characters of it are omitted. For a live region without a name, it returns the text
// inside.
func (l *layout) words(i int) (words string, left int) {
	e := &l.nodes[i]
	if e.Text != "" || !isLive(e.Role) {
		return e.Text, e.Left
	}
	var b strings.Builder
	for j := i + 1; j < int(e.end) && b.Len() < part.MaxText; j++ {
		if l.nodes[j].Kind == dom.Structural && l.nodes[j].Role != "heading" {
			b.WriteString(l.nodes[j].Text + " ")
		}
	}
	return strings.TrimSpace(b.String()), 0
}
