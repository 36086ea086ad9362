package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestTextOfASlotIsPressed clicks by a text that a shadow tree draws: the hit test says its host there, although the press goes through the
// tree. Where something else is drawn over it, the click is refused.
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
	s.is("out.textContent", ";Nested;") // the host inside has no text
	s.refused(click(&domtapv1.Target{Text: "Below"}), "NOT_ACTIONABLE", "covered by")
}

// TestALabelMeansItsField clicks by words that a label with a listener and its field both say.
func TestALabelMeansItsField(t *testing.T) {
	s := staged(t, `<label for=i onclick="out.append('label ')">Languages</label> <input id=i role=combobox onclick="out.append('field ')"><p id=out></p>`)
	s.do(click(&domtapv1.Target{Text: "Languages"}))
	s.is("out.textContent", "field ")
}
