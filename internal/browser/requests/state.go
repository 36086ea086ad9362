package requests

import (
	"strconv"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/target"

	"github.com/domtap/domtap/dom"
)

const (
	// answerLimit bounds how long a wait for requests lasts, and streamLimit how long it lasts for the rest of an answer
	// that has begun: an answer that streams has no end.
	answerLimit = 3 * time.Second
	streamLimit = 500 * time.Millisecond
	// maxRequests bounds what is remembered; requests beyond it are not waited for.
	maxRequests = 10_000
)

// Request is a request that is under way.
type Request struct {
	Session  target.SessionID
	Frame    cdp.FrameID
	Document cdp.LoaderID
	// Matters says that what the request brings may change the page after it was acted on; Answered is when its answer began.
	Matters  bool
	Answered time.Time
}

// State counts the requests of a page while somebody waits for their end. It is a plain value; the page's monitor guards it.
type State struct {
	underWay map[network.RequestID]Request
	// worker is when the page began the last worker.
	worker time.Time
	// watched says that somebody follows whether the network is busy, acting that somebody acts on the page and waits for
	// the requests that this sets off.
	watched, acting bool
	// reported numbers the notices of requests without an answer; open says that the last one still holds.
	reported uint64
	open     bool
}

// Counted reports whether requests are counted.
func (s *State) Counted() bool { return s.watched || s.acting }

// Busy reports whether any request is under way.
func (s *State) Busy() bool { return len(s.underWay) > 0 }

// Watch says whether somebody follows whether the network is busy, and reports whether nobody needs the count any more.
func (s *State) Watch(on bool) (over bool) {
	over = s.watched && !on && !s.acting
	s.watched = on
	return over
}

// Act says whether somebody acts on the page. When nobody needs the count any more, it begins anew: the ends of the requests
// under way are not counted from there on, and nobody is told of the change.
func (s *State) Act(on bool) {
	s.acting = on
	s.open = s.open && !on // of what began before nobody is told again
	if !s.Counted() {
		clear(s.underWay)
	}
}

// Begin notes a request, and reports whether the network was idle before.
func (s *State) Begin(id network.RequestID, r Request) (changed bool) {
	if len(s.underWay) >= maxRequests {
		return false
	}
	if s.underWay == nil {
		s.underWay = map[network.RequestID]Request{}
	}
	was := len(s.underWay)
	r.Matters = r.Matters || s.underWay[id].Matters
	s.underWay[id] = r
	return was == 0
}

// BeginWorker notes that the page begins a worker, which is waited for as the rest of an answer is.
func (s *State) BeginWorker(at time.Time) { s.worker = at }

// End notes the end of a request, and reports whether the network is idle.
func (s *State) End(id network.RequestID) (changed bool) {
	delete(s.underWay, id)
	return len(s.underWay) == 0
}

// Drop forgets requests, and reports whether there were any.
func (s *State) Drop(which func(Request) bool) (changed bool) {
	before := len(s.underWay)
	for id, r := range s.underWay {
		if which(r) {
			delete(s.underWay, id)
		}
	}
	return len(s.underWay) != before
}

// Left is how long the requests that matter may still take; 0: none is under way.
func (s *State) Left(now time.Time) time.Duration {
	most := max(0, streamLimit-now.Sub(s.worker))
	for _, r := range s.underWay {
		switch {
		case !r.Matters:
		case r.Answered.IsZero():
			return answerLimit
		default:
			most = max(most, streamLimit-now.Sub(r.Answered))
		}
	}
	return most
}

// Unanswered returns the notice of the requests that matter and are not answered; the same one is gone when there are none any
// more, and nil when that was said.
func (s *State) Unanswered() []dom.Notice {
	count := 0
	for _, r := range s.underWay {
		if r.Matters && r.Answered.IsZero() {
			count++
		}
	}
	if count == 0 && !s.open {
		return nil
	}
	if !s.open {
		s.reported++
	}
	s.open = count > 0
	text := "1 request without an answer yet"
	if count > 1 {
		text = strconv.Itoa(count) + " requests without an answer yet"
	}
	return []dom.Notice{{ID: s.reported, Kind: dom.NoticeBusy, Text: text, Ref: dom.NoRef, Gone: count == 0}}
}

// lasts tells the requests that are not waited for, because they last by their nature or because nothing of the page waits
// for them.
func lasts(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeWebSocket, network.ResourceTypeEventSource, network.ResourceTypePing, network.ResourceTypeCSPViolationReport:
		return true
	}
	return false
}

// matters reports whether what a request brings may change the page after it was acted on. Pictures and fonts change how
// it looks.
func matters(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeDocument, network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypeScript, network.ResourceTypeStylesheet:
		return true
	}
	return false
}
