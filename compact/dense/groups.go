package dense

import (
	"strings"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

// landmarkWord returns what the line of a group calls it; empty for an element that has no such line.
func landmarkWord(e *dom.Element) string {
	switch {
	case e.Kind == dom.Interactive:
		return ""
	case e.Kind == dom.FrameHost:
		return "iframe"
	case e.Tag == "form" || e.Tag == "fieldset":
		return e.Tag
	}
	switch e.Role {
	case "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "form", "log", "main",
		"navigation", "region", "search", "status":
		return e.Role
	case "figure", "grid", "group", "listbox", "menu", "menubar", "radiogroup", "table", "tablist", "toolbar",
		"tree", "treegrid":
		if e.Text != "" {
			return e.Role
		}
	}
	return ""
}

// isLive reports whether groups of the role say what has happened.
func isLive(role string) bool { return role == "alert" || role == "status" || role == "log" }

// words returns the name of a group; of one that says what has happened, the words in it.
func (l *layout) words(i int) string {
	e := &l.nodes[i]
	if e.Text != "" || !isLive(e.Role) {
		return e.Text
	}
	var words strings.Builder
	for j := i + 1; j < int(e.end) && words.Len() < part.MaxText; j++ {
		if l.nodes[j].Kind == dom.Structural && l.nodes[j].Role != "heading" {
			words.WriteString(l.nodes[j].Text + " ")
		}
	}
	return strings.TrimSpace(words.String())
}
