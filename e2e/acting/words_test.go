package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestTextsMeanWholeWordsFirst clicks and fills by a word. Elements that contain it as a whole word take precedence over elements that
// contain it within another word; a field is found only by a whole word. It also clicks by a title.
func TestTextsMeanWholeWordsFirst(t *testing.T) {
	s := staged(t, `<label>entries per page <input></label><label>Minutes <input id=minutes></label><label>Least minute <input id=least></label><label>Diminutive <input id=small></label><button onclick="done += 'package '">package</button><div role=button tabindex=0 onclick="done += 'sort '">Age: sort</div>
		<p>Lyon <span title="Remove all items">×</span></p><script>var done = ""; document.onclick = (e) => { if (e.target.title) done += "cleared" }</script>`)
	s.refused(click(&domtapv1.Target{Text: "remove all"}), "TARGET_NOT_FOUND")
	s.do(click(&domtapv1.Target{Text: "Age"}))
	s.do(fill(&domtapv1.Target{Label: "minute"}, "36"))
	s.do(click(&domtapv1.Target{Text: "remove all items"}))
	s.is("done + minutes.value + least.value + small.value", "sort cleared36")
}

// TestChipsAreTold removes one of several chips whose buttons have the same name.
func TestChipsAreTold(t *testing.T) {
	s := staged(t, `<style>.t { display: inline-block } .c { border: 1px solid }</style><label>Tags <div class=c><div class=t><span class=x role=button tabindex=-1 aria-label="remove tag"></span><div><span>news</span></div></div>
		<div class=t><span class=x role=button tabindex=-1 aria-label="remove tag"></span><div><span>sport</span></div></div><span contenteditable role=textbox aria-label="Tags input"></span></div></label>
		<div class=c role=combobox tabindex=-1 aria-label=Stops><ul><li><i class=x role=presentation style="cursor:pointer">×</i>Lyon<li><i class=x role=presentation style="cursor:pointer">×</i>Nice<li><input></ul></div>
		<style>.x[aria-label]::after { content: "x" }</style><script>
		document.addEventListener("click", (e) => { if (e.target.classList.contains("x")) { e.preventDefault(); e.target.parentNode.remove() } })</script>`)
	s.do(click(&domtapv1.Target{Text: "remove tag", Within: "sport"}))
	s.do(click(&domtapv1.Target{Text: "×", Within: "Nice"}))
	s.is(`document.body.innerText.replace(/[^a-z]+/gi, " ").trim().slice(0, 14)`, "Tags news Lyon")
	if got := strings.TrimSpace(s.eval(`document.querySelectorAll(".x").length`)); got != "2" {
		t.Errorf("%s chips are left", got)
	}
}
