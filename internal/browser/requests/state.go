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
	// answerLimit bounds a wait for requests. streamLimit bounds the wait for the rest of a response that has started, because a streamed
	// response may never end.
	answerLimit = 3 * time.Second
	streamLimit = 500 * time.Millisecond
	// maxRequests limits how many requests are tracked. Further requests are not awaited.
	maxRequests = 10_000
)

// Request is a request in progress.
type Request struct {
	Session  target.SessionID
	Frame    cdp.FrameID
	Document cdp.LoaderID
	// AffectsPage reports that the response may change the page after an action. Answered is when the response started.
	AffectsPage bool
	Answered    time.Time
}

// State counts the requests of a page while this is needed. It is a plain value guarded by the page's monitor.
type State struct {
	inFlight map[network.RequestID]Request
	// worker is when the page last started a worker.
	worker time.Time
	// watched is set while the network's busy state is reported. acting is set while an action waits for the requests that it starts.
	watched, acting bool
	// reported is the ID of the last notice of unanswered requests. open is set while that notice holds.
	reported uint64
	open     bool
}

// Counted reports whether requests are counted.
func (s *State) Counted() bool { return s.watched || s.acting }

// Busy reports whether any request is in progress.
func (s *State) Busy() bool { return len(s.inFlight) > 0 }

// Watch sets whether the busy state is reported, and reports whether the count is no longer needed.
func (s *State) Watch(on bool) (over bool) {
	over = s.watched && !on && !s.acting
	s.watched = on
	return over
}

// SetActing sets whether the page is being acted on. When the count is no longer needed, it is reset without a report.
func (s *State) SetActing(on bool) {
	s.acting = on
	s.open = s.open && !on // a later action does not report this notice again
	if !s.Counted() {
		clear(s.inFlight)
	}
}

// Begin records a request and reports whether the network was idle.
func (s *State) Begin(id network.RequestID, r Request) (changed bool) {
	if len(s.inFlight) >= maxRequests {
		return false
	}
	if s.inFlight == nil {
		s.inFlight = map[network.RequestID]Request{}
	}
	was := len(s.inFlight)
	r.AffectsPage = r.AffectsPage || s.inFlight[id].AffectsPage
	s.inFlight[id] = r
	return was == 0
}

// BeginWorker records that the page starts a worker, which is awaited for streamLimit.
func (s *State) BeginWorker(at time.Time) { s.worker = at }

// End records the end of a request and reports whether the network is idle.
func (s *State) End(id network.RequestID) (changed bool) {
	delete(s.inFlight, id)
	return len(s.inFlight) == 0
}

// Drop removes requests and reports whether it removed any.
func (s *State) Drop(which func(Request) bool) (changed bool) {
	before := len(s.inFlight)
	for id, r := range s.inFlight {
		if which(r) {
			delete(s.inFlight, id)
		}
	}
	return len(s.inFlight) != before
}

// Remaining returns how long the requests that matter may still take, or 0 if there are none.
func (s *State) Remaining(now time.Time) time.Duration {
	most := max(0, streamLimit-now.Sub(s.worker))
	for _, r := range s.inFlight {
		switch {
		case !r.AffectsPage:
		case r.Answered.IsZero():
			return answerLimit
		default:
			most = max(most, streamLimit-now.Sub(r.Answered))
		}
	}
	return most
}

// Unanswered returns the notice of unanswered requests that matter. When there are none left, it returns the same notice with Gone set, and
// after that nil.
func (s *State) Unanswered() []dom.Notice {
	count := 0
	for _, r := range s.inFlight {
		if r.AffectsPage && r.Answered.IsZero() {
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

// isLongLived reports whether requests of a type are not awaited, because they last by nature, or because the page does not wait for their
// responses.
func isLongLived(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeWebSocket, network.ResourceTypeEventSource, network.ResourceTypePing, network.ResourceTypeCSPViolationReport:
		return true
	}
	return false
}

// mayChangePage reports whether a response of this type may change the page after an action. Images and fonts only change its appearance.
func mayChangePage(kind network.ResourceType) bool {
	switch kind {
	case network.ResourceTypeDocument, network.ResourceTypeXHR, network.ResourceTypeFetch, network.ResourceTypeScript, network.ResourceTypeStylesheet:
		return true
	}
	return false
}
