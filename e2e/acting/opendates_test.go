package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// openDate is a date field whose calendar stays open when the focus leaves it. The field takes its text when Enter closes the calendar, and
// takes only one format.
const openDate = `<label for=day>Day</label> <input id=day role=combobox aria-expanded=false> <button>Next</button><div id=days></div>
<script>
taken = ""
day.oninput = () => { day.ariaExpanded = "true"; days.innerHTML = Array.from({ length: 31 }, (_, i) => "<button tabindex=-1>" + (i + 1) + "</button>").join("") }
day.onkeydown = (e) => {
  if (e.key !== "Enter") return
  day.ariaExpanded = "false"; days.innerHTML = ""
  const fits = /^\d\d\d\d\/\d\d\/\d\d$/.test(day.value)
  taken = fits ? day.value : ""; day.ariaInvalid = String(!fits)
}
</script>`

// TestADateIsEnteredWhileItsCalendarStaysOpen fills in dates in the format that the field takes, and in another.
func TestADateIsEnteredWhileItsCalendarStaysOpen(t *testing.T) {
	s := staged(t, openDate)
	day := &domtapv1.Target{Label: "Day"}
	if said := s.do(fill(day, "2026/12/05")); said != `fill "Day": ok` {
		t.Error(said)
	}
	s.is("taken + day.ariaExpanded", "2026/12/05false")
	for _, date := range []string{"2026-12-06", "2026-12-07"} { // the field is already invalid before the second one
		if said := s.do(fill(day, date)); !strings.HasPrefix(said, `fill "Day": ok, but the page marks it as invalid`) {
			t.Error(said)
		}
	}
}
