package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// dateRange holds the two fields of a range of dates. They open a calendar, and drop their texts when the focus leaves them both while one is
// missing. "Start" is also a part of another field's name.
const dateRange = `<label>Start value <input id=other></label><label for=from>Stay</label><input id=from placeholder=Start><input id=to placeholder="End date">
<div id=days></div><button>Next</button><script>
stay = ""; for (const field of [from, to]) { field.onfocus = () => days.innerHTML = Array.from({ length: 31 }, (_, i) => "<button tabindex=-1>" + (i + 1) + "</button>").join("")
  field.onblur = (e) => { if (e.relatedTarget === from || e.relatedTarget === to) return; days.innerHTML = ""; if (from.value && to.value) stay = from.value + "/" + to.value; else from.value = to.value = "" } }</script>`

// TestRangesOfDates fills both fields of a range with one value, one after the other, and one alone, which is no complete range.
func TestRangesOfDates(t *testing.T) {
	s := staged(t, dateRange)
	if said := s.do(fill(&domtapv1.Target{Label: "Stay"}, "2027-02-01 - 2027-02-05")); !strings.HasSuffix(said, `: ok, the fields of the range hold "2027-02-01" and "2027-02-05"`) {
		t.Error(said)
	}
	s.is("stay", "2027-02-01/2027-02-05")
	s.eval("stay = from.value = to.value = ''")
	if r := s.form(false, fields("Start", "2027-03-01", "End date", "2027-03-05")...); strings.Contains(said(r), "but") {
		t.Error(said(r))
	}
	s.is("stay + other.value", "2027-03-01/2027-03-05")
	s.eval("stay = from.value = to.value = ''")
	if said := s.do(fill(&domtapv1.Target{Label: "End date"}, "2027-04-05")); !strings.HasSuffix(said, `: ok, but the other date of its range is empty: fill textbox "Stay"`) {
		t.Error(said)
	}
	s.is("to.value", "2027-04-05")
}
