package dense

import (
	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
)

const (
	// covered is the word before elements behind a modal. A role of that name is never stated at the beginning of a line.
	covered = "covered"
	// minShared is the minimum number of elements with the same role for which a line states the role only once.
	minShared = 3
)

// said holds the last printed context and link target.
type said struct{ words, target string }

// appendLine appends the items of one line and updates last. If most items have the same role and states, the line begins with these, as in
// "(button) [3] Save [4] Apply [5] Cancel", and those items omit them. On other lines, links omit their role.
func appendLine(dst []byte, items []item, last *said) []byte {
	detail := sharedDetail(items)
	if detail != roleLink {
		dst = append(append(append(dst, '('), detail...), ") "...)
	}
	for i := range items {
		if i > 0 {
			dst = append(dst, ' ')
		}
		m := &items[i]
		m.assumed = detail
		if m.same == dom.NoRef {
			if m.which != "" {
				m.repeats, last.words = m.which == last.words, m.which
			}
			if m.target != "" && m.target != named {
				m.repeatsTarget, last.target = m.target == last.target, m.target
			}
		}
		dst = m.append(dst)
	}
	return dst
}

// sharedDetail returns the role and states for the beginning of a line, or link.
func sharedDetail(items []item) string {
	count := map[string]int{} // items without other details, by role and states
	for i := range items {
		if m := &items[i]; m.same == dom.NoRef && !m.hasOwnDetail() {
			count[m.details()]++
		}
	}
	for i := range items {
		m := &items[i]
		if details := m.details(); !m.hasOwnDetail() && count[details] >= minShared && count[details] > count[roleLink] && m.roleWord() != covered &&
			2*count[details] > len(items) {
			return details
		}
	}
	return roleLink
}

// roleWord returns the role as it is printed.
func (m *item) roleWord() string { return string(part.AppendRole(nil, m.Role)) }

// appendDetails appends the role, the states and the hints.
func (m *item) appendDetails(dst []byte) []byte {
	return part.AppendHints(part.AppendStates(part.AppendRole(dst, m.Role), &m.States), m.Hints)
}

func (m *item) details() string { return string(m.appendDetails(nil)) }
