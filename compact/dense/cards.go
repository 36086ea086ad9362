package dense

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/domtap/domtap/compact/internal/part"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/truncate"
)

const (
	// maxFirst and maxTitle limit how many characters of a card's long name are printed: of its first words, or of its heading.
	maxFirst, maxTitle = 40, 60
	// maxDifferent limits how much of the differing words in a long name is printed, in characters.
	maxDifferent = 60
)

// shorten shortens the name of a card: for an element with a long name that contains several texts, only its heading or its first words are
// printed. A context that the name starts with is omitted.
func (l *laidOut) shorten(m *item) {
	if strings.HasPrefix(m.WholeText(), strings.TrimSuffix(m.which, part.Ellipsis)) {
		m.which = ""
	}
	if title := l.title(m); title != "" {
		m.rename(title)
	}
}

// title returns the title of a card, or an empty string for an element that is not a card.
func (l *laidOut) title(m *item) string {
	if utf8.RuneCountInString(m.Text) <= longName {
		return ""
	}
	texts := 0
	for i := m.node + 1; i < int(l.nodes[m.node].end); i++ {
		e := &l.nodes[i]
		if e.Text == "" || e.Kind != dom.Structural || e.Covered != m.Covered {
			continue
		}
		if e.Role == "heading" {
			return truncate.Runes(strings.TrimSuffix(e.Text, part.Ellipsis), maxTitle)
		}
		texts++
	}
	if texts < 2 {
		return ""
	}
	return firstWords(m.Text, maxFirst)
}

// firstWords returns the first words of a text that fit into a limit, or a part of the first word.
func firstWords(text string, limit int) string {
	first := []rune(text)
	first = first[:min(len(first), limit)]
	if end := slices.Index(first, ' '); end >= 0 && len(first) == limit {
		for first[len(first)-1] != ' ' {
			first = first[:len(first)-1]
		}
	}
	return strings.TrimSpace(string(first))
}

// rename replaces a name by a part of it, and records how many characters are omitted.
func (m *item) rename(words string) {
	e := *m.Element
	words = strings.TrimSuffix(words, part.Ellipsis)
	e.Text, e.Left = words+part.Ellipsis, max(utf8.RuneCountInString(e.WholeText())-utf8.RuneCountInString(words), 1)
	e.Whole, m.Element = "", &e
}

// shorten shortens a long name that has changed: the new one to the card's title and the differing words, and the old one to the differing
// words.
func (m *changedItem) shorten(d *differ) {
	was, now := strings.Fields(m.was.WholeText()), strings.Fields(m.now.WholeText())
	long := max(utf8.RuneCountInString(m.was.Text), utf8.RuneCountInString(m.now.Text)) > longName
	title, whole, which := d.to.title(&m.now), m.now.WholeText(), [2]string{m.was.which, m.now.which}
	d.from.shorten(&m.was)
	d.to.shorten(&m.now)
	if m.record { // printed in the line anyway
		m.was.which, m.now.which = which[0], which[1]
	}
	before, behind := shared(was, now)
	if !m.name || !long || 2*(before+behind) < max(len(was), len(now)) {
		return
	}
	differs := func(all []string) string {
		return truncate.Runes(strings.Join(all[max(before-1, 0):min(len(all)-behind+1, len(all))], " "), maxDifferent)
	}
	if title == "" {
		title = firstWords(whole, maxFirst)
	}
	m.was.setName(differs(was))
	m.now.setName(joined(strings.TrimSuffix(title, part.Ellipsis), differs(now)))
}

// joined returns a title and the differing words, with a separator unless the words start with the title.
func joined(title, words string) string {
	if strings.HasPrefix(words, title) {
		return words
	}
	return title + " " + part.Ellipsis + " " + words
}

// setName replaces the name by words.
func (m *item) setName(words string) {
	e := *m.Element
	e.Text, e.Left, e.Whole = words, 0, ""
	m.Element = &e
}

// shared returns how many words two texts have in common at the beginning and at the end.
func shared(a, b []string) (before, behind int) {
	for before < min(len(a), len(b)) && a[before] == b[before] {
		before++
	}
	for behind < min(len(a), len(b))-before && a[len(a)-1-behind] == b[len(b)-1-behind] {
		behind++
	}
	return before, behind
}
