package observer

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The name of another element must not reveal a masked value.
func TestMaskedValuesStayOutOfNames(t *testing.T) {
	const secret = "S3CRET"
	controls := []string{
		`<input %s value=S3CRET>`, `<input %s type=search value=S3CRET>`, `<textarea %s>S3CRET</textarea>`,
		`<select %s><option>a<option selected>S3CRET</select>`, `<select %s multiple><option selected>S3CRET<option selected>b</select>`,
		`<span %s role=textbox>S3CRET</span>`, `<span %s role=searchbox>S3CRET</span>`, `<span %s role=combobox>S3CRET</span>`,
		`<span %s role=slider aria-valuetext=S3CRET></span>`, `<span %s role=spinbutton aria-valuenow=1 aria-valuetext=S3CRET></span>`,
		`<span %s role=scrollbar aria-valuetext=S3CRET></span>`, `<span %s role=combobox><input value=S3CRET></span>`,
		`<span %s role=combobox><span role=textbox>S3CRET</span></span>`,
		`<span %s role=listbox><i role=option aria-selected=true>S3CRET</i></span>`,
		`<span %s role=menu><i role=menuitemradio aria-checked=true>S3CRET</i></span>`,
	}
	around := []string{
		`<label for=%[1]s>Every %[2]s days</label><input type=checkbox id=%[1]s>`,
		`<label for=%[1]s aria-labelledby="%[1]s-value"></label><input type=checkbox id=%[1]s>%[2]s`,
		`<div role=checkbox tabindex=0 id=%[1]s>Every %[2]s days</div>`,
		`<button id=%[1]s aria-labelledby="%[1]s-value">x</button>%[2]s`,
		`<button id=%[1]s aria-owns="%[1]s-value">x</button>%[2]s`,
		`<h2 id=%[1]s>See <b aria-labelledby="%[1]s-value"></b></h2>%[2]s`,
	}
	units, err := os.ReadFile("testdata/units.js")
	if err != nil {
		t.Fatal(err)
	}
	tab := newTab(t)
	for _, masks := range []*Masks{nil, {Selectors: []string{".masked"}}, {Selectors: []string{".masked *, .masked"}}, {Values: true}} {
		tab.script = Limits{}.fill(source(t, string(units)), masks)
		var page strings.Builder
		for i, control := range controls {
			if masks != nil && masks.Values && i >= 13 {
				continue // the options of such a list have names, not values
			}
			for j, html := range around {
				id := fmt.Sprintf("c%d-%d", i, j)
				fmt.Fprintf(&page, "<div>"+html+"</div>\n", id, fmt.Sprintf(control, "class=masked id="+id+"-value"))
			}
		}
		names := tab.ask(t, "names", page.String(), "")
		if found := strings.Count(names, secret); masks == nil && found < len(controls)*len(around) {
			t.Errorf("without masks the value is in %d names, want at least %d", found, len(controls)*len(around))
		} else if masks != nil && found > 0 {
			t.Errorf("masks %+v: %s", *masks, names)
		}
	}
}

// The value of a combobox that is drawn for a hidden select must not reveal a masked choice.
func TestChoicesOfDrawnSelectsAreMasked(t *testing.T) {
	const page = `<style>.box { border: 1px solid; width: 200px }</style>
		<label for=a>Plan</label><select id=a class=masked style="display:none"><option>S3CRET<option>Free</select><div class=box id=plan tabindex=0><i>S3CRET</i></div>
		<label for=b>Team</label><select id=b style="display:none"><option>S3CRET<option>None</select><div class="box masked" id=team tabindex=0>S3CRET</div>`
	units, err := os.ReadFile("testdata/units.js")
	if err != nil {
		t.Fatal(err)
	}
	tab := newTab(t)
	for _, masks := range []*Masks{nil, {Selectors: []string{".masked"}}, {Values: true}} {
		tab.script = Limits{}.fill(source(t, string(units)), masks)
		got := tab.ask(t, "faces", page, "")
		for _, field := range []string{`plan combobox "Plan" =`, `team combobox "Team" =`} {
			if found := strings.Contains(got, field+"S3CRET\n"); found != (masks == nil) || !strings.Contains(got, field) {
				t.Errorf("masks %+v: %s", masks, got)
			}
		}
	}
}
