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

// said is a context that was printed.
type said struct {
	words string
	left  int
}

// appendLine appends the items of one line, and updates the context that was printed last. If most of them have the same role, the line
// begins with it, as in "(button) [3] Save [4] Apply [5] Cancel", and each of these omits it. A line without such a beginning omits the
// role link.
func appendLine(dst []byte, items []item, last *said) []byte {
	role := sharedRole(items)
	if role != roleLink {
		dst = append(append(append(dst, '('), role...), ") "...)
	}
	for i := range items {
		if i > 0 {
			dst = append(dst, ' ')
		}
		m := &items[i]
		m.assumed = role
		if which := (said{m.which, m.whichLeft}); which.words != "" && m.same == dom.NoRef {
			m.repeats, *last = which == *last, which
		}
		dst = m.append(dst)
	}
	return dst
}

// sharedRole returns the role to state once for a line, or link.
func sharedRole(items []item) string {
	count := map[string]int{} // by role, the items without other details
	for i := range items {
		if m := &items[i]; m.same == dom.NoRef && m.hasRoleOnly() {
			count[m.roleWord()]++
		}
	}
	for i := range items {
		role := items[i].roleWord()
		if count[role] >= minShared && count[role] > count[roleLink] && role != covered && 2*count[role] > len(items) {
			return role
		}
	}
	return roleLink
}

// roleWord returns the role as it is printed.
func (m *item) roleWord() string { return string(part.AppendRole(nil, m.Role)) }
