package driver

import "github.com/domtap/domtap/dom"

// Markup is the visible content of one document as HTML, with shadow trees flattened, passwords masked and links absolute. It is untrusted,
// but contains only a small set of tags and attributes.
type Markup struct {
	Frame    dom.FrameID
	Document string
	// URL and Title belong to the document.
	URL, Title string
	// Type is the media type of the document, such as "text/html" or "application/json". It is untrusted and may be empty.
	Type string
	// HTML is the content of the body. An element <x-frame name="F"></x-frame> marks the place of the document of frame F; pages cannot
	// create this element themselves.
	HTML string
	// Whole reports that all of HTML is content, because the document is not a page. The daemon sets it when it converts a document.
	Whole bool
	// Unseen is the text of the document that is not visible, limited to the first 50,000 characters. It may end within a character.
	Unseen string
	// Truncated reports whether HTML was cut. Its limit is about 10 MB.
	Truncated bool
	// MediaArea is the area of the viewport that pictures, videos and canvases cover, and ViewArea the area of the viewport, in square CSS
	// pixels. Overlaps count twice.
	MediaArea, ViewArea float64
}

// Extraction configures an extraction.
type Extraction struct {
	// Plan is JSON that package extract creates for the page's script.
	Plan []byte
	// Root limits the extraction to the descendants of an element. With dom.NoRef, the whole document is searched.
	Root Element
}

// Extract is the result of a plan in one document, as untrusted JSON.
type Extract struct {
	Frame dom.FrameID
	Data  []byte
}

// Script is a script for Evaluate.
type Script struct {
	// Expression is evaluated. If its value is a function, the function is called.
	Expression string
	// Element is passed to the function, unless its Ref is dom.NoRef. The script runs in its Frame.
	Element
	// Limit is the maximum length of the result in bytes.
	Limit int
}

// Evaluated is the result of a script: JSON, or the text of an exception.
type Evaluated struct {
	JSON, Exception string
}

// Replacement describes the two elements for Query.Replaces.
type Replacement struct {
	// Old is the removed element. Both elements are, or were, in its document.
	Old Element
	// New is the ref of the element that may replace it.
	New dom.Ref
}

// Audited is the result of an audit in one document, as untrusted JSON for package audit.
type Audited struct {
	Frame dom.FrameID
	Data  []byte
}
