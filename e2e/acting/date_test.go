package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// sectioned holds date fields whose parts are spin buttons, as UI libraries build them. The sections of the first take keys themselves.
// The parts of the second field are re-rendered after each key, and lose keys that arrive before that. They show the name of the month, and
// appear only after a click on the group. The last ones take nothing.
const sectioned = `<style>[role=spinbutton] { padding: 2px; border: 1px solid }</style><div id=page></div><p>Starts soon</p>
<script>
const model = {}
const limits = { month: 12, day: 31, year: 9999, hour: 12, minute: 59 }
function section(field, part, called, take) {
  const el = document.createElement("span")
  Object.assign(el, { role: "spinbutton", tabIndex: 0, contentEditable: "true" })
  el.setAttribute("aria-label", called); el.setAttribute("aria-valuetext", "Empty"); el.textContent = part
  el.onbeforeinput = (e) => e.preventDefault()
  el.onfocus = () => el.typed = ""
  el.onkeydown = (e) => { if (e.key.length === 1) { e.preventDefault(); take(el, e.key, (value, text) => {
    (model[field] ||= {})[part] = value; el.textContent = text; el.setAttribute("aria-valuetext", text) }) } }
  return el
}
function group(name, ...sections) {
  const el = document.createElement("div")
  el.role = "group"; el.setAttribute("aria-label", name); el.append(...sections); page.append(el); return el
}
// keys takes keys at once, and moves on when no further digit fits.
const keys = (part, next) => (el, key, set) => {
  if (part === "half") return /[ap]/i.test(key) && set(key.toUpperCase() + "M", key.toUpperCase() + "M")
  if (!/\d/.test(key)) return
  el.typed = (+(el.typed + key) <= limits[part] ? el.typed : "") + key
  set(+el.typed, part === "month" ? +el.typed + " – month" : el.typed)
  if (el.typed * 10 > limits[part] || el.typed.length === String(limits[part]).length) { const to = next && next(); if (to) to.focus() }
}
function date(field, label, parts) {
  const all = []
  parts.forEach((part, i) => all.push(section(field, part, (part === "half" ? "AM/PM" : part) + ", " + label, keys(part, () => all[i + 1]))))
  return all
}
group("Due", ...date("due", "Due", ["month", "day", "year"]))
group("Alarm", ...date("alarm", "Alarm", ["hour", "minute", "half"]))
group("Stay", group("", ...date("from", "Start Date, Stay", ["day", "month", "year"])), " to ", group("", ...date("to", "End Date, Stay", ["day", "month", "year"])))
// slow draws the section a frame after the key, and loses a key that comes earlier.
const slow = (part) => (el, key, set) => {
  if (el.busy || !/\d/.test(key)) return
  el.busy = true
  requestAnimationFrame(() => { el.busy = false; el.typed += key; set(+el.typed, part === "month" ? ["", "January", "February", "March"][+el.typed] || "?" : el.typed) })
}
const start = group("Start"), inner = start.appendChild(document.createElement("div"))
inner.role = "group"; inner.ariaLabel = "Start"; inner.style = "min-height: 20px; border: 1px solid"
page.insertAdjacentHTML("beforeend", "<label for=raw>Start</label><input id=raw style='opacity:0;width:0;height:0;border:0;padding:0'>")
start.onclick = () => inner.children.length || inner.append(...["month", "day", "year"].map((part) => section("start", part, part[0].toUpperCase() + part.slice(1), slow(part))))
group("Fixed", ...["month", "day", "year"].map((part) => section("fixed", part, part + ", Fixed", () => {})))
const held = (field) => Object.values(model[field] || {}).join("-")
</script>`

// TestFillEntersWholeDates fills date fields that consist of sections with a whole date, and a range with two.
func TestFillEntersWholeDates(t *testing.T) {
	s := staged(t, sectioned)
	label := func(words string) *domtapv1.Target { return &domtapv1.Target{Label: words} }
	for _, c := range []struct{ label, value, field, held string }{
		{"Due", "2026-03-14", "due", "3-14-2026"},
		{"Due", "31 December 2027", "due", "12-31-2027"},
		{"Due", "5/6/2028", "due", "5-6-2028"}, // in the order of the sections
		{"Alarm", "19:05", "alarm", "7-5-PM"},
		{"Stay", "2026-12-31 - 2027-01-02", "to", "2-1-2027"},
		{"Start", "2026-03-14", "start", "3-14-2026"},
	} {
		if said := s.do(fill(label(c.label), c.value)); said != `fill "`+c.label+`": ok` {
			t.Errorf("filling %s with %s says %s", c.label, c.value, said)
		}
		s.is("held('"+c.field+"')", c.held)
	}
	s.is("held('from') + raw.value", "31-12-2026")
	form := &domtapv1.FillFormRequest{TabId: s.tab, Fields: []*domtapv1.FormField{{Label: "Start", Value: "2026-01-02"}}}
	if _, err := s.d.Actions.FillForm(t.Context(), form); err != nil {
		t.Error(err)
	}
	s.is("held('start') + held('from')", "1-2-202631-12-2026") // not the field "Start Date, Stay"
	s.do(typing(s.at("month, Due"), "08"))                     // the section shows "8 – month"
	s.do(typing(s.at("month, Due"), "05"))
	s.refused(fill(label("Due"), "soon"), "INVALID", "write a date as 2026-03-14")
	s.refused(fill(label("Alarm"), "25:00"), "INVALID", "write a date as 2026-03-14")
	s.refused(fill(label("Stay"), "2026-12-31"), "INVALID", "sections for 2 dates")
	if r, err := s.try(t.Context(), fill(label("Fixed"), "2026-03-14")); err != nil || r.GetOk() || !strings.Contains(r.GetError(), "did not accept") {
		t.Errorf("a field that takes nothing: %v, %v", r, err)
	}
	s.is("held('due') + held('fixed')", "5-6-2028")
}

// calendars holds read-only fields that open calendars: one of a table of numbers, one whose days have whole dates as names and whose choice
// must be confirmed, one whose days do nothing, and a field that opens nothing.
const calendars = `<style>[hidden] { display: none }</style>
<label>Leave <input readonly id=leave></label> <label>Back <input readonly id=back></label> <label>Dead <input readonly id=dead></label> <label>Code <input readonly id=code></label>
<p>Invoices of <b>January 2026</b>, sent on <a href=#sent onclick="pop.innerHTML = '<i>wrong</i>'">November 7, 2026</a></p>
<div id=pop></div>
<script>
const months = ["January","February","March","April","May","June","July","August","September","October","November","December"]
function open(field, { named, confirm, deaf }) {
  let year = 2026, month = 10, picked = ""
  const draw = () => {
    const days = new Date(year, month + 1, 0).getDate(), before = new Date(year, month, 1).getDay(), cells = []
    for (let i = 0; i < before; i++) cells.push('<span class=other>' + (31 - before + i + 1) + '</span>')
    for (let d = 1; d <= days; d++) cells.push(d === 5 && !named ? '<button disabled>5</button>' : named ? '<button aria-label="' + months[month] + ' ' + d + ', ' + year + '">' + d + '</button>' : '<a href=#>' + d + '</a>')
    for (let i = 1; i < 8; i++) cells.push('<span class=other>' + i + '</span>')
    pop.innerHTML = '<div><button title="Previous year">«</button><button>‹</button><b>' + months[month] + '</b>' + (named ? '<select>' + [year - 30, year - 1, year, year + 1].map((y) => "<option" + (y === year ? " selected" : "") + ">" + y).join("") + '</select>' : '<b>' + year + '</b>') + '<button>›</button><button title="Next year">»</button></div><table><tr>' +
      cells.map((c, i) => (i % 7 ? "" : "<tr>") + "<td>" + c).join("") + "</table>" + (confirm ? "<button>OK</button>" : "")
  }
  pop.onclick = (e) => {
    const text = e.target.textContent, by = { "‹": -1, "›": 1, "«": -12, "»": 12 }[text]
    if (by) { month += by; year += Math.floor(month / 12); month = (month + 12) % 12; return draw() }
    if (deaf) return
    if (text === "OK") { field.value = picked; pop.innerHTML = "" }
    if (!/^\d+$/.test(text) || e.target.className === "other") return
    picked = String(month + 1).padStart(2, "0") + "/" + text.padStart(2, "0") + "/" + year
    if (!confirm) { field.value = picked; pop.innerHTML = "" }
  }
  pop.onchange = (e) => { year = +e.target.value; draw() }
  draw()
}
leave.onclick = () => open(leave, {}); back.onclick = () => open(back, { named: true, confirm: true }); dead.onclick = () => open(dead, { deaf: true })
</script>`

// TestFillChoosesInCalendars fills read-only fields with dates by the calendars that they open.
func TestFillChoosesInCalendars(t *testing.T) {
	s := staged(t, calendars)
	label := func(words string) *domtapv1.Target { return &domtapv1.Target{Label: words} }
	for _, c := range []struct{ label, value, want string }{
		{"Leave", "2026-11-07", "11/07/2026"},
		{"Leave", "2027-02-01", "02/01/2027"},
		{"Leave", "30 September 2026", "09/30/2026"},
		{"Back", "2026-12-31", "12/31/2026"},
		{"Back", "1996-10-05", "10/05/1996"},
	} {
		if said := s.do(fill(label(c.label), c.value)); said != `fill "`+c.label+`": ok, holds "`+c.want+`"` {
			t.Errorf("filling %s with %s says %s", c.label, c.value, said)
		}
		s.is(strings.ToLower(c.label)+".value", c.want)
	}
	if r, err := s.try(t.Context(), fill(label("Dead"), "2026-11-07")); err != nil || r.GetOk() || !strings.Contains(r.GetError(), "the field holds") {
		t.Errorf("a calendar whose days do nothing: %v, %v", r, err)
	}
	if r, err := s.try(t.Context(), fill(label("Code"), "2026-11-07")); err != nil || r.GetDelivered() != part || !strings.Contains(r.GetError(), "read-only") {
		t.Errorf("a field that opens nothing: %v, %v", r, err)
	}
	s.refused(fill(label("Leave"), "soon"), "NOT_ACTIONABLE", "read-only")
	s.is("dead.value + code.value", "")
}

// leftDates holds fields that open a calendar while a date is typed, and accept the date only when they lose the focus. The two dates of a
// range are dropped unless both are there. Day shows the day under the pointer until then. Due takes a date only with Enter.
const leftDates = `<label>Start <input id=start></label> <label>End <input id=end></label> <label>Day <input id=day></label> <label>Due <input id=due value=2026-03-14></label><div id=pop></div><script>
taken = {}
due.oninput = () => { pop.innerHTML = Array.from({ length: 30 }, (_, i) => "<button>" + (i + 1) + "</button>").join("") }
due.onkeydown = (e) => { if (e.key === "Enter") taken.due = due.value }
due.onblur = () => { pop.innerHTML = ""; due.value = taken.due || "2026-03-14" }
for (const field of [start, end, day]) {
  field.oninput = () => { pop.innerHTML = Array.from({ length: 30 }, (_, i) => "<button>" + (i + 1) + "</button>").join(""); field.typed = field.value; if (field === day) field.value = "2027-03-09" }
  field.onblur = () => { pop.innerHTML = ""; if (field === day) { field.value = taken.day = field.typed; return }
    if (start.value && end.value) taken.trip = start.value + "/" + end.value; else if (field.value) setTimeout(() => field.value = document.activeElement === start || document.activeElement === end ? field.value : "", 0) }
}
</script>`

// TestADateIsTakenWhenTheFocusLeaves fills fields in which the page accepts or drops a date when the field loses the focus. The answer must
// state what the field holds after that, and a dropped date must not prevent the other date of its range.
func TestADateIsTakenWhenTheFocusLeaves(t *testing.T) {
	s := staged(t, leftDates)
	label := func(words string) *domtapv1.Target { return &domtapv1.Target{Label: words} }
	if said := s.do(fill(label("Day"), "2027-02-03")); said != `fill "Day": ok` {
		t.Errorf("a date that is taken: %s", said)
	}
	if said := s.do(fill(label("End"), "2027-04-07")); !strings.Contains(said, "the other date of its range is empty") {
		t.Errorf("the second date of an empty range: %s", said)
	}
	if said := s.do(fill(label("Due"), "2026-05-01")); !strings.Contains(said, "drops it when the focus leaves") {
		t.Errorf("a date that needs Enter: %s", said)
	}
	if _, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{fill(label("Due"), "2026-05-01"), key(nil, "Enter", 1)}}); err != nil {
		t.Error(err)
	}
	s.is("taken.due", "2026-05-01")
	s.do(fill(label("Start"), "2027-03-05"))
	s.do(fill(label("End"), "2027-04-07"))
	s.is("taken.day + ' ' + taken.trip", "2027-02-03 2027-03-05/2027-04-07")
}
