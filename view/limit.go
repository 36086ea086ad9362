package view

import "github.com/domtap/domtap/dom"

// inViewport is what being in the viewport adds to an element's score.
const inViewport = 50

// maxScore is the highest score that there is.
const maxScore = 100 + inViewport

// least is the lowest score of an element that is not covered.
const least = 50

// Score ranks an element, from 50 to 150: what a person most likely acts on comes first, and what is
// in the viewport before what is not. Behind them all comes what stands behind a modal, from 0 to 49 and
// in the same order, though some that differ score the same there. Among equals the one that stands
// first in the document wins.
func Score(e *dom.Element) int {
	score := roleScore(e.Role)
	if e.InViewport {
		score += inViewport
	}
	if e.Covered {
		return (score - least) * (least - 1) / (maxScore - least)
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
	return least
}

// limit cuts the selected elements to the limits and notes what it left out.
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
		selected, v.OmittedByRole = divide(selected, best)
	}
	return selected
}

// ranked returns the positions of the n best elements, best first. Scores are few, so it counts how
// many elements have each, and from that knows where each one goes.
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

// afford keeps the best elements for as long as the budget lasts, and returns what they cost. It stops
// at the first that is too much, though a cheaper one might follow: what ranks lower must not be shown
// in the place of what ranks higher.
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

// divide returns the elements at the kept positions in document order, and counts the others by role.
func divide(elements []*dom.Element, kept []int32) ([]*dom.Element, map[string]int) {
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
