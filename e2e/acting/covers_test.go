package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestTextOfASlotIsPressed clicks by a text that a shadow tree draws. The hit test returns the host, although the press reaches an element
// in the shadow tree. If something else covers the text, the click is refused.
func TestTextOfASlotIsPressed(t *testing.T) {
	s := staged(t, `<p id=out></p><x-item>Fruit</x-item><x-item>Nuts</x-item><x-outer>Nested</x-outer><div style="position:relative"><x-item>Below</x-item><i style="position:absolute;inset:0"></i></div>
		<script>
			const define = (name, tree) => customElements.define(name, class extends HTMLElement {
				constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = tree; this.tabIndex = -1; this.onclick = () => out.append(this.textContent + ";") }
			})
			define("x-item", "<style>:host { display: block; position: relative }</style><div><div style='padding:10px'><slot></slot></div></div>")
			define("x-outer", "<x-item><slot></slot></x-item>")
		</script>`)
	for _, text := range []string{"Nuts", "Fruit"} {
		s.do(click(&domtapv1.Target{Text: text}))
	}
	s.is("out.textContent", "Nuts;Fruit;")
	s.eval(`out.textContent = ""`)
	s.do(click(&domtapv1.Target{Text: "Nested"}))
	s.is("out.textContent", ";Nested;") // the inner host has no text
	s.refused(click(&domtapv1.Target{Text: "Below"}), "NOT_ACTIONABLE", "covered by")
}

// TestFieldsAreUsedThroughTheirFaces uses transparent fields by the text of the elements drawn in their place.
func TestFieldsAreUsedThroughTheirFaces(t *testing.T) {
	s := staged(t, `<style>.box { position: relative; width: 300px; border: 1px solid } .content { opacity: 0 } .box:focus-within .content { opacity: 1 }
			.content input { border: 0; background: none; outline: none; width: 100% } .label { position: absolute; pointer-events: none } .l { position: relative; width: 90px }
			.l select { opacity: 0; position: absolute; inset: 0 } .s { position: absolute; inset: 0; width: 100%; margin: 0; opacity: 0; pointer-events: none } .s::-webkit-slider-thumb { pointer-events: auto }</style>
		<div class=box><div class=label>Full name</div><div class=content><div><input id=full aria-label="Full name"></div></div></div>
		<div class=l>May<select id=month name=month tabindex=-1><option>April<option selected>May</select></div>
		<div class=box style="height:20px"><input class=s id=low type=range aria-label=Low value=20><input class=s id=high type=range aria-label=High value=60></div>`)
	name := &domtapv1.Target{Text: "Full name"} // not the text that is drawn for it
	s.do(click(name))
	s.is("document.activeElement.id", "full")
	s.eval("document.activeElement.blur()")
	s.do(fill(name, "Ada"))
	s.is("full.value", "Ada")
	s.do(selecting(s.at("month"), "April"))
	s.is("month.value", "April")
	s.do(fill(s.at("Low"), "40"))
	s.do(fill(s.at("High"), "70"))
	s.is("low.value + ' ' + high.value", "40 70")
}

// TestACoveredComboboxIsOpenedByItsFace clicks a combobox whose choices are drawn over it, and one that another control covers.
func TestACoveredComboboxIsOpenedByItsFace(t *testing.T) {
	s := staged(t, `<style>.box { position: relative; width: 300px; height: 20px; border: 1px solid; margin: 9px } input { position: absolute; opacity: 0; inset: 0; width: 100%; z-index: -1 }
			.tags, .tags > * { position: absolute; inset: 0 }</style><p id=out></p>
		<div class=box onclick="out.append('open ')"><div class=tags><span>Monday</span></div><input role=combobox aria-label=Days readonly></div>
		<div class=box onclick="out.append('wrong ')"><div class=tags><button onclick="out.append('wrong ')">Tuesday</button></div><input role=combobox aria-label=Below readonly></div>
		<div class=box onclick="out.append('wrong ')"><div class=tags><span>Wednesday</span></div><input aria-label=Plain readonly></div>`)
	s.do(click(s.at("Days")))
	s.is("out.textContent", "open ")
	s.refused(click(s.at("Below")), "NOT_ACTIONABLE", "covered by")
	s.refused(click(s.at("Plain")), "NOT_ACTIONABLE", "covered by")
	s.is("out.textContent", "open ")
}

// TestALabelMeansItsField clicks a target by its text, which both a field and a label with a listener have.
func TestALabelMeansItsField(t *testing.T) {
	s := staged(t, `<label for=i onclick="out.append('label ')">Languages</label> <input id=i role=combobox onclick="out.append('field ')"><p id=out></p>`)
	s.do(click(&domtapv1.Target{Text: "Languages"}))
	s.is("out.textContent", "field ")
}

// TestAHeaderIsPressedAtItsButton clicks a column header by its role. Its button contains the whole text, and the area beside the button is
// a handle.
func TestAHeaderIsPressedAtItsButton(t *testing.T) {
	s := staged(t, `<style>[role=columnheader] { position: relative; display: flex; width: 150px; height: 40px } [role=button] { flex: 1 }
		.handle { position: absolute; right: 0; top: 0; width: 16px; height: 40px }</style>
		<div role=grid><div role=row><div role=columnheader id=head onclick=""><div role=button tabindex=0>Size</div><span class=handle></span></div></div></div>
		<script>log = []
		document.querySelector("[role=button]").onclick = () => log.push("sorted")
		document.querySelector(".handle").onmousedown = () => log.push("resized")</script>`)
	s.do(click(&domtapv1.Target{Role: "columnheader", Name: "Size"}))
	s.is("log.join()", "sorted")
}

// TestAHandleOverItsOwnItemIsTheItem clicks and drags a text that is covered by the handle of its own item. It must not act on a text that
// another item covers.
func TestAHandleOverItsOwnItemIsTheItem(t *testing.T) {
	s := staged(t, `<style>.item { position: absolute; width: 200px; height: 30px; border: 1px solid } .over { position: absolute; inset: 0 }</style><div id=all style="position:relative;height:200px">
		<div class=item style="top:0"><div>Meeting</div><div class=over></div></div>
		<div class=item style="top:60px"><div>Lunch</div></div><div class=item id=top style="top:60px;background:white"></div>
		<div class=item style="top:120px"><div>Call</div><p>Ada</p><div class=over></div></div></div>
		<script>got = []; all.onclick = (e) => got.push(e.target.closest(".item").textContent.trim() || "cover")</script>`)
	if got := s.do(&domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: &domtapv1.Target{Text: "Meeting"}}}}); got != `dblclick "Meeting": ok` {
		t.Errorf("the answer is %s", got)
	}
	s.is("got.join()", "Meeting,Meeting")
	s.refused(click(&domtapv1.Target{Text: "Lunch"}), "NOT_ACTIONABLE", "covered")
	s.is("got.length", "2")
}
