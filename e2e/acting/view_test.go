package acting

import (
	"strings"
	"testing"
)

// TestAScrollSaysWhatCameIntoView scrolls boxes and pages. The summary must name the first and the last line in view, with their numbers if
// the page has them, without elements that do not scroll, and without secrets.
func TestAScrollSaysWhatCameIntoView(t *testing.T) {
	s := staged(t, `<p>`)
	for _, c := range []struct {
		name, page, at string
		dy             float64
		want, not      string
	}{
		{"a page", `<h1>Top</h1><div style="height:3000px"></div><p>Close to the end</p><button>Bottom</button>`, "", 9000,
			`; in view: "Close to the end" to "Bottom", the end`, ""},
		{"beside what stays", `<header style="position:fixed;top:0;width:100%;height:40px;background:#fff">Shop</header><div style="height:3000px"></div><p>Imprint</p>`, "", 9000,
			`; in view: "Imprint", the end`, "Shop"},
		{"a virtual grid", `<div role=grid aria-label=People aria-rowcount=2000 tabindex=0 id=g style="height:300px;overflow:auto"><div id=sp style="height:60000px;position:relative"></div></div><script>
			const draw = () => { const s = Math.floor(g.scrollTop / 30); sp.innerHTML = ""; for (let i = s; i < s + 12; i++) sp.insertAdjacentHTML("beforeend", "<div role=row aria-rowindex=" + (i + 1) + " style='position:absolute;height:30px;top:" + i * 30 + "px'><span role=gridcell>Person " + (i + 1) + "</span></div>") }
			draw(); g.onscroll = draw</script>`, "People", 900,
			`; in view: 31 to 40 of 2000, "Person 31" to "Person 40"`, "the end"},
		{"a virtual list without numbers", `<div aria-label=People tabindex=0 id=g style="height:300px;overflow:auto"><div id=sp style="height:60000px;position:relative"></div></div><script>
			const draw = () => { const s = Math.floor(g.scrollTop / 30); sp.innerHTML = ""; for (let i = s; i < s + 12; i++) sp.insertAdjacentHTML("beforeend", "<div style='position:absolute;height:30px;transform:translateY(" + i * 30 + "px)'>Person " + (i + 1) + "</div>") }
			draw(); g.onscroll = draw</script>`, "People", 900,
			`; in view: 31 to 40 of 2000, "Person 31" to "Person 40"`, "the end"},
		{"a list that has all its items", `<div aria-label=List tabindex=0 style="height:100px;overflow:auto"><div style="height:50px">A</div><div style="height:50px">B</div><div style="height:50px">C</div><div style="height:50px">D</div></div>`, "List", 50,
			`; in view: "B" to "C"`, " of "},
		{"a list with a password", `<div tabindex=0 aria-label=List style="height:100px;overflow:auto"><div style="height:500px">First</div><input type=password value=hunter2222 aria-label=Password><p>Last "one"</p></div>
			<script>document.querySelector("input").type = "text"</script>`, "List", 900,
			`; in view: "Password" to "Last \"one\"", the end`, "hunter2222"},
		{"numbers without sense", `<div role=feed aria-label=Feed tabindex=0 style="height:100px;overflow:auto"><div style="height:500px"></div><p aria-posinset=1e300 aria-setsize=-1>Last</p></div>`, "Feed", 900,
			`; in view: "Last", the end`, "1e"},
		{"nothing with words", `<div style="height:5000px"></div>`, "", 300, "ok", "in view"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.show(`<body style="margin:0">` + c.page)
			target := scroll(nil, 0, c.dy)
			if c.at != "" {
				target = scroll(s.at(c.at), 0, c.dy)
			}
			said := s.do(target)
			if !strings.Contains(said, c.want) || c.not != "" && strings.Contains(said, c.not) {
				t.Errorf("the scroll says %q, want %q", said, c.want)
			}
		})
	}
}

// TestLinesAreClicked clicks shapes without an area, and a shape whose centre is not on its line.
func TestLinesAreClicked(t *testing.T) {
	s := staged(t, `<svg width=300 height=200 fill=none stroke=black stroke-width=6>
		<line aria-label=Flat x1=50 y1=100 x2=250 y2=100 /><path aria-label=Upright d="M20 20 L20 180" /><path aria-label=Bent d="M100 20 L200 20 L200 80" /></svg>
		<script>hit = ""; for (const el of document.querySelectorAll("svg *")) el.addEventListener("click", () => hit += el.getAttribute("aria-label") + " ")</script>`)
	for _, name := range []string{"Flat", "Upright", "Bent"} {
		s.do(click(s.at(name)))
	}
	s.is("hit", "Flat Upright Bent ")
}

// TestFieldsInHidingBoxes clicks a combobox and the field of an editor, each in a box that only serves to hide it. The click must go to the
// elements drawn in their place.
func TestFieldsInHidingBoxes(t *testing.T) {
	s := staged(t, `<style>.d { border: 1px solid; position: relative; width: 200px; height: 60px } .t { overflow: hidden; position: absolute; width: 1px; height: 1px }</style>
		<div class=d id=editor><div class=t><textarea id=code aria-label=Code></textarea></div><div id=lines>&nbsp;</div></div>
		<div class=d id=box><div class=t><input role=combobox readonly aria-label=Towns></div><span>Rome</span></div>
		<script>hit = ""; for (const el of [editor, box]) el.onclick = () => hit += el.id + " "</script>`)
	s.do(click(s.at("Code")))
	s.do(click(s.at("Towns")))
	s.is("hit", "editor box ")
}
