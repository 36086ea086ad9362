package driver

import "github.com/domtap/domtap/dom"

// Markup is one document as HTML: what is drawn of it and nothing else, shadow trees flattened, passwords
// masked, links absolute. It is untrusted, but its tags and attributes are of a small set.
type Markup struct {
	Frame    dom.FrameID
	Document string
	// URL and Title are the document's own.
	URL, Title string
	// HTML is the content of the body. An element <x-frame name="F"></x-frame> stands where the document of
	// frame F belongs; no page can make one itself.
	HTML string
	// Unseen is text of the document that is not drawn, the first 50,000 characters. It may end within one.
	Unseen string
	// Truncated says that the document holds more than HTML does, which has about 10 MB at most.
	Truncated bool
	// MediaArea is how much of the viewport pictures, videos and canvases cover, and ViewArea the area of the
	// viewport, in square CSS pixels. What overlaps counts twice.
	MediaArea, ViewArea float64
}

// Extraction says what to extract.
type Extraction struct {
	// Plan is JSON, made by package extract; the page's script understands it.
	Plan []byte
	// Root is the element below which is searched; with dom.NoRef, everything is.
	Root Element
}

// Extract is what one document answered to a plan: JSON that is untrusted.
type Extract struct {
	Frame dom.FrameID
	Data  []byte
}

// Script is what Evaluate runs.
type Script struct {
	// Expression is evaluated; when it gives a function that is called.
	Expression string
	// Element is given to the function, unless its Ref is dom.NoRef; its Frame is where the script runs.
	Element
	// Limit is how long the result may be, in bytes.
	Limit int
}

// Evaluated is what a script gave: JSON, or the text of what it threw.
type Evaluated struct {
	JSON, Exception string
}

// Replacement asks whether one element may be what another, that is gone, was rendered anew as.
type Replacement struct {
	// Gone is the element that is gone. Both stand, or stood, in its document.
	Gone Element
	// By is the ref of the element that may replace it.
	By dom.Ref
}

// Audited is what one document answered to an audit: JSON that is untrusted, which package audit reads.
type Audited struct {
	Frame dom.FrameID
	Data  []byte
}
