package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// hiddenSelects hides native selects in the ways of jQuery plugins and draws boxes without roles in their place: a box around the select
// with a field for keys, a box beside it, a button around it, a box with a search field, and a combobox that keeps its choice as an option. The
// boxes do not follow a value that a script sets. The last two selects belong to lists of links for small screens, one with a closed
// submenu.
const hiddenSelects = `<style>.box { border: 1px solid; width: 200px; cursor: pointer } .list { display: none } .open > .list { display: block } li { cursor: pointer } .sr { width: 1px; height: 1px; overflow: hidden; opacity: 0; position: absolute }</style>
<form onsubmit="return false"><label for=height>Height</label>
<div id=h1 class=box><div style="width:0;height:0;overflow:hidden"><select id=height tabindex=-1><option><option>5 ft<option>6 ft</select></div><span class=now></span><b>▾</b><ul class=list><li><li>5 ft<li>6 ft</ul><input class=sr tabindex=0></div>
<label for=fruit>Fruit</label><select id=fruit style="display:none"><option>Apple<option>Pear</select><div id=f1 class=box tabindex=0><span class=now>Apple</span><ul class=list><li>Apple<li>Pear</ul></div>
<label for=color>Color</label><div id=c1 class=box role=button tabindex=0 aria-expanded=false><select id=color tabindex=-1 class=sr><option>Red<option>Blue</select><p class=now>Red</p><ul class=list><li>Red<li>Blue</ul></div>
<label for=size>Size</label><select id=size style="display:none"><option>Small<option>Large</select><div id=s1 class=box tabindex=0><span class=now>Pick a size</span><div class=list><input placeholder="Search"><ul><li>Small<li>Large</ul></div></div>
<div id=p1 class=box role=combobox aria-label=Planet aria-expanded=false tabindex=0><select id=planet hidden><option>Mars<option>Venus</select><div role=listbox class=now><div role=option aria-selected=true>Mars</div></div>
<div class=list role=listbox><input type=search><div role=option>Mars</div><div role=option>Venus</div></div></div></form>
<select id=nav style="display:none"><option>Home<option>News</select><ul id=links onclick="0"><li><a href=#h>Home</a><li><a href=#n>News</a></ul>
<select id=site style="display:none"><option>Shop<option>Tea<option>Mugs</select><ul id=menu onclick="0"><li><b>Our shop</b><ul class=list><li><a href=/tea>Tea</a><li><a href=/mugs>Mugs</a></ul><li><a href=/help>Help</a></ul><script>
	for (const box of document.querySelectorAll(".box")) {
		const select = box.querySelector("select") || box.previousElementSibling, now = box.querySelector(".now")
		const show = (open) => { box.classList.toggle("open", open); if (box.ariaExpanded !== null) box.ariaExpanded = open }
		box.onclick = (e) => {
			const item = e.target.closest(".list li, .list [role=option]")
			if (!item) return e.target.tagName === "INPUT" ? undefined : show(!box.classList.contains("open"))
			select.value = item.textContent
			if (now.role === "listbox") now.innerHTML = "<div role=option aria-selected=true>" + item.textContent + "</div>"
			else now.textContent = item.textContent
			show(false)
			e.stopPropagation()
		}
	}
</script>`

// TestDrawnBoxesOfHiddenSelectsAreComboboxes reads boxes that are drawn in place of hidden selects, and chooses options in them by the labels of
// the selects. The value that a person sees must follow.
func TestDrawnBoxesOfHiddenSelectsAreComboboxes(t *testing.T) {
	s := staged(t, hiddenSelects)
	listed := func(want string) {
		t.Helper()
		r, err := s.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab, Format: domtapv1.Format_FORMAT_DENSE})
		if err != nil || !strings.Contains(r.GetText(), want) {
			t.Errorf("the page lacks %q: %v in\n%s", want, err, r.GetText())
		}
	}
	listed("Height (combobox)")
	listed(`Fruit (combobox ="Apple")`)
	listed(`Color (combobox ="Red" collapsed)`)
	listed(`Size (combobox ="Pick a size")`)
	listed("Home News (list)")
	listed("Our shop Help (list)")
	r := s.form(false, fields("Height", "6 ft", "Fruit", "Pear", "Color", "Blue", "Size", "Large", "Planet", "Venus")...)
	for _, one := range r.GetResults() {
		if !one.GetOk() || !strings.HasSuffix(one.GetSummary(), ": ok") {
			t.Errorf("%s: %s", one.GetSummary(), one.GetError())
		}
	}
	s.is(`[...document.querySelectorAll("form select")].map((one) => one.value).join()`, "6 ft,Pear,Blue,Large,Venus")
	s.is(`[...document.querySelectorAll(".now")].map((one) => one.textContent).join()`, "6 ft,Pear,Blue,Large,Venus")
	listed(`Height (combobox ="6 ft")`)
	listed(`Color (combobox ="Blue" collapsed)`)
}

// TestDrawnBoxesBelongToTheirSelects reads rows of hidden selects with the same options, whose boxes are all before or all after their selects.
func TestDrawnBoxesBelongToTheirSelects(t *testing.T) {
	const box, list = `<div class=box tabindex=0 style="border:1px solid;width:200px">`, `<ul hidden><li>Yes<li>No</ul></div>`
	const options = ` style="display:none"><option>Yes<option>No</select>`
	s := staged(t, `<form>`+box+`Yes`+list+`<select aria-label=Alarm`+options+box+`No`+list+`<select aria-label=Radio`+options+`</form>
		<form><select aria-label=Light`+options+box+`Yes`+list+`<select aria-label=Heater`+options+box+`No`+list+`</form>`)
	r, err := s.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab, Format: domtapv1.Format_FORMAT_DENSE})
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{`Alarm (combobox ="Yes")`, `Radio (combobox ="No")`, `Light (combobox ="Yes")`, `Heater (combobox ="No")`} {
		next := strings.Index(r.GetText(), want)
		if next <= at {
			t.Fatalf("%q is missing or not at its place in\n%s", want, r.GetText())
		}
		at = next
	}
}
