package requests

import (
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
)

var start = time.Unix(1000, 0)

func all(Request) bool { return true }

func TestTheNetworkIsBusyFromTheFirstRequestToTheLast(t *testing.T) {
	var s State
	if !s.Begin("1", Request{}) || s.Begin("2", Request{}) {
		t.Error("not the first one alone is news")
	}
	if s.End("1") || !s.End("2") {
		t.Error("not the last one alone is news")
	}
	if s.Busy() {
		t.Error("it is busy without requests")
	}
}

func TestOnlyRequestsThatMatterAreWaitedFor(t *testing.T) {
	var s State
	s.Begin("picture", Request{})
	if left := s.Remaining(start); left != 0 {
		t.Errorf("a picture is waited for, %v", left)
	}
	s.Begin("stream", Request{AffectsPage: true, Answered: start})
	if left := s.Remaining(start.Add(streamLimit / 2)); left != streamLimit/2 {
		t.Errorf("an answer that has begun is waited for %v", left)
	}
	if left := s.Remaining(start.Add(streamLimit)); left != 0 {
		t.Errorf("an answer that streams is waited for %v more", left)
	}
	s.Begin("fetch", Request{AffectsPage: true})
	if left := s.Remaining(start.Add(time.Hour)); left != answerLimit {
		t.Errorf("a request without an answer is waited for %v", left)
	}
}

func TestAWorkerIsWaitedForAndNoRequest(t *testing.T) {
	var s State
	s.BeginWorker(start)
	if s.Busy() {
		t.Error("the network is busy")
	}
	if left := s.Remaining(start.Add(streamLimit / 4)); left != streamLimit*3/4 {
		t.Errorf("it is waited for %v", left)
	}
	if left := s.Remaining(start.Add(streamLimit)); left != 0 {
		t.Errorf("it is waited for %v more", left)
	}
}

func TestAnAnswerDoesNotMakeARequestMatterLess(t *testing.T) {
	var s State
	s.Begin("1", Request{AffectsPage: true})
	s.Begin("1", Request{Answered: start})
	if s.Remaining(start) != streamLimit {
		t.Error("the answer of a request that matters does not matter")
	}
}

func TestTheCountBeginsAnewWhenNobodyNeedsIt(t *testing.T) {
	var s State
	s.SetActing(true)
	s.Begin("1", Request{})
	s.SetActing(false)
	if s.Busy() || s.Counted() {
		t.Error("requests are counted although nobody cares")
	}
	s.Watch(true)
	s.Begin("2", Request{})
	s.SetActing(true)
	s.SetActing(false)
	if !s.Busy() {
		t.Error("what somebody watches was forgotten")
	}
	s.SetActing(true)
	if s.Watch(false) {
		t.Error("what somebody waits for is to be forgotten")
	}
	s.Watch(true)
	s.SetActing(false)
	if !s.Watch(false) {
		t.Error("nobody watches any more, but that is not said")
	}
}

func TestTheNumberOfRequestsIsBounded(t *testing.T) {
	var s State
	for i := range 2 * maxRequests {
		s.Begin(network.RequestID(strconv.Itoa(i)), Request{})
	}
	if len(s.inFlight) != maxRequests {
		t.Errorf("%d are remembered", len(s.inFlight))
	}
	if !s.Drop(all) || s.Drop(all) {
		t.Error("not the first drop alone is news")
	}
}

func TestRequestsWithoutAnAnswerAreReported(t *testing.T) {
	var s State
	s.SetActing(true)
	if got := s.Unanswered(); got != nil {
		t.Errorf("without requests, got %v", got)
	}
	s.Begin("1", Request{AffectsPage: true})
	s.Begin("stream", Request{AffectsPage: true, Answered: start})
	first := s.Unanswered()
	if len(first) != 1 || first[0].Text != "1 request without an answer yet" || first[0].Gone {
		t.Fatalf("got %v", first)
	}
	s.Begin("2", Request{AffectsPage: true})
	if got := s.Unanswered(); got[0].ID != first[0].ID || got[0].Text != "2 requests without an answer yet" {
		t.Errorf("got %v", got)
	}
	s.End("1")
	s.End("2")
	if got := s.Unanswered(); !got[0].Gone || got[0].ID != first[0].ID || s.Unanswered() != nil {
		t.Errorf("got %v", got)
	}
	s.Begin("3", Request{AffectsPage: true})
	if got := s.Unanswered(); got[0].ID == first[0].ID {
		t.Errorf("another wait has the number of the one before: %v", got)
	}
}
