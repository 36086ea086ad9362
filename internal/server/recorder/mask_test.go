package recorder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	secretURL = "https://me:s3cret@shop.example/cart?access_token=s3cret&page=2#id_token=s3cret"
	maskedURL = "https://shop.example/cart?access_token=***&page=2#id_token=***"
)

func TestURLsOfStatesAreMasked(t *testing.T) {
	s := &dom.Snapshot{URL: secretURL, History: []dom.Visit{{URL: secretURL, Title: "Cart"}}}
	now := actor.Published{Snapshot: s, Info: actor.Info{URL: secretURL, Why: "no answer from " + secretURL}}
	got := maskState(now)
	if got.Snapshot.URL != maskedURL || got.Snapshot.History[0] != (dom.Visit{URL: maskedURL, Title: "Cart"}) || got.Info.URL != maskedURL || strings.Contains(got.Info.Why, "s3cret") {
		t.Errorf("got %+v %+v", *got.Snapshot, got.Info)
	}
	if s.URL != secretURL || s.History[0].URL != secretURL {
		t.Errorf("the state of the tab is another: %+v", *s)
	}
	plain := actor.Published{Snapshot: &dom.Snapshot{URL: "https://shop.example/?page=2"}}
	if got := maskState(plain); got.Snapshot != plain.Snapshot {
		t.Error("a state without secrets is copied")
	}
}

func TestURLsOfMessagesAreMasked(t *testing.T) {
	e := &domtapv1.TimelineEntry{Client: "me", Error: "net::ERR_FAILED at " + secretURL + " after 3 s", Event: &domtapv1.TimelineEntry_Turn{Turn: &domtapv1.TimelineTurn{
		Url: secretURL, Steps: []*domtapv1.TimelineStep{{Error: secretURL}},
	}}}
	got := masked(e)
	if got.GetTurn().GetUrl() != maskedURL || got.GetTurn().GetSteps()[0].GetError() != maskedURL || got.GetError() != "net::ERR_FAILED at "+maskedURL+" after 3 s" || got.GetClient() != "me" {
		t.Errorf("got %v", got)
	}
	if !strings.Contains(fmt.Sprint(e), "s3cret") {
		t.Error("the entry of the timeline is another")
	}
}
