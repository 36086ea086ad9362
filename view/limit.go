package view

import "github.com/domtap/domtap/dom"

// inViewport is the score bonus for elements in the viewport.
const inViewport = 50

// maxScore is the highest possible score.
const maxScore = 100 + inViewport

// minScore is the lowest score of an element that is not covered.
const minScore = 50

// Score ranks an element from 50 to 150. Elements that a person most likely acts on rank first, and elements in the viewport rank before
// others. Elements behind a modal rank last, from 0 to 49, in the same order, although some different scores become equal there. Of
// elements with equal scores, the first in the document wins.
func Score(e *dom.Element) int {
	score := roleScore(e.Role)
	if e.InViewport {
		score += inViewport
	}
	if e.Covered {
		return (score - minScore) * (minScore - 1) / (maxScore - minScore)
	}
	return score
}

func roleScore(role string) int {
	switch role {
	case "button":
		return 100
	case "textbox", "searchbox":
		return 95
	case "checkbox", "radio", "switch":
		return 90
	case "combobox", "listbox", "slider", "spinbutton":
		return 85
	case "link":
		return 80
	case "tab":
		return 75
	case "menuitem", "menuitemcheckbox", "menuitemradio", "option":
		return 70
	case "navigation", "menu":
		return 60
	case "tablist":
		return 55
	}
	return minScore
}
