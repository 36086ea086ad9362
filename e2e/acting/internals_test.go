package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestInternalsAreRolesAndStates reads and uses custom elements that set their role and state only through ElementInternals, stored in a
// private field, under a symbol, or in a plain field.
func TestInternalsAreRolesAndStates(t *testing.T) {
	s := staged(t, `<style>x-radio, x-slider { display: inline-block; min-width: 20px; height: 20px }</style><x-radio>Plan B</x-radio><label>Off <x-radio disabled></x-radio></label> <x-tabs><x-tab>First</x-tab><x-tab>Second</x-tab></x-tabs>
		<label for=much>Volume</label><x-slider id=much></x-slider><x-plain>Plain</x-plain><label>Agree <x-check></x-check></label>
		<script>
			customElements.define("x-radio", class extends HTMLElement {
				static formAssociated = true
				#internals = this.attachInternals()
				constructor() { super(); this.#internals.role = "radio"; this.#internals.ariaChecked = "false" }
				connectedCallback() { this.tabIndex = 0; this.onclick = () => { this.#internals.ariaChecked = window.chosen = "true" } }
			})
			const key = Symbol()
			customElements.define("x-tab", class extends HTMLElement {
				constructor() { super(); this[key] = this.attachInternals(); this[key].role = "tab"; this.select(false)
					this.attachShadow({ mode: "open" }).innerHTML = "<div role=presentation><slot></slot></div>"
					this.shadowRoot.firstChild.onclick = () => this.select(true) }
				select(is) { this[key].ariaSelected = String(is) }
			})
			customElements.define("x-slider", class extends HTMLElement {
				static formAssociated = true
				constructor() { super(); this.i = this.attachInternals(); Object.assign(this.i, { role: "slider", ariaValueNow: "3" }) }
			})
			customElements.define("x-check", class extends HTMLElement {
				static formAssociated = true
				constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<input type=checkbox>"; this.addEventListener("click", () => {}) }
			})
			customElements.define("x-plain", class extends HTMLElement {})
		</script>`)
	shown := func() string {
		t.Helper()
		got, err := s.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: s.tab, Format: domtapv1.Format_FORMAT_DENSE})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetText()
	}
	says := func(all ...string) {
		t.Helper()
		text := shown()
		for _, want := range all {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	says("Plan B (radio)", "Off (radio disabled)", "First (tab)", `Volume (slider ="3")`, "Agree (checkbox)")
	if text := shown(); strings.Contains(text, "(generic)") || strings.Contains(text, "Plain") || strings.Count(text, "Agree") != 1 {
		t.Errorf("too much is listed:\n%s", text)
	}
	s.do(check(&domtapv1.Target{Label: "Plan B"}))
	s.is("chosen", "true")
	says("Plan B (radio checked")
	if said := s.do(check(s.at("Plan B"))); !strings.Contains(said, "already checked") {
		t.Errorf("checking again says %q", said)
	}
	s.do(click(s.at("Second")))
	says("Second (tab selected")
}
