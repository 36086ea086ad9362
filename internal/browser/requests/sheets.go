package requests

import (
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

const (
	// maxSheets limits how many style sheet URLs are remembered per document, and maxSheetURL the length of a URL in bytes. If a document
	// exceeds a limit, nothing is known about its sheets.
	maxSheets   = 256
	maxSheetURL = 2048
	// maxSheetDocuments limits how many documents of a page are remembered.
	maxSheetDocuments = 100
)

// Sheets tracks which style sheets of a page's documents failed to load. Such sheets have no rules. A script cannot find that out for a
// sheet of another origin, because it must not read the rules of such a sheet, loaded or not (CSSOM, section 6.2). Without this
// information, a saved page, or one with blocked style sheets, is examined as if its styles could do anything, which takes a quarter longer
// (ADR 48).
//
// The zero value is ready to use. The page's monitor guards it.
type Sheets struct {
	inFlight  map[network.RequestID]sheet
	documents map[cdp.LoaderID]*documentSheets
}

// sheet is a pending request for a style sheet.
type sheet struct {
	document cdp.LoaderID
	url      string
	// refused is set if the response is an HTTP error. The browser does not use its content.
	refused bool
}

// documentSheets holds the sheets of one document.
type documentSheets struct {
	frame cdp.FrameID
	// urls holds the requested URLs.
	urls map[string]sheetState
	// version increases when the result of Failed changes.
	version int
	// unknown is set after a limit was exceeded or events were missed.
	unknown bool
}

// sheetState is the state of the requests for one URL.
type sheetState struct {
	inFlight       int
	loaded, failed bool
}

// empty reports whether no sheet with the URL can have rules.
func (s sheetState) empty() bool { return s.failed && !s.loaded && s.inFlight == 0 }

// Begin records a document's request for a style sheet. Later requests with the same ID are redirects, and a sheet keeps its original URL.
func (s *Sheets) Begin(id network.RequestID, frame cdp.FrameID, document cdp.LoaderID, url string) {
	if _, redirected := s.inFlight[id]; redirected || document == "" {
		return
	}
	of := s.of(document, frame)
	if of == nil || of.unknown {
		return
	}
	state, known := of.urls[url]
	if len(url) > maxSheetURL || !known && len(of.urls) >= maxSheets || len(s.inFlight) >= maxRequests {
		of.forget()
		return
	}
	if state.empty() {
		of.version++
	}
	state.inFlight++
	of.urls[url] = state
	s.inFlight[id] = sheet{document: document, url: url}
}

// of returns the sheets of a document, or nil if there are too many documents.
func (s *Sheets) of(document cdp.LoaderID, frame cdp.FrameID) *documentSheets {
	if of := s.documents[document]; of != nil || len(s.documents) >= maxSheetDocuments {
		return of
	}
	if s.documents == nil {
		s.documents, s.inFlight = map[cdp.LoaderID]*documentSheets{}, map[network.RequestID]sheet{}
	}
	of := &documentSheets{frame: frame, urls: map[string]sheetState{}}
	s.documents[document] = of
	return of
}

// forget discards the sheets of a document, which are unknown afterwards.
func (of *documentSheets) forget() {
	of.urls, of.unknown = nil, true
	of.version++
}

// Refuse records that a style sheet request was answered with an HTTP error.
func (s *Sheets) Refuse(id network.RequestID) {
	if one, known := s.inFlight[id]; known {
		one.refused = true
		s.inFlight[id] = one
	}
}

// End records the end of a style sheet request, and whether it failed.
func (s *Sheets) End(id network.RequestID, failed bool) {
	one, known := s.inFlight[id]
	if !known {
		return
	}
	delete(s.inFlight, id)
	of := s.documents[one.document]
	if of == nil || of.unknown {
		return
	}
	state := of.urls[one.url]
	state.inFlight--
	if failed = failed || one.refused; failed {
		state.failed = true
	} else {
		state.loaded = true
	}
	of.urls[one.url] = state
	if state.empty() {
		of.version++
	}
}

// Failed returns the sorted URLs of a document's style sheets that failed to load, and a version that increases when they change. Version 0
// means that none has failed yet.
func (s *Sheets) Failed(document cdp.LoaderID) (urls []string, version int) {
	of := s.documents[document]
	if of == nil {
		return nil, 0
	}
	urls = []string{}
	for url, state := range of.urls {
		if state.empty() {
			urls = append(urls, url)
		}
	}
	slices.Sort(urls)
	return urls, of.version
}

// Keep forgets a frame's previous documents or, if main is set, the documents of all frames except the given one.
func (s *Sheets) Keep(document cdp.LoaderID, frame cdp.FrameID, main bool) {
	for id, of := range s.documents {
		if id != document && (main || of.frame == frame) {
			delete(s.documents, id)
		}
	}
	for id, one := range s.inFlight {
		if s.documents[one.document] == nil {
			delete(s.inFlight, id)
		}
	}
}

// Forget discards everything, because events were missed.
func (s *Sheets) Forget() {
	clear(s.inFlight)
	for _, of := range s.documents {
		of.forget()
	}
}
