package acting

import (
	"slices"
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestAnAnswerHasWhatAnAnimationShowsOrTakesAway opens and closes a menu in a shadow tree, which a script fades in and out, and a part of a
// form, which a style unfolds and folds. Each answer must list the elements at the end of the animation.
func TestAnAnswerHasWhatAnAnimationShowsOrTakesAway(t *testing.T) {
	s := staged(t, `<title>Animations</title><style>#more { height: 0; overflow: hidden; transition: height .2s } #more.in { height: 60px }</style>
<button id=actions>Actions</button><x-menu></x-menu><button onclick="more.classList.toggle('in')">Details</button><div id=more><button>Reset</button> all fields</div>
<script>
customElements.define("x-menu", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: "open" }).innerHTML = "<div hidden><div role=menu><div role=menuitem tabindex=0>Cut</div><div role=menuitem tabindex=0>Copy</div></div></div>"
    const box = this.shadowRoot.firstChild
    actions.onclick = () => { box.hidden = false; box.animate([{ opacity: 0 }, { opacity: 1 }], 200) }
    box.onclick = async () => { await box.animate([{ opacity: 1 }, { opacity: 0 }], 200).finished; box.hidden = true }
  }
})
</script>`)
	for range 2 {
		s.answers("Actions", "+ Cut", "+ Copy")
		s.answers("Cut", "- Cut", "- Copy")
		s.answers("Details", "+ Reset")
		s.answers("Details", "- Reset")
	}
}

// answers clicks an element and checks that the answer adds or removes exactly these elements, among elements whose text is one word.
func (s *stage) answers(name string, changes ...string) {
	s.t.Helper()
	answer, err := s.d.Actions.Interact(s.t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{click(s.at(name))}})
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, e := range answer.GetDiff().GetAdded() {
		got = append(got, "+ "+e.GetText())
	}
	for _, e := range answer.GetDiff().GetRemoved() {
		got = append(got, "- "+e.GetText())
	}
	got = slices.DeleteFunc(got, func(change string) bool { return change[2:] == "" || strings.Contains(change[2:], " ") }) // omits structure
	if !slices.Equal(got, changes) {
		s.t.Errorf("click %s: got %q, want %q", name, got, changes)
	}
}

// TestAnAnswerHasWhatNestedHostsFadeOut opens and closes a menu that two nested hosts draw and fade. The page acts on the events of the
// animations.
func TestAnAnswerHasWhatNestedHostsFadeOut(t *testing.T) {
	s := staged(t, `<title>Nested</title><x-drop><button slot=trigger>Actions</button><div role=menu><div role=menuitem tabindex=0>Cut</div></div></x-drop>
<script>
const define = (name, tree, begin) => customElements.define(name, class extends HTMLElement {
  connectedCallback() { if (!this.shadowRoot) { this.attachShadow({ mode: "open" }).innerHTML = tree; begin(this, this.shadowRoot) } }
})
define("x-pop", "<slot name=anchor></slot><div hidden><slot></slot></div>", (host, root) => {
  const box = root.querySelector("div")
  host.toggle = (on) => {
    if (on) box.hidden = false
    const animation = box.animate(on ? [{ opacity: 0 }, { opacity: 1 }] : [{ opacity: 1 }, { opacity: 0 }], 150)
    animation.addEventListener("finish", () => { if (!on) box.hidden = true })
  }
})
define("x-drop", "<x-pop><slot name=trigger slot=anchor></slot><div><slot></slot></div></x-pop>", (host, root) => {
  const pop = root.querySelector("x-pop")
  host.querySelector("button").onclick = () => pop.toggle(true)
  host.querySelector("[role=menuitem]").onclick = () => pop.toggle(false)
})
</script>`)
	for range 2 {
		s.answers("Actions", "+ Cut")
		s.answers("Cut", "- Cut")
	}
}

// TestAnAnswerAwaitsAReversedAnimation closes a dialog that fades out by its fade-in, played backwards. The frames of show are repeated as
// leave, because reversing an ended animation does not restart it.
func TestAnAnswerAwaitsAReversedAnimation(t *testing.T) {
	s := staged(t, `<title>Reversed</title><style>
@keyframes show { from { opacity: 0 } } @keyframes leave { from { opacity: 0 } }
dialog { border: 0 } dialog[open] { animation: show .2s } dialog.out { animation: leave .2s reverse }
</style><button onclick="box.showModal()">Open</button><dialog id=box aria-label="Are you sure?"><button>Yes</button></dialog>
<script>
box.querySelector("button").onclick = () => {
  box.classList.add("out")
  box.addEventListener("animationend", () => { box.close(); box.classList.remove("out") }, { once: true })
}
</script>`)
	s.answers("Open", "+ Yes")
	s.answers("Yes", "- Yes")
}

// TestAnAnswerAwaitsAFadingBackdrop closes a dialog whose backdrop, an element inside it, fades out.
func TestAnAnswerAwaitsAFadingBackdrop(t *testing.T) {
	s := staged(t, `<title>Backdrop</title><style>
[role=dialog] { position: fixed; inset: 0 } [role=dialog] > div { position: absolute; inset: 0; background: gray; transition: opacity .2s } .out { opacity: 0 } [role=dialog] button { position: relative }
</style><div role=dialog aria-label="A picture"><div></div><button>Close</button></div>
<script>
const back = document.querySelector("[role=dialog] > div")
document.querySelector("button").onclick = () => { back.className = "out"; back.ontransitionend = () => back.parentNode.remove() }
</script>`)
	s.answers("Close", "- Close")
}
