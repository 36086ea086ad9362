package secrets

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// secretFields has a field for each way to mark a value as secret. The fields in the last lines are not secret.
const secretFields = `<!doctype html><title>Pay</title>
<label>Code <input name=v0 autocomplete="one-time-code" value="HIDDEN-1"></label>
<label>Upper <input name=v1 autocomplete="ONE-TIME-CODE" value="HIDDEN-2"></label>
<label>Card <input name=v2 autocomplete="section-x billing cc-csc" value="HIDDEN-3"></label>
<label>Tabs <input name=v3 autocomplete="	Shipping
CC-CSC " value="HIDDEN-4"></label>
<label>New <input name=v4 type=text autocomplete="new-password webauthn" value="HIDDEN-5"></label>
<label>Old <input name=v5 type=text autocomplete="Current-Password" value="HIDDEN-6"></label>
<label>Password <input name=v6 type=password value="HIDDEN-7" title="it is HIDDEN-7" aria-valuetext="HIDDEN-7"></label>
<label>Shown <input name=v7 type=password value="HIDDEN-8"></label>
<label>Long <textarea name=v8 autocomplete="one-time-code">HIDDEN-9</textarea></label>
<label>Month <select name=v9 autocomplete="cc-csc"><option>visible-first<option selected>visible-second</select></label>
<x-field type=password value="HIDDEN-12" role=textbox tabindex=0 aria-label=Custom></x-field>
<label>Titled <input type=password title="HIDDEN-11" aria-label="HIDDEN-11" value="HIDDEN-11"></label>
<button aria-labelledby=area>x</button><textarea id=area aria-label=Area autocomplete="one-time-code">HIDDEN-13</textarea>
<button>Send <textarea autocomplete="one-time-code">HIDDEN-14</textarea> visible-send</button>
<label>Reflected <input name=v15 autocomplete="one-time-code" value="HIDDEN-15" data-value="HIDDEN-15" data-secret="x HIDDEN-15" placeholder="HIDDEN-15"></label>
<div style="display:none"><textarea autocomplete="one-time-code">HIDDEN-16</textarea></div>
<label>Late <input id=late name=v17 autocomplete="one-time-code"></label>
<label>Grouped <input id=grouped name=v18 autocomplete="One-Time-Code" oninput="this.value = this.value.replace('-', ' ')"></label>
<label>Plain <input name=plain autocomplete="section-cc-csc street-address" value="visible-plain"></label>
<label>Team <input name=team role=combobox autocomplete="new-password" value="visible-team"></label>
<label>Off <input name=off autocomplete="off" value="visible-off"></label>
<button id=reveal onclick="document.querySelector('[name=v7]').type = 'text'; late.value = 'HIDDEN-17'; late.setAttribute('value', 'HIDDEN-17')">Reveal</button>`

// TestSecretFieldsAreInNoAnswer reads and fills secret fields in every way that returns an answer.
func TestSecretFieldsAreInNoAnswer(t *testing.T) {
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(strings.ReplaceAll(secretFields, "HIDDEN", hidden))})
	d := testenv.Shared(t)
	ctx := testenv.Within(t, limit)
	l := &leaks{t: t}
	d.Record()
	opened, err := d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{Url: url, Viewport: &domtapv1.Viewport{Width: 640, Height: 480}})
	if err != nil {
		t.Fatal(err)
	}
	tab := opened.GetTab().GetId()
	readings(ctx, d, l, tab)
	step := func(step *domtapv1.Step) {
		done, err := d.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: tab, Steps: []*domtapv1.Step{step}})
		if err != nil || !done.GetResults()[0].GetOk() {
			t.Errorf("%v: %v, %v", step, done, err)
		}
		l.see("Interact", done, err)
	}
	by := func(selector string) *domtapv1.Target { return &domtapv1.Target{Selector: selector} }
	step(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: by("#reveal")}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Type{Type: &domtapv1.TypeStep{Target: by("#grouped"), Text: hidden + "-18"}}})
	step(&domtapv1.Step{Action: &domtapv1.Step_Fill{Fill: &domtapv1.FillStep{Target: by("#grouped"), Text: hidden + "-19"}}})
	filled, err := d.Actions.FillForm(ctx, &domtapv1.FillFormRequest{TabId: tab, Fields: []*domtapv1.FormField{{Label: "Grouped", Value: hidden + "-20"}}})
	if err != nil {
		t.Error(err)
	}
	l.see("FillForm", filled, err)
	readings(ctx, d, l, tab)
	unlimited := int32(0)
	dom, err := d.Dom.GetDom(ctx, &domtapv1.GetDomRequest{TabId: tab, MaxElements: &unlimited, MaxTokens: &unlimited,
		IncludeAttributes: []string{"value", "Value", "VALUE", "data-value", "title", "aria-valuetext"}})
	if err != nil {
		t.Fatal(err)
	}
	l.see("GetDom", dom, err)
	masked := 0
	for _, e := range dom.GetElements() {
		if e.GetAttributes()["value"] == "••••" {
			masked++
		}
	}
	if strings.Contains(fmt.Sprint(dom), "visible-second") {
		t.Errorf("GetDom tells what is chosen: %v", dom)
	}
	if masked < 10 {
		t.Errorf("%d attributes are masked: %v", masked, dom)
	}
	extracted, err := d.Pages.Extract(ctx, &domtapv1.ExtractRequest{TabId: tab, Selectors: []string{"input@VALUE", "x-field@value", "input@title", "input@data-value", "button", "div"}})
	l.see("Extract", extracted, err)
	for _, want := range []string{"visible-plain", "visible-team", "visible-off", "visible-send"} {
		if !strings.Contains(fmt.Sprint(dom, extracted), want) {
			t.Errorf("nothing tells of %s: %v", want, dom)
		}
	}
	l.recordings(d)
}
