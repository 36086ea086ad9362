package tabview

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/view"
)

// The default limits of a request.
const (
	defaultElements = 300
	defaultTokens   = 8000
)

// Request is implemented by the requests of GetDom, GetCompact and WatchDom.
type Request interface {
	proto.Message
	filters
	GetMaxElements() int32
	GetMaxTokens() int32
	GetIncludeAttributes() []string
}

// filters has the getters of the fields that filter elements.
type filters interface {
	GetViewportOnly() bool
	GetInteractiveOnly() bool
	GetFullSnapshot() bool
	GetRootRef() uint32
	GetFrameId() string
}

// Selection holds the filters, the limits and the format of a request. It is comparable: callers with equal selections get equal views of a
// snapshot.
type Selection struct {
	interactiveOnly, viewportOnly bool
	maxElements, maxTokens        int
	hasRoot                       bool
	root                          dom.Ref
	// frame is empty to select all frames.
	frame dom.FrameID
	// attributes holds the sorted names, separated by spaces.
	attributes string
	// tree selects the format TREE. dedupe leaves out navigation that the previous page had.
	tree, dedupe bool
	// dense selects the format DENSE. In DENSE, hrefs prints the URL of every link, and brief prints each run as one line.
	dense, hrefs, brief bool
}

// SelectionOf returns the selection of a valid request.
func SelectionOf(r Request) Selection {
	names := slices.Clone(r.GetIncludeAttributes())
	slices.Sort(names)
	s := Selection{
		hasRoot:    isSet(r, "root_ref"),
		root:       dom.Ref(r.GetRootRef()),
		frame:      dom.FrameID(r.GetFrameId()),
		attributes: strings.Join(slices.Compact(names), " "),
	}
	if c, ok := r.(*domtapv1.GetCompactRequest); ok {
		switch c.GetFormat() {
		case domtapv1.Format_FORMAT_TREE:
			s.tree, s.dedupe = true, c.GetDedupeNavigation()
		case domtapv1.Format_FORMAT_DENSE, domtapv1.Format_FORMAT_DENSE_DIFF:
			s.dense, s.hrefs, s.brief = true, c.GetHrefs(), c.GetBrief()
		}
	}
	if r.GetFullSnapshot() {
		return s
	}
	s.viewportOnly = r.GetViewportOnly()
	// Without headings and landmarks, a tree would be a flat list.
	s.interactiveOnly = !isSet(r, "interactive_only") && !s.tree || r.GetInteractiveOnly()
	s.maxElements, s.maxTokens = defaultElements, defaultTokens
	if isSet(r, "max_elements") {
		s.maxElements = int(r.GetMaxElements())
	}
	if isSet(r, "max_tokens") {
		s.maxTokens = int(r.GetMaxTokens())
	}
	return s
}

// isSet reports whether an optional field is set. The field's getter does not distinguish unset from zero.
func isSet(m proto.Message, field protoreflect.Name) bool {
	message := m.ProtoReflect()
	return message.Has(message.Descriptor().Fields().ByName(field))
}

// Budget returns the token budget of a view's text. 0 means no limit.
func (s Selection) Budget() int { return s.maxTokens }

func (s Selection) names() []string { return strings.Fields(s.attributes) }

// ranked reports whether the view depends on which elements are in the viewport.
func (s Selection) ranked() bool {
	return s.viewportOnly || s.maxElements > 0 || s.maxTokens > 0
}

// Read returns the options of the actor's read for the selection. DENSE prints headings and landmarks around the elements of every view. In
// other formats, a view of a whole page uses them to distinguish elements with the same name.
func (s Selection) Read(boxes bool) actor.ReadOptions {
	return actor.ReadOptions{
		Structural: !s.interactiveOnly || s.dense, Contexts: !s.viewportOnly && !s.hasRoot && s.frame == "",
		Attributes: s.names(), Geometry: boxes || s.ranked(),
	}
}

// Watch returns what the page must report while the selection is watched. Boxes are observed only for viewport_only, because observing them
// is expensive for the page.
func (s Selection) Watch() actor.WatchOptions {
	return actor.WatchOptions{Structural: !s.interactiveOnly, Attributes: s.names(), Geometry: s.viewportOnly}
}

// options returns the view's options, without the cost function.
func (s Selection) options() view.Options {
	return view.Options{
		InteractiveOnly: s.interactiveOnly,
		ViewportOnly:    s.viewportOnly,
		HasRoot:         s.hasRoot,
		Root:            s.root,
		HasFrame:        s.frame != "",
		Frame:           s.frame,
		MaxElements:     s.maxElements,
		MaxTokens:       s.maxTokens,
		Attributes:      s.names(),
	}
}
