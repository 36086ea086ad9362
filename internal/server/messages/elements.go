package messages

import (
	"strings"

	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/elementcontext"
)

// All messages share these values, because messages are never modified.
var (
	yes, no = true, false

	checked = [...]*domtapv1.CheckedState{
		dom.Absent: nil,
		dom.False:  domtapv1.CheckedState_CHECKED_STATE_FALSE.Enum(),
		dom.True:   domtapv1.CheckedState_CHECKED_STATE_TRUE.Enum(),
		dom.Mixed:  domtapv1.CheckedState_CHECKED_STATE_MIXED.Enum(),
	}
	flags = [...]*bool{dom.Absent: nil, dom.False: &no, dom.True: &yes, dom.Mixed: &yes}
)

// Elements converts the elements of a view. Their indices are 0, 1 and so on. boxes is parallel to elements; if it is nil, the messages
// have no boxes.
//
// A page can have thousands of elements, so their messages are allocated together. Retaining one retains all.
func Elements(elements []*dom.Element, boxes []dom.Box) []*domtapv1.Element {
	s := newArena(len(elements))
	for i, e := range elements {
		m := s.add(e, i)
		if boxes != nil {
			m.Rect = s.rect(boxes[i])
		}
	}
	return s.out
}

// Within sets the contexts of messages that are not shared yet.
func Within(messages []*domtapv1.Element, contexts map[dom.Ref]elementcontext.Context) {
	if len(contexts) == 0 {
		return
	}
	for _, m := range messages {
		m.Context = contexts[dom.Ref(m.GetRef())].Words
	}
}

// arena holds the memory of a known number of elements, their boxes and their parents' refs.
type arena struct {
	elements []domtapv1.Element
	rects    []domtapv1.Rect
	parents  []uint32
	out      []*domtapv1.Element
}

func newArena(n int) *arena {
	return &arena{
		elements: make([]domtapv1.Element, n),
		parents:  make([]uint32, 0, n),
		out:      make([]*domtapv1.Element, 0, n),
	}
}

// add converts the next element.
func (s *arena) add(e *dom.Element, index int) *domtapv1.Element {
	m := &s.elements[len(s.out)]
	m.Ref, m.Index = uint32(e.Ref), int32(index)
	m.Tag, m.Role, m.Text, m.Href, m.Name = e.Tag, e.Role, e.Text, e.Href, e.Name
	m.Type, m.Value, m.Placeholder = e.Type, e.Value, e.Placeholder
	m.TextLeft, m.ValueLeft = int32(e.Left), int32(e.ValueLeft)
	if e.Hints != "" {
		m.Hints = strings.Fields(e.Hints)
	}
	m.InViewport, m.Covered, m.FrameId = e.InViewport, e.Covered, string(e.Frame)
	m.Depth, m.Level = int32(e.Depth), int32(e.Level)
	m.Actionable = e.Kind == dom.Interactive
	if e.Parent != dom.NoRef {
		s.parents = append(s.parents, uint32(e.Parent))
		m.ParentRef = &s.parents[len(s.parents)-1]
	}
	m.Attributes = e.Attributes
	setStates(m, &e.States)
	s.out = append(s.out, m)
	return m
}

func (s *arena) rect(b dom.Box) *domtapv1.Rect {
	if s.rects == nil {
		s.rects = make([]domtapv1.Rect, len(s.elements))
	}
	m := &s.rects[len(s.out)-1]
	m.X, m.Y, m.Width, m.Height = b.X, b.Y, b.Width, b.Height
	return m
}

func setStates(m *domtapv1.Element, s *dom.States) {
	if *s == (dom.States{}) {
		return
	}
	m.Checked, m.Pressed = checked[s.Checked&3], checked[s.Pressed&3]
	m.Disabled, m.Expanded, m.Selected = flags[s.Disabled&3], flags[s.Expanded&3], flags[s.Selected&3]
	m.Required, m.Readonly = flags[s.Required&3], flags[s.Readonly&3]
	m.Focused, m.Invalid = flags[s.Focused&3], flags[s.Invalid&3]
}
