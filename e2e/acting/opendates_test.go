package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// openDate is a date field whose calendar stays open when the focus leaves it. The field takes its text when Enter closes the calendar.
const openDate = `<label for=day>Day</label> <input id=day role=combobox aria-expanded=false> <button>Next</button><div id=days></div>
<script>
taken = ""
day.oninput = () => { day.ariaExpanded = "true"; days.innerHTML = Array.from({ length: 31 }, (_, i) => "<button tabindex=-1>" + (i + 1) + "</button>").join("") }
day.onkeydown = (e) => {
  if (e.key !== "Enter") return
  day.ariaExpanded = "false"; days.innerHTML = ""
  taken = day.value; e.preventDefault()
}
</script>`

// TestADateWhoseCalendarStaysOpenIsNotEntered fills in a date in a form. Enter would make the field take the date, but it would submit the
// form of a page that does not handle it, so the answer leaves it to the client.
func TestADateWhoseCalendarStaysOpenIsNotEntered(t *testing.T) {
	s := staged(t, "<form onsubmit=\"sent++; return false\">"+openDate+"</form><script>sent = 0</script>")
	day := &domtapv1.Target{Label: "Day"}
	if said := s.do(fill(day, "2026/12/05")); !strings.HasPrefix(said, `fill "Day": ok, but its calendar stays open: press Enter in it`) {
		t.Error(said)
	}
	s.is("sent + day.value", "02026/12/05")
	s.do(key(day, "Enter", 0))
	s.is("taken", "2026/12/05")
	s.is(`day.ariaInvalid = "true"`, "true")
	if said := s.do(fill(day, "2026-12-07")); !strings.HasPrefix(said, `fill "Day": ok, but the page marks it as invalid`) {
		t.Error(said)
	}
}
