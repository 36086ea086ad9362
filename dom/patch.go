package dom

import "time"

// Field is a set of the fields of an Element that a page's observer reports.
type Field uint32

// The fields, in the order of their encoding.
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

	// AllFields is the set of all fields.
	AllFields Field = 1<<iota - 1
)

// OpKind identifies what an Op does.
type OpKind uint8

// The kinds of operations.
const (
	// OpAdd inserts an element that has no ref yet.
	OpAdd OpKind = iota
	// OpRestore inserts an element that already has a ref.
	OpRestore
	// OpMove moves a present element to another place.
	OpMove
	// OpChange changes the fields in Mask of a present element.
	OpChange
	// OpRemove removes a present element.
	OpRemove
)

// Place identifies an element of a document within a patch: by its ref, or, if it has none yet, as the n-th element that the same patch
// adds.
type Place struct {
	// Ref is used if New is negative. NoRef means no element: the start of the document, or no parent.
	Ref Ref
	// New is the index of an OpAdd in the patch, from 0. If negative, Ref is used.
	New int
}

// Op is one operation of a patch. OpAdd, OpRestore and OpMove use After. OpAdd and OpRestore have all fields, OpChange those in Mask.
type Op struct {
	Kind  OpKind
	Ref   Ref
	After Place
	// Parent is used if Mask has FieldParent.
	Parent Place
	Mask   Field
	// Element holds the fields in Mask. Its Ref, Parent and Depth are not set.
	Element Element
}

// PlacedBox is the box of an element in the coordinates of its document's viewport.
type PlacedBox struct {
	Place Place
	Box   Box
	// Covered reports that a modal of the document currently makes the element unusable.
	Covered bool
}

// Patch changes one document from the state that its observer reported last to the next one. Removals come first, then inserts and moves in
// document order, then changes.
type Patch struct {
	Frame FrameID
	// Document identifies the document. A frame shows several documents, one after another.
	Document string
	// Sequence numbers the patches of a document from 1.
	Sequence uint64
	// Full reports that the patch starts from an empty document.
	Full bool
	// Contexts reports that the structural elements of a full patch were not requested, but distinguish others. The other elements get
	// their refs first, as if they had been read before.
	Contexts bool
	URL      string
	Title    string
	// PageTime is when the observer created the patch, by the page's clock.
	PageTime time.Time
	// Took is the time that the observer used on the page's main thread since its last patch, as reported by the observer, or 0 if unknown.
	Took time.Duration
	Ops  []Op
	// Measured reports that the boxes below, together with earlier ones, are the current boxes of the page.
	Measured bool
	// Limited reports that the observer omitted elements, because the document has more than it may keep.
	Limited bool
	// Scroll is the document's scroll position and viewport size; boxes are in document coordinates.
	Scroll Box
	// Boxes holds the boxes that have changed since the last report.
	Boxes []PlacedBox
}
