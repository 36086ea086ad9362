package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// drawnCalendar opens a box with two months, whose days are boxes with cursor: pointer. The box stops the propagation of clicks, and the
// months listen for clicks on their days.
const drawnCalendar = `<!doctype html><title>Days</title><style>
.pop { display: none; position: absolute; top: 60px; z-index: 9; background: #fff; border: 1px solid } .pop.open { display: flex; gap: 20px }
.m { display: grid; grid-template-columns: repeat(7, 30px) } .m b { grid-column: 1 / -1 } .day { cursor: pointer } .open-button { cursor: pointer }
</style><span class=open-button id=opens>Arrival</span><div class=pop id=cal><div id=months></div></div>
<script>
const draw = () => months.innerHTML = ["November 2026", "December 2026"].map(m => "<div class=m><b>" + m + "</b>" + Array.from({length: 30}, (_, i) => "<div class=day>" + (i + 1) + "</div>").join("") + "</div>").join("")
opens.onclick = e => { e.stopPropagation(); cal.classList.toggle("open"); draw() }
cal.onclick = e => e.stopPropagation()
months.addEventListener("click", e => { if (e.target.className == "day") opens.textContent = e.target.textContent + " " + e.target.parentNode.firstChild.textContent })
document.addEventListener("click", () => cal.classList.remove("open"))
</script>`

// TestADrawnCalendarIsItsDays opens a calendar that is built from boxes. Its days must be listed, but neither its months nor the box, and
// the box must not be reported as a message.
func TestADrawnCalendarIsItsDays(t *testing.T) {
	s := staged(t, drawnCalendar)
	answer, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(s.at("Arrival"))}})
	if err != nil || !answer.GetResults()[0].GetOk() {
		t.Fatal(answer.GetResults(), err)
	}
	for _, o := range answer.GetOutcome() {
		if o.GetKind() == domtapv1.OutcomeKind_OUTCOME_KIND_TOAST {
			t.Errorf("the calendar is a message: %v", o)
		}
	}
	days := 0
	for _, e := range testenv.GetDom(t, s.d, s.tab).GetElements() {
		switch {
		case len(e.GetText()) <= 2:
			days++
		case e.GetText() != "Arrival" && e.GetActionable():
			t.Errorf("%v is listed", e)
		}
	}
	if days != 60 {
		t.Errorf("%d days are listed, want 60", days)
	}
}

// TestEntriesBesideAFilterAreListed opens a box that contains a field and listens for clicks on the entries below it. The entries must be
// listed, but not the box.
func TestEntriesBesideAFilterAreListed(t *testing.T) {
	s := staged(t, `<button onclick="pop.hidden = false">Add</button><div id=pop hidden><input aria-label=Filter><div>
		<div class=entry data-n=text><i></i><div>Plain text</div></div><div class=entry data-n=list><i></i><div>Bullet list</div></div></div></div>
		<script>added = ""; pop.onclick = (e) => added += e.target.closest(".entry").dataset.n</script>`)
	s.do(click(s.at("Add")))
	s.do(click(s.at("Bullet list")))
	s.is("added", "list")
	for _, e := range testenv.GetDom(t, s.d, s.tab).GetElements() {
		if strings.Contains(e.GetText(), "Plain text Bullet") {
			t.Errorf("%v is listed", e)
		}
	}
}

// TestADayIsChosenInTheTurnThatOpensItsCalendar opens the calendar and clicks a day of the second month in one turn.
func TestADayIsChosenInTheTurnThatOpensItsCalendar(t *testing.T) {
	s := staged(t, drawnCalendar)
	day := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "14", Within: "December 2026"}}}}
	answer, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(s.at("Arrival")), day}})
	if err != nil || len(answer.GetResults()) != 2 || !answer.GetResults()[1].GetOk() {
		t.Fatal(answer.GetResults(), err)
	}
	if got := s.d.All(s.tab).String(); !strings.Contains(got, "14 December 2026") {
		t.Errorf("the day was not chosen: %s", got)
	}
}

// TestAnAmbiguousDayIsNamedByItsCell clicks a number that two months have. The error lists the cells, not the texts in them, with their own
// weekdays.
func TestAnAmbiguousDayIsNamedByItsCell(t *testing.T) {
	month := func(days ...string) string {
		return "<table><tr><th>Su<th>Mo<th>Tu</tr><tr><td><div>" + strings.Join(days, "</div><td><div>") + "</div></tr></table>"
	}
	s := staged(t, month("6", "7", "8")+month("7", "8", "9")+`<script>for (const cell of document.querySelectorAll("td")) cell.onclick = () => cell.title = "clicked"</script>`)
	s.refused(click(&domtapv1.Target{Text: "7"}), "AMBIGUOUS_TARGET", `cell "7" in "Mo"`)
	s.refused(click(&domtapv1.Target{Text: "7"}), "AMBIGUOUS_TARGET", `cell "7" in "Su"`)
}
