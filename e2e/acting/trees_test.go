package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestAClickOnATreeItemHitsItsTitle clicks items as wide as their tree, which has drawn checkboxes and the only click listener.
func TestAClickOnATreeItemHitsItsTitle(t *testing.T) {
	s := staged(t, `<title>Tree</title><style>li { list-style: none } [role=checkbox] { display: inline-block; width: 14px; height: 14px; border: 1px solid }</style>
<ul role=tree id=tree><li role=treeitem aria-expanded=true><span><span role=button>▸</span> <span role=checkbox aria-checked=false></span> <b>Animals</b></span>
<ul role=group><li role=treeitem><span><span role=checkbox aria-checked=false></span> <b>Dog</b></span></ul></ul>
<script>
hits = []
tree.onclick = (e) => {
  hits.push(e.target.localName === "b" ? e.target.textContent : e.target.role)
  if (e.target.role === "checkbox") e.target.ariaChecked = "true"
}
</script>`)
	text := func(words string) *domtapv1.Target { return &domtapv1.Target{Text: words} }
	item := func(name string) *domtapv1.Target { return &domtapv1.Target{Role: "treeitem", Name: name} }
	s.do(click(text("Animals")))
	s.do(click(text("Dog")))
	s.do(click(item("Dog")))
	s.do(click(item("Animals")))
	s.do(click(&domtapv1.Target{Role: "checkbox", Name: "Dog"}))
	s.is("hits", "Animals,Dog,Dog,Animals,checkbox")
	s.do(check(text("Animals")))
	s.is("document.querySelector('[role=checkbox]').ariaChecked", "true")
}

// TestAClickOnATreeItemMissesItsSign clicks items whose sign, which unfolds them, is a plain element before the title.
func TestAClickOnATreeItemMissesItsSign(t *testing.T) {
	s := staged(t, `<title>Tree</title><style>li { list-style: none }</style>
<ul role=tree id=tree><li role=treeitem aria-expanded=true><span class=sign>▶</span> <b>Animals</b></li>
<li role=treeitem aria-expanded=true><i class=sign aria-hidden=true>chevron_right</i> <b>Plants</b></li></ul>
<script>
hits = []
tree.onclick = (e) => hits.push(e.target.className || e.target.textContent)
</script>`)
	s.do(click(&domtapv1.Target{Role: "treeitem", Name: "Animals"}))
	s.do(click(&domtapv1.Target{Text: "Plants"}))
	s.do(click(&domtapv1.Target{Role: "treeitem", Name: "Plants"}))
	s.is("hits", "Animals,Plants,Plants")
}
