package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestControlsAreNamedByWhatTheyShow finds controls by visible text that an aria-label or aria-labelledby hides, by a tooltip and by a
// placeholder. Names take precedence, and a text that several controls show is refused.
func TestControlsAreNamedByWhatTheyShow(t *testing.T) {
	s := staged(t, `<button aria-label=Framework>Store</button><button aria-label=Store2>Stores</button><span id=l>Delivery</span><button aria-labelledby=l>Express</button>
		<a href="#x" aria-label="Product 7">Blue shoes <b>49 EUR</b></a><h2>Express</h2><button aria-label="Save the document" title=Keep>k</button>
		<button aria-label=One>Twin</button><button aria-label=Two>Twin</button><button aria-label=Exact>Cancel</button><button>Cancel</button>
		<button aria-label=Trash data-tooltip="Delete row">x</button><input aria-label=Query placeholder="Search the docs">
		<div role=listbox aria-label=Fruit><div role=option aria-label=Malus tabindex=0>Apple</div></div>
		<script>done = []; addEventListener("click", (e) => { const b = e.target.closest("[aria-label],[aria-labelledby],button"); done.push(b.getAttribute("aria-label") || b.textContent) })</script>`)
	for _, words := range []string{"Store", "Express", "Blue shoes", "Keep", "Cancel", "Delete row", "Apple"} {
		s.do(click(&domtapv1.Target{Text: words}))
	}
	s.do(click(&domtapv1.Target{Role: "button", Name: "store"}))
	s.do(fill(&domtapv1.Target{Label: "Search the docs"}, "x"))
	s.is("done.join()", "Framework,Express,Product 7,Save the document,Cancel,Trash,Malus,Framework")
	s.is("document.querySelector('input').value", "x")
	s.refused(click(&domtapv1.Target{Text: "Twin"}), "AMBIGUOUS_TARGET", "One", "Two")
	s.refused(click(&domtapv1.Target{Role: "link", Name: "Store"}), "TARGET_NOT_FOUND")
}

// TestCheckNamesEveryToggle checks elements by their text that express the checked state in other ways than a checkbox. Elements that are
// no toggles are refused.
func TestCheckNamesEveryToggle(t *testing.T) {
	s := staged(t, `<div role=menu><div role=menuitemcheckbox aria-checked=false tabindex=-1>Extensions</div><div role=menuitemradio aria-checked=false tabindex=-1>Dark</div></div>
		<button aria-pressed=false>Bold</button><div role=listbox aria-label=Fruit aria-multiselectable=true><div role=option aria-selected=false tabindex=-1>Apple</div></div>
		<ul role=tree><li role=treeitem aria-checked=false tabindex=0>Folder</li><li role=treeitem aria-selected=false tabindex=-1>File</li></ul>
		<div><button class=chip>Vegan</button><button class="chip selected">Spicy</button></div><button data-state=off aria-label="Italics">i</button>
		<table><tr><td><input type=checkbox><td>Grace Hopper<td>Admin<tr><td><input type=checkbox><td>Ada Lovelace<td>User</table>
		<div class=r><span class=b role=checkbox aria-checked=false tabindex=0 aria-label="Select row"></span><p>Milk</p></div><div class=r><span class=b role=checkbox aria-checked=false tabindex=0 aria-label="Select row"></span><p>Bread</p></div>
		<section><p>Terms of use</p><label><input type=checkbox> Newsletter</label></section><button>Plain</button>
		<style>.b { display: inline-block; width: 20px; height: 20px; background: gray } .chip.selected { color: red }</style>
		<script>addEventListener("click", (e) => { const n = e.target; for (const a of ["aria-checked", "aria-pressed", "aria-selected"]) if (n.hasAttribute(a)) n.setAttribute(a, n.getAttribute(a) !== "true")
			if (n.matches(".chip")) n.classList.toggle("selected"); if (n.dataset.state) n.dataset.state = n.dataset.state === "on" ? "off" : "on"; if (n.textContent === "Plain") document.title = "clicked" })
		on = () => [...document.querySelectorAll("[aria-checked=true],[aria-pressed=true],[aria-selected=true],.selected,[data-state=on],:checked")].map((n) => (n.textContent || n.closest("tr,.r,label").textContent).trim().split(" ")[0]).join()</script>`)
	all := []string{"Extensions", "Dark", "Bold", "Apple", "Folder", "File", "Vegan", "Italics", "Grace Hopper", "Milk"}
	for _, words := range all {
		s.do(check(&domtapv1.Target{Label: words}))
		s.do(check(&domtapv1.Target{Label: words}))
	}
	s.is("on()", "Extensions,Dark,Bold,Apple,Folder,File,Vegan,Spicy,i,Grace,Milk")
	for _, words := range all {
		if words != "Dark" {
			s.do(uncheck(&domtapv1.Target{Label: words}))
		}
	}
	s.is("on()", "Dark,Spicy")
	s.refused(check(&domtapv1.Target{Label: "Plain"}), "NOT_ACTIONABLE", "other toggle")
	s.refused(check(&domtapv1.Target{Label: "Terms of use"}), "TARGET_NOT_FOUND")
	s.is("document.title", "")
}
