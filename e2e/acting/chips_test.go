package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// chipLists holds multiple choices whose chips are drawn again after each choice: one that offers only what is not chosen yet and closes, and
// one that offers all options, marks none, and stays open. The list of the third hides the rest of the page while it is open.
const chipLists = `<style>[hidden] { display: none } .o { cursor: pointer }</style>
<label for=a>Fruits</label><div><span id=ac></span><input id=a role=combobox aria-expanded=false autocomplete=off></div><div id=al></div>
<p><label for=b>Colours</label><div><span id=bc></span><input id=b role=combobox aria-expanded=false readonly></div><div id=bl></div>
<p><div id=rest><span id=ln>Sizes</span><div id=c role=combobox tabindex=0 aria-expanded=false aria-labelledby=ln>S</div></div><ul role=listbox aria-multiselectable=true aria-labelledby=ln id=cl hidden tabindex=0></ul>
<p><label for=d>Marked</label><div><span id=dc></span><input id=d role=combobox aria-expanded=false readonly></div><div id=dl></div>
<script>
all = ["Apple", "Banana", "Cherry"]; fruits = ["Banana"]; colours = ["Red"]; sizes = ["S"]
const button = (n) => "<b>" + n + "</b><button aria-label='Remove " + n + "'>×</button>"
function drawA(on) { ac.innerHTML = fruits.map(button).join(""); a.setAttribute("aria-expanded", on); al.innerHTML = on ? "<div role=listbox>" + all.filter((n) => !fruits.includes(n) && n.startsWith(a.value)).map((n) => "<div role=option>" + n + "</div>").join("") + "</div>" : "" }
a.onclick = () => drawA(true); a.oninput = () => drawA(true); a.onkeydown = (e) => { if (e.key === "Escape") { a.value = ""; drawA(false) } }
al.onclick = (e) => { if (e.target.role === "option") { fruits.push(e.target.textContent); a.value = ""; drawA(false) } }
ac.onclick = (e) => { fruits = fruits.filter((n) => "Remove " + n !== e.target.ariaLabel); drawA(false) }
function drawB(on) { bc.innerHTML = colours.map((n) => "<i>" + n + "</i>").join(" "); b.setAttribute("aria-expanded", on); bl.innerHTML = on ? ["Red", "Blue"].map((n) => "<div class=o>" + n + "</div>").join("") : "" }
b.onclick = () => drawB(true); b.onkeydown = (e) => { if (e.key === "Escape") drawB(false) }
bl.onclick = (e) => { const n = e.target.textContent; colours = colours.includes(n) ? colours.filter((c) => c !== n) : [...colours, n]; drawB(true) }
marked = ["Pear"]
function drawD(on) { dc.innerHTML = marked.map(button).join(""); d.setAttribute("aria-expanded", on); dl.innerHTML = on ? "<div role=listbox>" + ["Pear", "Plum"].map((n) => "<div role=option aria-selected=" + marked.includes(n) + ">" + n + "</div>").join("") + "</div>" : "" }
d.onclick = () => drawD(true); d.onkeydown = (e) => { if (e.key === "Escape") drawD(false) }
dl.onclick = (e) => { const n = e.target.textContent; marked = marked.includes(n) ? marked.filter((c) => c !== n) : [...marked, n]; drawD(true) }
function drawC(on) { c.textContent = sizes.join(", "); c.setAttribute("aria-expanded", on); cl.hidden = !on; rest.toggleAttribute("inert", on); cl.innerHTML = ["S", "M", "L"].map((n) => "<li role=option aria-selected=" + sizes.includes(n) + ">" + n).join(""); if (on) cl.focus() }
c.onclick = () => drawC(true); cl.onkeydown = (e) => { if (e.key === "Escape") drawC(false) }
cl.onclick = (e) => { const n = e.target.textContent; sizes = sizes.includes(n) ? sizes.filter((s) => s !== n) : [...sizes, n]; drawC(true) }
drawA(false); drawB(false); drawD(false)
</script>`

// TestSelectInListsWithChips selects options that the field already shows, options that the list does not offer any more, and removes others.
func TestSelectInListsWithChips(t *testing.T) {
	s := staged(t, chipLists)
	for _, c := range []struct {
		field  string
		values []string
		says   string
	}{
		{"Fruits", []string{"Cherry", "Banana"}, ": ok"},
		{"Fruits", []string{"Banana", "Cherry"}, ": ok"},
		{"Fruits", []string{"Apple", "Cherry"}, `: ok, and deselected "Banana"`},
		{"Colours", []string{"Blue", "Red"}, ": ok"},
		{"Marked", []string{"Plum", "Pear"}, ": ok"},
		{"Sizes", []string{"M", "L"}, `: ok, and deselected "S"`},
	} {
		if said := s.do(selecting(&domtapv1.Target{Label: c.field}, c.values...)); !strings.HasSuffix(said, c.says) {
			t.Errorf("%s: %s", c.field, said)
		}
	}
	s.is(`[fruits.toSorted().join(), colours.toSorted().join(), marked.toSorted().join(), sizes.toSorted().join(), cl.hidden].join("|")`, "Apple,Cherry|Blue,Red|Pear,Plum|L,M|true")
}

// TestSelectWaitsForAListThatLoads selects an option of a list that was opened before the step and is still empty. Escape would close the
// dialog around it. The label means the field, although the list has the same name.
func TestSelectWaitsForAListThatLoads(t *testing.T) {
	s := staged(t, `<div role=dialog aria-label=Trip onkeydown="if (event.key === 'Escape') this.remove()"><span id=l>City</span>
		<button id=city role=combobox aria-expanded=false aria-labelledby=l>none</button><ul role=listbox aria-labelledby=l id=list></ul></div>
		<script>city.onclick = () => { city.ariaExpanded = "true"; list.innerHTML = "Loading…"; setTimeout(() => { list.innerHTML = "<li role=option>Rome<li role=option>Oslo" }, 900) }
		list.onclick = (e) => { city.textContent = e.target.textContent; city.ariaExpanded = "false"; list.innerHTML = "" }</script>`)
	s.eval("city.click()")
	s.do(selecting(&domtapv1.Target{Label: "City"}, "Oslo"))
	s.is("city.textContent", "Oslo")
}

// TestSelectReportsChipsThatStay selects one option of a list whose page ignores the clicks that remove the other, and removes no chip twice.
func TestSelectReportsChipsThatStay(t *testing.T) {
	s := staged(t, `<label for=a>Sizes</label><div><span id=chips>Small <button aria-label="Remove Small">×</button> Large <button aria-label="Remove Large">×</button>
		<button aria-label="Remove all">×</button></span><input id=a role=combobox aria-expanded=false></div>
		<script>clicks = []; chips.onclick = (e) => clicks.push(e.target.ariaLabel)</script>`)
	if r, err := s.try(t.Context(), selecting(&domtapv1.Target{Label: "Sizes"}, "Large")); err != nil || !strings.Contains(r.GetError(), `"Small" is still selected`) {
		t.Errorf("%v, %v", r, err)
	}
	s.is("clicks.join()", "Remove Small")
}
