package acting

import (
	"testing"
)

// TestTypingWithoutATargetGoesToTheFocus types into whatever has the focus, and refuses when nothing there takes text.
func TestTypingWithoutATargetGoesToTheFocus(t *testing.T) {
	s := staged(t, `<title>Focus</title><input aria-label=From><input aria-label=To><button>Go</button>
<div contenteditable=true role=textbox aria-label=Story></div>
<div id=host></div><iframe srcdoc="<input aria-label=Framed>"></iframe>
<script>host.attachShadow({mode: 'closed'}).innerHTML = '<input aria-label=Shadowed>'</script>`)
	s.refused(typing(nil, "Oslo"), "NOT_ACTIONABLE", "no element has the focus")
	for _, name := range []string{"From", "To", "Story", "Shadowed", "Framed"} {
		s.do(click(s.at(name)))
		if got, want := s.do(typing(nil, "Oslo")), `type "`+name+`": ok`; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	s.is(`[...document.querySelectorAll('input')].map(e => e.value).join() + ',' + document.querySelector('[role=textbox]').textContent`, "Oslo,Oslo,Oslo")
	s.do(key(s.at("Go"), "Shift", 0))
	s.refused(typing(nil, "Oslo"), "NOT_ACTIONABLE")
}
