package requests

import (
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

const (
	// maxSheets bounds how many URLs of style sheets are remembered of a document, and maxSheetURL how long one may be, in
	// bytes. Of a document with more, nothing is known any more.
	maxSheets   = 256
	maxSheetURL = 2048
	// maxSheetDocuments bounds how many documents of a page are remembered.
	maxSheetDocuments = 100
)

// Sheets tells which style sheets of a page's documents could not be loaded. There are no rules in these, which no script
// can find out of a sheet of another origin: it may not read the rules, whether there are some or not (CSSOM, section 6.2). So
// without this, a page that was saved, or whose style sheets are blocked, is examined as if its styles might do anything,
// which takes a quarter longer (ADR 48).
//
// The zero value knows nothing. The page's monitor guards it.
type Sheets struct {
	underWay  map[network.RequestID]sheet
	documents map[cdp.LoaderID]*sheetsOf
}

// sheet is the request for one.
type sheet struct {
	document cdp.LoaderID
	url      string
	// refused says that the answer is an HTTP error. The browser does not use what comes with it.
	refused bool
}

// sheetsOf are the sheets of one document.
type sheetsOf struct {
	frame cdp.FrameID
	// urls has those that were asked for.
	urls map[string]sheetState
	// version counts the changes of what Failed returns.
	version int
	// unknown says that there were too many.
	unknown bool
}

// sheetState is what became of the requests for one URL.
type sheetState struct {
	underWay       int
	loaded, failed bool
}

// empty reports whether no sheet with the URL can have rules.
func (s sheetState) empty() bool { return s.failed && !s.loaded && s.underWay == 0 }

// Begin takes in that a document asks for a style sheet. Later requests under the same id are redirects: a sheet has the
// URL that was asked for first.
func (s *Sheets) Begin(id network.RequestID, frame cdp.FrameID, document cdp.LoaderID, url string) {
	if _, redirected := s.underWay[id]; redirected || document == "" {
		return
	}
	of := s.of(document, frame)
	if of == nil || of.unknown {
		return
	}
	state, known := of.urls[url]
	if len(url) > maxSheetURL || !known && len(of.urls) >= maxSheets || len(s.underWay) >= maxRequests {
		of.forget()
		return
	}
	if state.empty() {
		of.version++
	}
	state.underWay++
	of.urls[url] = state
	s.underWay[id] = sheet{document: document, url: url}
}

// of returns what is known of a document; nil: there are too many.
func (s *Sheets) of(document cdp.LoaderID, frame cdp.FrameID) *sheetsOf {
	if of := s.documents[document]; of != nil || len(s.documents) >= maxSheetDocuments {
		return of
	}
	if s.documents == nil {
		s.documents, s.underWay = map[cdp.LoaderID]*sheetsOf{}, map[network.RequestID]sheet{}
	}
	of := &sheetsOf{frame: frame, urls: map[string]sheetState{}}
	s.documents[document] = of
	return of
}

// forget has nothing known of the sheets of a document from now on.
func (of *sheetsOf) forget() {
	of.urls, of.unknown = nil, true
	of.version++
}

// Refuse takes in that the request for a style sheet is answered with an HTTP error.
func (s *Sheets) Refuse(id network.RequestID) {
	if one, known := s.underWay[id]; known {
		one.refused = true
		s.underWay[id] = one
	}
}

// End takes in that the request for a style sheet is over, and whether it has failed.
func (s *Sheets) End(id network.RequestID, failed bool) {
	one, known := s.underWay[id]
	if !known {
		return
	}
	delete(s.underWay, id)
	of := s.documents[one.document]
	if of == nil || of.unknown {
		return
	}
	state := of.urls[one.url]
	state.underWay--
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

// Failed returns the URLs of the style sheets of a document that could not be loaded, sorted, and a number that changes when
// they do; 0: there were none yet.
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

// Keep forgets the documents that a frame showed before; with main, those of all frames.
func (s *Sheets) Keep(document cdp.LoaderID, frame cdp.FrameID, main bool) {
	for id, of := range s.documents {
		if id != document && (main || of.frame == frame) {
			delete(s.documents, id)
		}
	}
	for id, one := range s.underWay {
		if s.documents[one.document] == nil {
			delete(s.underWay, id)
		}
	}
}

// Forget forgets everything: events were missed.
func (s *Sheets) Forget() {
	clear(s.underWay)
	for _, of := range s.documents {
		of.forget()
	}
}
