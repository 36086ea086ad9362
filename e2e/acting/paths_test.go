package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// cascades holds a cascading list whose levels are columns that open at a click, one whose levels open while the pointer is on them and close at
// a click, and a tree whose items are chosen by a click and opened by a sign before them.
const cascades = `<style>[hidden] { display: none } li, .o { cursor: pointer } .col { float: left; margin: 4px }</style>
<label for=a>Columns</label><input id=a readonly role=combobox aria-expanded=false><div id=al hidden></div>
<p style="clear:both"><label for=b>Hovered</label><input id=b readonly role=combobox aria-expanded=false><ul role=tree id=bl hidden></ul>
<p><label for=c>Tree</label><input id=c readonly role=combobox aria-expanded=false><ul role=tree id=cl hidden></ul>
<script>
world = { Asia: { Japan: ["Tokyo", "Kyoto"], Georgia: ["Georgia", "Batumi"] }, Europe: { France: ["Paris"] } }
const show = (field, list, on) => { field.setAttribute("aria-expanded", on); list.hidden = !on }
const kids = (path) => { let at = world; for (const p of path) at = Array.isArray(at) ? null : at[p]; return !at ? [] : Array.isArray(at) ? at : Object.keys(at) }
const leaf = (path) => path.length === 3
function columns(path) { al.innerHTML = [[], ...path.map((_, i) => path.slice(0, i + 1))].filter((p) => !leaf(p)).map((p) => "<ul class=col role=menu>" + kids(p).map((k) => "<li role=menuitem data-p='" + JSON.stringify([...p, k]) + "'>" + k).join("") + "</ul>").join("") }
a.onclick = () => { columns([]); show(a, al, true) }
al.onclick = (e) => { const p = JSON.parse(e.target.dataset.p); if (leaf(p)) { a.value = p.join(" / "); show(a, al, false) } else columns(p) }
const item = (path, open, sign) => "<li role=treeitem aria-label='" + path.at(-1) + "' data-p='" + JSON.stringify(path) + "'" + (leaf(path) ? "" : " aria-expanded=" + open(path)) + ">" + (leaf(path) ? "" : sign) + path.at(-1) + (!leaf(path) && open(path) ? "<ul role=group>" + kids(path).map((k) => item([...path, k], open, sign)).join("") + "</ul>" : "") + "</li>"
let hovered = []; const drawB = () => bl.innerHTML = kids([]).map((k) => item([k], (p) => JSON.stringify(hovered.slice(0, p.length)) === JSON.stringify(p), "")).join("")
const at = (e) => JSON.parse(e.target.closest("[data-p]").dataset.p)
b.onclick = () => { hovered = []; drawB(); show(b, bl, true) }
bl.onmouseover = (e) => { const p = at(e); if (!leaf(p) && JSON.stringify(p) !== JSON.stringify(hovered)) { hovered = p; drawB() } }
bl.onclick = (e) => { const p = at(e); if (leaf(p)) { b.value = p.at(-1); show(b, bl, false) } else { hovered = []; drawB() } }
const opened = new Set(); const drawC = () => cl.innerHTML = kids([]).map((k) => item([k], (p) => opened.has(p.join()), "<button tabindex=-1>+</button>")).join("")
c.onclick = () => { drawC(); show(c, cl, true) }
cl.onclick = (e) => { const p = at(e); if (e.target.localName === "button") { opened.add(p.join()); drawC() } else { c.value = p.at(-1); show(c, cl, false) } }
</script>`

// TestSelectFollowsAPath selects options by the path to them.
func TestSelectFollowsAPath(t *testing.T) {
	s := staged(t, cascades)
	for field, value := range map[string]string{"Columns": "Asia / Georgia / Georgia", "Hovered": "Asia > Japan > Kyoto", "Tree": "Asia / Japan / Tokyo"} {
		if said := s.do(selecting(&domtapv1.Target{Label: field}, value)); !strings.HasSuffix(said, ": ok") {
			t.Errorf("%s: %s", field, said)
		}
	}
	s.is(`[a.value, b.value, c.value].join("|")`, "Asia / Georgia / Georgia|Kyoto|Tokyo")
	if r, err := s.try(t.Context(), selecting(&domtapv1.Target{Label: "Columns"}, "Asia / Korea")); err != nil || !strings.Contains(r.GetError(), `has no single option "Korea" in "Asia"; it has: `) {
		t.Errorf("a path that is not offered: %v, %v", r, err)
	}
	s.do(selecting(&domtapv1.Target{Label: "Columns"}, "Europe / France / Paris"))
	s.is("a.value", "Europe / France / Paris")
}

// TestSelectTakesAValueWithASlashWhole selects options whose texts contain a slash, and clicks no option for a part of one that is not offered.
func TestSelectTakesAValueWithASlashWhole(t *testing.T) {
	s := staged(t, `<label for=a>Protocol</label><input id=a role=combobox aria-expanded=false autocomplete=off><div role=listbox id=list></div><script>
		chosen = ""; clicks = 0
		draw = () => { a.ariaExpanded = "true"; list.innerHTML = ["TCP", "UDP", "No", "Yes", "TCP/IP"].filter((n) => a.value ? n.startsWith(a.value) : n !== "TCP/IP").map((n) => "<div role=option>" + n + "</div>").join("") }
		a.onclick = a.oninput = draw; a.onkeydown = (e) => { if (e.key === "Escape") close() }
		close = () => { a.ariaExpanded = "false"; list.innerHTML = "" }
		list.onclick = (e) => { clicks++; a.value = chosen = e.target.textContent; close() }</script>`)
	protocol := &domtapv1.Target{Label: "Protocol"}
	for _, value := range []string{"N/A", "TCP/UDP"} {
		if r, err := s.try(t.Context(), selecting(protocol, value)); err == nil && r.GetError() == "" {
			t.Errorf("%s: %v, %v", value, r, err)
		}
	}
	s.is("clicks", "0")
	s.do(selecting(protocol, "TCP/IP"))
	s.is("chosen + clicks", "TCP/IP1")
}
