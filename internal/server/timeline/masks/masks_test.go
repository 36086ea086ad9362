package masks

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
	got := State(now)
	if got.Snapshot.URL != maskedURL || got.Snapshot.History[0] != (dom.Visit{URL: maskedURL, Title: "Cart"}) || got.Info.URL != maskedURL || strings.Contains(got.Info.Why, "s3cret") {
		t.Errorf("got %+v %+v", *got.Snapshot, got.Info)
	}
	if s.URL != secretURL || s.History[0].URL != secretURL {
		t.Errorf("the state of the tab is another: %+v", *s)
	}
	plain := actor.Published{Snapshot: &dom.Snapshot{URL: "https://shop.example/?page=2"}}
	if got := State(plain); got.Snapshot != plain.Snapshot {
		t.Error("a state without secrets is copied")
	}
}

func TestURLsOfMessagesAreMasked(t *testing.T) {
	e := &domtapv1.TimelineEntry{Client: "me", Error: "net::ERR_FAILED at " + secretURL + " after 3 s", Event: &domtapv1.TimelineEntry_Turn{Turn: &domtapv1.TimelineTurn{
		Url: secretURL, Steps: []*domtapv1.TimelineStep{{Error: secretURL}},
	}}}
	got := Message(e)
	if got.GetTurn().GetUrl() != maskedURL || got.GetTurn().GetSteps()[0].GetError() != maskedURL || got.GetError() != "net::ERR_FAILED at "+maskedURL+" after 3 s" || got.GetClient() != "me" {
		t.Errorf("got %v", got)
	}
	if !strings.Contains(fmt.Sprint(e), "s3cret") {
		t.Error("the entry of the timeline is another")
	}
}

func TestURLsInTextsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		`click "Go": ok → Done (/?id_token=s3cret)`:     `click "Go": ok → Done (/?id_token=***)`,
		"(https://shop.example/?token=s3cret&page=2)":   "(https://shop.example/?token=***&page=2)",
		"/in#/cb?jwt=s3cret(a)b&x=1":                    "/in#/cb?jwt=***&x=1",
		"no answer from https://me:s3cret@shop.example": "no answer from https://shop.example",
		"Which state? 1 + 1 = 2":                        "Which state? 1 + 1 = 2",
		"a#b c=d":                                       "a#b c=d",
		"/cart?page=2":                                  "/cart?page=2",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestAMessageWithoutSecretsIsNotCopied(t *testing.T) {
	e := &domtapv1.TimelineEntry{Client: "me", Event: &domtapv1.TimelineEntry_Turn{Turn: &domtapv1.TimelineTurn{Url: maskedURL, Steps: []*domtapv1.TimelineStep{{Summary: "ok"}}}}}
	if Message(e) != e {
		t.Error("it is copied")
	}
}

func BenchmarkMessage(b *testing.B) {
	e := &domtapv1.TimelineEntry{Client: "me", Method: "Interact", Event: &domtapv1.TimelineEntry_Turn{Turn: &domtapv1.TimelineTurn{Steps: []*domtapv1.TimelineStep{
		{Kind: "click", Role: "button", Name: "Pay now", Summary: `click "Pay now": ok`}}}}}
	b.ReportAllocs()
	for b.Loop() {
		Message(e)
	}
}
