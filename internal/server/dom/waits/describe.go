package waits

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/condition"
)

// Describe describes the part of the condition that Status.Missing names, such as: text "Done", button "Pay" to be gone.
func (w *Condition) Describe(missing string) string {
	switch missing {
	case "element":
		return describe(w.element)
	case "text":
		return "text " + quote(w.text)
	case "url":
		return "the URL " + quote(w.url)
	case "change":
		return "a change"
	case "network_idle":
		return fmt.Sprintf("the network to be idle for %s", w.idle)
	case "quiet":
		return fmt.Sprintf("the page to be quiet for %s", w.quiet)
	}
	return missing
}

// wanted describes the awaited state. PRESENT needs no description.
var wanted = map[condition.State]string{condition.Gone: " to be gone", condition.Visible: " to be visible", condition.Enabled: " to be enabled"}

func describe(e *condition.Element) string {
	if e == nil {
		return "an element"
	}
	var parts []string
	if e.Role != "" || e.Name != "" {
		role := e.Role
		if role == "" {
			role = "an element named"
		}
		if e.Name != "" {
			role += " " + quote(e.Name)
		}
		parts = append(parts, role)
	}
	if e.Ref != dom.NoRef {
		parts = append(parts, "ref "+strconv.FormatUint(uint64(e.Ref), 10))
	}
	if e.Text != "" {
		parts = append(parts, "text "+quote(e.Text))
	}
	if e.Selector != "" {
		parts = append(parts, "selector "+quote(e.Selector))
	}
	text := strings.Join(parts, " with ")
	if e.Within != "" {
		text += " within " + quote(e.Within)
	}
	return text + wanted[e.State]
}

// maxQuoted limits the quotes of a request in answers, in characters.
const maxQuoted = 80

func quote(s string) string {
	if runes := []rune(s); len(runes) > maxQuoted {
		return strconv.Quote(string(runes[:maxQuoted])) + "…"
	}
	return strconv.Quote(s)
}
