package acting

import "testing"

// drawnBeside holds checkboxes whose transparent inputs are below an element that draws them. The script handles clicks on the box around
// both, in a listener of the document. Another element covers the last one.
const drawnBeside = `<style>.box { position: relative; display: inline-block; width: 16px; height: 16px } .box input { opacity: 0; position: absolute; margin: 0; width: 16px; height: 16px }
	.drawn { position: absolute; inset: -2px; border: 1px solid; background: white }</style>
<p class=row><span class=box><input type=checkbox aria-label=Apple><span class=drawn></span></span> Apple</p>
<p class=row><span class=box><input type=checkbox aria-label=Pear><span class=drawn></span></span> Pear</p>
<p class=row><span class=box><input type=checkbox aria-label=Plum><span class=drawn></span><span style="position: absolute; inset: -5px" tabindex=0></span></span> Plum</p>
<script>document.addEventListener("click", (e) => { const input = e.target.closest(".box")?.firstChild; if (input && e.target !== input) input.checked = !input.checked })
const state = () => [...document.querySelectorAll("input")].map((input) => input.checked ? 1 : 0).join("")</script>`

// TestATransparentToggleIsPressedWhereItIsDrawn checks and clicks toggles that the page draws beside their inputs.
func TestATransparentToggleIsPressedWhereItIsDrawn(t *testing.T) {
	s := staged(t, drawnBeside)
	s.do(check(s.at("Pear")))
	s.is("state()", "010")
	s.do(click(s.at("Apple")))
	s.is("state()", "110")
	s.do(uncheck(s.at("Pear")))
	s.is("state()", "100")
	s.refused(click(s.at("Plum")), "NOT_ACTIONABLE", "covered by")
}
