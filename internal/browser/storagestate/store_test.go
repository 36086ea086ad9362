package storagestate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/domtap/domtap/internal/browser/devtools"
)

func TestAStoreKnowsTheOriginsThatPagesShowed(t *testing.T) {
	s := NewStore(devtools.Session{}, "")
	for _, url := range []string{"http://a.test/x", "https://B.test:8443/", "about:blank", "data:text/html,x", "http://a.test/y"} {
		s.Visited(url)
	}
	if want := []string{"https://b.test:8443", "http://a.test"}; !slices.Equal(s.known(), want) {
		t.Errorf("it knows %q, want %q", s.known(), want)
	}
	if s.Requested(); s.Changes() != 6 {
		t.Errorf("%d changes, want 6", s.Changes())
	}
}

func TestTheNumberOfOriginsIsBounded(t *testing.T) {
	s := NewStore(devtools.Session{}, "")
	for n := range 2 * maxOrigins {
		s.Visited(fmt.Sprintf("http://%d.test/", n))
	}
	known := s.known()
	if len(known) != maxOrigins || known[maxOrigins-1] != fmt.Sprintf("http://%d.test", 2*maxOrigins-1) {
		t.Errorf("it knows %d, the last one is %s", len(known), known[len(known)-1])
	}
}
