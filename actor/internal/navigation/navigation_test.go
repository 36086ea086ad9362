package navigation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/navigation"
)

// commit handles a commit as the tab does.
func commit(s *navigation.State, e driver.Committed) {
	if s.Main() != e.Document {
		s.Adopt(e.Document, false)
	}
	s.Announce(e)
	s.Arrive(e)
}

func TestAPatchMayPrecedeTheCommit(t *testing.T) {
	s := navigation.New("about:blank")
	s.Responded(driver.ResponseReceived{Document: "a", Status: 404})
	s.Adopt("a", false)
	if _, _, status := s.Page(); status != 404 || s.Announced("a") || s.Readable() {
		t.Errorf("a document that is not announced: status %d", status)
	}
	commit(&s, driver.Committed{Document: "a", URL: "https://user:secret@a.example/"})
	if url, _, _ := s.Page(); url != "https://a.example/" || s.Address() != "https://user:secret@a.example/" || !s.Announced("a") {
		t.Errorf("URL is %s, address %s", url, s.Address())
	}
}

func TestNetworkIdleCountsAfterLoad(t *testing.T) {
	s := navigation.New("about:blank")
	commit(&s, driver.Committed{Document: "a", URL: "https://a.example/"})
	if s.Loaded(driver.Loaded{Document: "b", Phase: driver.PhaseLoad}) {
		t.Error("another document counts")
	}
	s.Loaded(driver.Loaded{Document: "a", Phase: driver.PhaseNetworkIdle})
	if s.Reached(driver.PhaseNetworkIdle) || !s.Loading() {
		t.Error("an idle network counts before the load event")
	}
	s.Loaded(driver.Loaded{Document: "a", Phase: driver.PhaseLoad})
	if !s.Reached(driver.PhaseNetworkIdle) || s.Loading() || !s.Readable() {
		t.Error("it is not loaded")
	}
}

func TestArrivalFollowsToTheNextDocument(t *testing.T) {
	s := navigation.New("about:blank")
	commit(&s, driver.Committed{Document: "a", URL: "https://a.example/"})
	commit(&s, driver.Committed{Document: "b", URL: "https://b.example/"})
	if met, err := s.Arrival("a", driver.PhaseCommit); !met || err != nil {
		t.Errorf("arrival %t, %v", met, err)
	}
	if met, _ := s.Arrival("c", driver.PhaseCommit); met {
		t.Error("an unknown document arrived")
	}
	commit(&s, driver.Committed{Document: "c", URL: "https://c.example/", Error: "net::ERR_FAILED"})
	if _, err := s.Arrival("b", driver.PhaseLoad); !apierr.Is(err, apierr.Navigation) {
		t.Errorf("error is %v", err)
	}
	refused := apierr.Errorf(apierr.Refused, "no")
	commit(&s, driver.Committed{Document: "d", URL: "https://d.example/", Cause: refused})
	if _, err := s.Arrival("b", driver.PhaseLoad); err != refused || s.Refusal() != refused {
		t.Errorf("error is %v", err)
	}
}

func TestHistoryHasPagesThatWereShown(t *testing.T) {
	s := navigation.New("about:blank")
	commit(&s, driver.Committed{Document: "blank", URL: "about:blank"})
	commit(&s, driver.Committed{Document: "failed", URL: "https://a.example/", Error: "net::ERR_FAILED"})
	if len(s.History()) != 0 {
		t.Errorf("history is %v", s.History())
	}
	for i := range 12 {
		commit(&s, driver.Committed{Document: fmt.Sprint(i), URL: fmt.Sprintf("https://a.example/%d", i)})
	}
	before := s.History()
	s.SetTitle("Last")
	after := s.History()
	if len(after) != 10 || after[9].Title != "Last" || before[9].Title != "" || after[0].URL != "https://a.example/2" {
		t.Errorf("history is %v, was %v", after, before)
	}
	s.Arrive(driver.Committed{Document: "11", URL: "https://a.example/11", Same: true})
	if _, sames := s.Counts(); sames != 1 || len(s.History()) != 10 || s.History()[0] != after[0] {
		t.Error("the same URL is another entry")
	}
	s.Arrive(driver.Committed{Document: "11", URL: "https://a.example/" + strings.Repeat("x", 1<<20), Same: true})
	if last := s.History()[9]; len(last.URL) > 2100 {
		t.Errorf("a URL in the history has %d bytes", len(last.URL))
	}
}
