package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestErrorsSayWhatIsInert acts on elements of an inert part of a page, and on an element that is inert itself. The errors name the inert
// element.
func TestErrorsSayWhatIsInert(t *testing.T) {
	s := staged(t, `<div inert id=back><button id=pay>Pay</button><input aria-label=Email placeholder=Mail></div><button inert>Later</button>
		<button onclick="back.inert = !back.inert">Go</button>`)
	for _, one := range []struct {
		name   string
		target *domtapv1.Target
		by     string
	}{
		{"text", &domtapv1.Target{Text: "Pay"}, "<div id=back>"},
		{"role", &domtapv1.Target{Role: "button", Name: "Pay"}, "<div id=back>"},
		{"label", &domtapv1.Target{Label: "Email"}, "<div id=back>"},
		{"placeholder", &domtapv1.Target{Placeholder: "Mail"}, "<div id=back>"},
		{"selector", &domtapv1.Target{Selector: "#pay"}, "<div id=back>"},
		{"itself", &domtapv1.Target{Text: "Later"}, "<button>"},
	} {
		if _, err := s.try(t.Context(), click(one.target)); err == nil || !strings.Contains(err.Error(), "is inert, because "+one.by) {
			t.Errorf("%s: the error is %v", one.name, err)
		}
	}
	s.do(click(&domtapv1.Target{Text: "Go"}))
	pay := s.at("Pay")
	s.do(click(pay))
	s.do(click(&domtapv1.Target{Text: "Go"}))
	if _, err := s.try(t.Context(), click(pay)); err == nil || !strings.Contains(err.Error(), "is inert, because <div id=back>") {
		t.Errorf("by its ref: the error is %v", err)
	}
}
