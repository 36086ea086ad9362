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

// limit applies the limits to the selected elements and records what it omitted.
func (o Options) limit(v *View, selected []*dom.Element) []*dom.Element {
	most := len(selected)
	if o.MaxElements > 0 && o.MaxElements < most {
		most, v.Reason = o.MaxElements, ElementLimit
	}
	if most == len(selected) && o.MaxTokens <= 0 {
		return selected
	}
	best := ranked(selected, most)
	if o.MaxTokens > 0 {
		best, v.Tokens = o.afford(selected, best)
		if len(best) < most {
			v.Reason = TokenBudget
		}
	}
	if len(best) < len(selected) {
		selected, v.OmittedByRole = split(selected, best)
	}
	return selected
}

// ranked returns the indexes of the n best elements, best first. There are few different scores, so it is a counting sort.
func ranked(elements []*dom.Element, n int) []int32 {
	scores := make([]uint8, len(elements))
	var next [maxScore + 1]int
	for i, e := range elements {
		scores[i] = uint8(Score(e))
		next[scores[i]]++
	}
	before := 0
	for score := maxScore; score >= 0; score-- {
		next[score], before = before, before+next[score]
	}
	order := make([]int32, n)
	for i, score := range scores {
		if rank := next[score]; rank < n {
			order[rank] = int32(i)
		}
		next[score]++
	}
	return order
}

// afford keeps the best elements within the budget, and returns their cost. It stops at the first element that exceeds the budget, even if
// a cheaper one follows, because a lower-ranked element must not be shown instead of a higher-ranked one.
func (o Options) afford(elements []*dom.Element, best []int32) (kept []int32, tokens int) {
	tokens = o.Overhead
	for k, i := range best {
		cost := o.Cost(elements[i])
		if tokens+cost > o.MaxTokens {
			return best[:k], tokens
		}
		tokens += cost
	}
	return best, tokens
}

// split returns the elements at the kept indexes in document order, and counts the others by role.
func split(elements []*dom.Element, kept []int32) ([]*dom.Element, map[string]int) {
	marks := make([]bool, len(elements))
	for _, i := range kept {
		marks[i] = true
	}
	out := make([]*dom.Element, 0, len(kept))
	omitted := map[string]int{}
	for i, e := range elements {
		switch {
		case marks[i]:
			out = append(out, e)
		case e.Role == "":
			omitted["generic"]++
		default:
			omitted[e.Role]++
		}
	}
	return out, omitted
}
