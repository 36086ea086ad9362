package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// tagFields holds fields that take tags at Enter, in the ways of UI libraries, and fields in which Enter would do something else.
const tagFields = `<style>[hidden] { display: none }</style>
<form onsubmit="event.preventDefault(); sent++">
<label for=topics>Topics</label><div class=box><span class=chip>old <button type=button aria-label="Remove old">×</button></span><input id=topics onkeydown="add(event)"></div>
<p><label for=words>Words</label><div class=tags-input><input id=words onkeydown="add(event)"></div>
<p><label for=free>Keywords</label><div><input id=free role=combobox aria-expanded=false onkeydown="add(event)"></div>
<p><label for=plain>Plain</label><div><input id=plain></div>
<p><label for=deaf>Deaf</label><div class="tag-field"><input id=deaf></div>
<p><label for=picks>Picks</label><div class=multiple><input id=picks role=combobox aria-expanded=false aria-controls=opts oninput="opts.hidden = false; picks.setAttribute('aria-activedescendant', 'red')" onkeydown="if (event.key === 'Enter') { event.preventDefault(); picked++; this.value = '' }"></div>
<ul role=listbox id=opts hidden><li role=option id=red>Red</ul>
<button>Save</button></form>
<div class=chat><span class=hint><button>Thanks!</button></span><label for=say>Message</label><input id=say onkeydown="if (event.key === 'Enter') { sent++; this.value = '' }"><button>Send</button></div>
<script>sent = picked = 0; function add(event) { if (event.key !== "Enter") return; event.preventDefault(); const field = event.target
  const chip = document.createElement("span"); chip.className = "chip"; chip.innerHTML = "<b></b><button type=button aria-label=Remove>×</button>"; chip.firstChild.textContent = field.value; field.before(chip); field.value = "" }
chips = (field) => [...field.parentElement.querySelectorAll(".chip b")].map((b) => b.textContent).join()</script>`

// TestFillMakesTags fills fields that take tags. A text that is only typed into the field would be lost, so Enter is pressed, and the answer says
// whether the tag shows. Enter is not pressed in other fields, and never submits the form.
func TestFillMakesTags(t *testing.T) {
	s := staged(t, tagFields)
	for field, says := range map[string]string{
		"Topics": "added as a tag", "Words": "added as a tag", "Keywords": "added as a tag", "Plain": `"Plain": ok`, "Message": `"Message": ok`, "Deaf": "it is no tag",
	} {
		said := s.do(fill(&domtapv1.Target{Label: field}, "v2 ready"))
		if !strings.Contains(said, says) || strings.HasPrefix(says, `"`) && !strings.HasSuffix(said, says) {
			t.Errorf("%s: %s", field, said)
		}
	}
	for _, field := range []string{"Topics", "Keywords"} {
		r := s.form(false, &domtapv1.FormField{Label: field, Values: []string{"a1", "b2"}})
		s.is(`chips(document.getElementById("`+map[string]string{"Topics": "topics", "Keywords": "free"}[field]+`"))`, "v2 ready,a1,b2")
		if !r.GetResults()[0].GetOk() {
			t.Error(said(r))
		}
	}
	s.do(fill(&domtapv1.Target{Label: "Picks"}, "Re"))
	s.is(`[chips(topics), chips(words), chips(free), plain.value, deaf.value, picks.value, say.value, sent, picked].join("|")`, "v2 ready,a1,b2|v2 ready|v2 ready,a1,b2|v2 ready|v2 ready|Re|v2 ready|0|0")
}

// TestSeveralValuesForAFieldWithoutTags leaves the text of a field that takes no tags.
func TestSeveralValuesForAFieldWithoutTags(t *testing.T) {
	s := staged(t, `<label>Plain <input id=a value=kept></label><label>Notes <textarea id=b>kept</textarea></label>`)
	for _, field := range []string{"Plain", "Notes"} {
		if r := s.form(false, &domtapv1.FormField{Label: field, Values: []string{"a1", "b2"}}); r.GetResults()[0].GetOk() {
			t.Error(said(r))
		}
	}
	s.is("a.value + b.value", "keptkept")
}
