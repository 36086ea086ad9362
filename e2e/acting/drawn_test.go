package acting

import (
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// drawnLists holds lists of options in the way that UI libraries build them.
const drawnLists = `<style>[role=listbox] { list-style: none; margin: 0; padding: 0; max-height: 120px; overflow: auto; border: 1px solid } [hidden] { display: none }</style>
<span id=ls>Size</span> <button id=size role=combobox aria-haspopup=listbox aria-expanded=false aria-labelledby=ls>Small</button>
<ul role=listbox hidden id=sizes><li role=option aria-selected=true>Small<li role=option aria-selected=false>Large<li role=option aria-selected=false>Extra large</ul>
<p><label for=city>City</label> <input id=city role=combobox aria-expanded=false aria-autocomplete=list><div id=cities></div>
<p><span id=lf>Fruit</span> <button id=fruit aria-haspopup=listbox aria-expanded=false aria-labelledby="lf fruit">Pear</button>
<ul role=listbox aria-multiselectable=true hidden id=fruits><li role=option aria-selected=false>Apple<li role=option aria-selected=true>Pear<li role=option aria-selected=false>Plum</ul>
<p><span id=ln>Number</span> <button id=num role=combobox aria-haspopup=listbox aria-expanded=false aria-labelledby=ln>none</button>
<div role=listbox hidden id=nums style="height:120px"><div id=tall style="position:relative;height:10000px"></div></div>
<p><ul role=listbox aria-label=Colour id=colours><li role=option aria-selected=false tabindex=0>Red<li role=option aria-selected=false tabindex=0>Green</ul>
<p><label>Plain <input id=plain></label><button id=delete>Delete</button>
<script>
const toggle = (button, list, on) => { list.hidden = !on; button.setAttribute("aria-expanded", on) }
const single = (button, list) => { button.onclick = () => toggle(button, list, list.hidden); list.onclick = (e) => { if (e.target.role !== "option") return
  for (const o of list.querySelectorAll("[role=option]")) o.setAttribute("aria-selected", o === e.target); button.textContent = e.target.textContent; toggle(button, list, false) } }
single(size, sizes); single(num, nums)
fruit.onclick = () => toggle(fruit, fruits, fruits.hidden); fruit.onkeydown = (e) => { if (e.key === "Escape") toggle(fruit, fruits, false) }
fruits.onclick = (e) => { e.target.setAttribute("aria-selected", e.target.getAttribute("aria-selected") !== "true"); fruit.textContent = [...fruits.querySelectorAll("[aria-selected=true]")].map((o) => o.textContent).join(", ") || "none" }
nums.onscroll = () => { const from = Math.floor(nums.scrollTop / 20); tall.replaceChildren(...Array.from({ length: 8 }, (_, i) => { const o = document.createElement("div"); o.role = "option"; o.textContent = "No. " + (from + i); o.style = "position:absolute;height:20px;top:" + (from + i) * 20 + "px"; return o })) }
num.addEventListener("click", nums.onscroll)
colours.onclick = (e) => { for (const o of colours.children) o.setAttribute("aria-selected", o === e.target) }
city.oninput = () => { city.setAttribute("aria-expanded", true); cities.textContent = "Loading"; setTimeout(() => { cities.innerHTML = "<ul role=listbox>" + ["Lima", "Lisbon", "Lisbon (Ohio)"].filter((c) => c.includes(city.value)).map((c) => "<li role=option>" + c).join("") + "</ul>" }, 700) }
cities.onclick = (e) => { city.value = e.target.textContent; city.chosen = true; cities.textContent = ""; city.setAttribute("aria-expanded", false) }
del = 0; document.getElementById("delete").onclick = () => del++
</script>`

// TestSelectChoosesInDrawnLists chooses options of custom lists: of a button, of a text field with late options, in a virtual list further
// down, in a list that is open already, and several at once.
func TestSelectChoosesInDrawnLists(t *testing.T) {
	s := staged(t, drawnLists)
	label := func(words string) *domtapv1.Target { return &domtapv1.Target{Label: words} }
	s.do(selecting(label("Size"), "Large"))
	if said := s.do(selecting(label("City"), "Lisbon")); said != `select "City": ok` {
		t.Errorf("the answer is %s", said)
	}
	s.do(selecting(label("Number"), "No. 60"))
	s.do(selecting(label("Colour"), "Green"))
	s.is(`[size.textContent, city.value + city.chosen, num.textContent, colours.querySelector("[aria-selected=true]").textContent].join()`, "Large,Lisbontrue,No. 60,Green")
	s.do(selecting(label("Fruit"), "Apple", "Plum"))
	s.is("fruit.textContent + fruits.hidden", "Apple, Plumtrue")
	s.do(selecting(s.at("Fruit Apple, Plum"), "Apple"))
	s.is("fruit.textContent", "Apple")
	s.do(selecting(label("Size"), "Extra"))
	if said := s.do(selecting(label("Size"), "Extra large")); !strings.Contains(said, "ok") {
		t.Errorf("what is chosen is chosen again: %s", said)
	}
	s.is("size.textContent", "Extra large")
	s.refused(selecting(label("Plain"), "x"), "NOT_ACTIONABLE", "not a select")
	s.refused(selecting(s.at("Delete"), "x"), "NOT_ACTIONABLE", "not a select")
	if r, err := s.try(t.Context(), selecting(label("Size"), "Medium")); err != nil || r.GetOk() || !strings.Contains(r.GetError(), `has no option "Medium"; it has: [`) {
		t.Errorf("an option that is not offered: %v, %v", r, err)
	}
	s.is("del + plain.value", "0")
}

// boxedSelects holds lists whose field accepts no clicks because it is outside of the page or lets them through, lists that show the choice
// beside the field, and lists that mark the option at the keyboard cursor as selected.
const boxedSelects = `<style>[hidden] { display: none } .box { border: 1px solid; width: 300px; padding: 4px; cursor: pointer }</style>
<label for=n>Choice</label><div class=box role=combobox tabindex=0 id=around aria-expanded=false><select id=n hidden><option>Rome</select><div id=one>Rome</div></div><div role=listbox hidden id=l1><div role=option>Rome</div><div role=option>Oslo</div></div>
<p><label for=off>Tags</label><div class=box id=box><span id=chips></span><input id=off role=combobox aria-expanded=false style="position:absolute;left:-9999px"></div><div role=listbox aria-multiselectable=true hidden id=l2><div role=option aria-selected=true>Red</div><div role=option aria-selected=false>Blue</div></div>
<p><label for=thru>Town</label><div style="border:1px solid"><i id=shown>none</i><input id=thru role=combobox aria-expanded=false readonly style="pointer-events:none"></div><div hidden id=l3><div class=o style="cursor:pointer">Bonn</div><div class=o style="cursor:pointer">Lima</div></div>
<script>
around.onclick = () => l1.hidden = false; l1.onclick = (e) => { one.textContent = e.target.textContent; l1.hidden = true }
const set = (on) => { l2.hidden = !on; off.setAttribute("aria-expanded", on) }
box.onclick = () => { off.focus({ preventScroll: true }); set(true) }; off.onkeydown = (e) => { if (e.key === "Escape" || e.key === "ArrowDown") set(e.key === "ArrowDown") }
l2.onclick = (e) => { chips.append(Object.assign(document.createElement("b"), { textContent: e.target.textContent + " " })); e.target.remove() }
thru.onkeydown = (e) => { if (e.key === "ArrowDown") l3.hidden = false }; l3.onclick = (e) => { shown.textContent = e.target.textContent; l3.hidden = true }
</script>`

// TestSelectChoosesInBoxes chooses in lists where a user clicks something other than the field.
func TestSelectChoosesInBoxes(t *testing.T) {
	s := staged(t, boxedSelects)
	for label, values := range map[string][]string{"Choice": {"Oslo"}, "Tags": {"Red", "Blue"}, "Town": {"Lima"}} {
		if said := s.do(selecting(&domtapv1.Target{Label: label}, values...)); !strings.HasSuffix(said, ": ok") {
			t.Errorf("%s: %s", label, said)
		}
	}
	s.is("one.textContent + chips.textContent + shown.textContent", "OsloRed Blue Lima")
}

// TestFillEntersACodeInItsFields fills the one-character fields of a code by the name of their group.
func TestFillEntersACodeInItsFields(t *testing.T) {
	s := staged(t, `<fieldset><legend>Code</legend>`+strings.Repeat(`<input maxlength=1 inputmode=numeric>`, 6)+`</fieldset>
		<div role=radiogroup aria-label=Rating><button role=radio aria-checked=false aria-label="1 star">☆</button><button role=radio aria-checked=false aria-label="2 stars">☆</button></div>
		<script>code = () => [...document.querySelectorAll("input")].map((i) => i.value).join(""); for (const r of document.querySelectorAll("[role=radio]")) r.onclick = () => r.ariaChecked = "true"</script>`)
	s.do(fill(&domtapv1.Target{Label: "Code"}, "123 456"))
	s.is("code()", "123456")
	s.do(fill(&domtapv1.Target{Label: "Rating"}, "2"))
	s.is("document.querySelectorAll('[aria-checked=true]').length + document.querySelector('[aria-checked=true]').ariaLabel", "12 stars")
}

// togglingList is a multiple choice whose options have no role and no state: a click on a chosen one removes it. Only the chips show what is
// chosen. The list stays open.
const togglingList = `<style>[hidden] { display: none } .o, .box { cursor: pointer } .chip { padding: 0 4px; margin: 2px }</style>
<label for=fr>Fruits</label><div class=box id=box><span id=chips></span><input id=fr role=combobox aria-expanded=false readonly></div>
<p>Below</p><div id=pop hidden></div>
<script>
chosen = []; const open = (on) => { pop.hidden = !on; fr.setAttribute("aria-expanded", on); pop.innerHTML = on ? ["Apple", "Banana", "Cherry"].map((n) => "<div class=o><div>" + n + "</div></div>").join("") : "" }
box.onclick = () => open(pop.hidden); fr.onkeydown = (e) => { if (e.key === "Escape") open(false) }
pop.onclick = (e) => { const n = e.target.textContent; chosen = chosen.includes(n) ? chosen.filter((c) => c !== n) : [...chosen, n]
  chips.innerHTML = chosen.map((c) => "<span class=chip>" + c + "</span>").join("") }

</script>`

// TestSelectKeepsWhatIsChosen selects options of a multiple choice again, while its list is open and while it is closed. The first click on
// a chosen option deselects it, so the answer must not leave it that way.
func TestSelectKeepsWhatIsChosen(t *testing.T) {
	s := staged(t, togglingList)
	fruits := &domtapv1.Target{Label: "Fruits"}
	for _, values := range [][]string{{"Banana"}, {"Banana"}, {"Banana", "Cherry"}, {"Banana", "Cherry"}} {
		if said := s.do(selecting(fruits, values...)); !strings.HasSuffix(said, ": ok") {
			t.Errorf("select %q: %s", values, said)
		}
		want := slices.Sorted(slices.Values(values))
		s.is("chosen.toSorted().join()", strings.Join(want, ","))
	}
}
