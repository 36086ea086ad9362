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
	// Root, unless it is dom.NoRef, is the element below which is searched; Frame and Document are where it
	// stands, and filled in by the tab.
	Root     dom.Ref
	Frame    dom.FrameID
	Document string
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
	// Frame is where to run it.
	Frame dom.FrameID
	// Ref, unless it is dom.NoRef, is given to the function; Document is where it stands.
	Ref      dom.Ref
	Document string
	// Limit is how long the result may be, in bytes.
	Limit int
}

// Evaluated is what a script gave: JSON, or the text of what it threw.
type Evaluated struct {
	JSON, Exception string
}

// Replacement asks whether one element may be what another, that is gone, was rendered anew as.
type Replacement struct {
	// Frame and Document are where both stand, or stood.
	Frame    dom.FrameID
	Document string
	// Gone is the ref of the one that is gone, Heir that of the other.
	Gone, Heir dom.Ref
}
