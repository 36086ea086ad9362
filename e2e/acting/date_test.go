package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// sectioned holds date fields whose parts are spin buttons, as UI libraries build them. The sections of the first take keys themselves.
// Those of the second are drawn anew after each key, and lose keys that come before. They show the name of the month, and appear only after
// a click on the group. The last ones take nothing.
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
	s.do(typing(s.at("month, Due"), "08")) // the section shows "8 – month"
	s.do(typing(s.at("month, Due"), "05"))
	s.refused(fill(label("Due"), "soon"), "INVALID", "write a date as 2026-03-14")
	s.refused(fill(label("Alarm"), "25:00"), "INVALID", "write a date as 2026-03-14")
	s.refused(fill(label("Stay"), "2026-12-31"), "INVALID", "sections for 2 dates")
	if r, err := s.try(t.Context(), fill(label("Fixed"), "2026-03-14")); err != nil || r.GetOk() || !strings.Contains(r.GetError(), "did not accept") {
		t.Errorf("a field that takes nothing: %v, %v", r, err)
	}
	s.is("held('due') + held('fixed')", "5-6-2028")
}
