package dom

import "time"

// Field is a set of the fields of an Element that a page's observer reports.
type Field uint32

// The fields, in the order in which they travel.
const (
	FieldKind Field = 1 << iota
	FieldParent
	FieldTag
	FieldRole
	FieldText
	FieldHref
	FieldName
	FieldType
	FieldValue
	FieldPlaceholder
	FieldLevel
	FieldStates
	FieldChild
	FieldAttributes
	FieldWhole
	FieldHints
	FieldJoin

	// AllFields is every field.
	AllFields Field = 1<<iota - 1
)

// OpKind is what an Op does.
type OpKind uint8

// The kinds of operations.
const (
	// OpAdd inserts an element that has no ref yet.
	OpAdd OpKind = iota
	// OpRestore inserts an element that was given its ref before.
	OpRestore
	// OpMove puts a present element elsewhere.
	OpMove
	// OpChange changes the fields in Mask of a present element.
	OpChange
	// OpRemove takes a present element out.
	OpRemove
)

// Place names an element of a document within a patch: by its ref, or, while it has none, as the
// n-th element that the same patch adds.
type Place struct {
	// Ref is used when New is negative; NoRef means none: the start of the document, no parent.
	Ref Ref
	// New counts the OpAdd of the patch from 0; negative means that Ref is used.
	New int
}

// Op is one operation of a patch. OpAdd, OpRestore and OpMove carry After; OpAdd and OpRestore carry
// all fields, OpChange those in Mask.
type Op struct {
	Kind  OpKind
	Ref   Ref
	After Place
	// Parent is meaningful when Mask has FieldParent.
	Parent Place
	Mask   Field
	// Element holds the fields of Mask; its Ref, Parent and Depth are not set.
	Element Element
}

// PlacedBox is the box of an element in the coordinates of its document's viewport.
type PlacedBox struct {
	Place Place
	Box   Box
	// Covered says that a modal of the document makes the element useless for now.
	Covered bool
}

// Patch leads one document from the state that its observer reported last to the next. Removals
// stand first, inserts and moves follow in document order, and changes last.
type Patch struct {
	Frame FrameID
	// Document tells the documents of a frame apart.
	Document string
	// Sequence counts the patches of a document from 1.
	Sequence uint64
	// Full says that the patch starts from an empty document.
	Full bool
	// Contexts says that the structural elements of a full patch came unasked, to tell the others apart: the others get
	// their refs first, as if they had been read before.
	Contexts bool
	URL      string
	Title    string
	// PageTime is when the observer made the patch, by the page's clock.
	PageTime time.Time
	// Took is how long the observer says it took from the page since its last patch; 0: not known.
	Took time.Duration
	Ops  []Op
	// Measured says that the boxes below, with those reported before, are those of the page now.
	Measured bool
	// Limited says that the observer left elements out, because the document has more than it may keep.
	Limited bool
	// Scroll is the document's scroll position and viewport size; boxes are in document coordinates.
	Scroll Box
	// Boxes holds the boxes that differ from what was reported before.
	Boxes []PlacedBox
}
