package model

import "github.com/domtap/domtap/dom"

// Anew rebuilds the sequence from scratch, which must change nothing.
func (m *Model) Anew() dom.List {
	m.sequence.invalidate()
	if err := m.build(); err != nil {
		panic(err)
	}
	return m.Elements()
}
