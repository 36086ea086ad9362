package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestDragsData drags elements with the HTML attribute draggable.
func TestDragsData(t *testing.T) {
	s := staged(t, `<div id=src draggable=true tabindex=0 aria-label=Card style="width:80px;height:40px;background:#ccc">Card</div><div style="height:1200px"></div>
		<div id=dst tabindex=0 aria-label=Box style="width:200px;height:100px;background:#eee"></div><script>
		log = []
		src.ondragstart = (e) => { e.dataTransfer.setData("text/plain", "payload"); e.dataTransfer.effectAllowed = "move"; log.push("start") }
		src.ondragend = (e) => log.push("end:" + e.dataTransfer.dropEffect)
		dst.ondragenter = (e) => { e.preventDefault(); log.push("enter") }
		dst.ondragover = (e) => { e.preventDefault(); e.dataTransfer.dropEffect = "move" }
		dst.ondrop = (e) => { e.preventDefault(); log.push("drop:" + e.dataTransfer.getData("text/plain")) }
	</script>`)
	s.do(drag(s.at("Card"), s.at("Box"), 0, 0))
	got := s.eval("log.join()")
	if !strings.HasPrefix(got, "start,enter,") || !strings.Contains(got, "drop:payload") {
		t.Errorf("the drag was %s", got)
	}
}

// TestDragsWithThePointer drags a slider and a list item, and draws a line on a canvas.
func TestDragsWithThePointer(t *testing.T) {
	s := staged(t, `<body style="margin:20px"><div id=track style="position:relative;width:300px;height:20px;background:#eee"><div id=thumb role=slider tabindex=0 aria-label=Thumb style="position:absolute;left:0;width:20px;height:20px;background:#888"></div></div>
		<ul id=list style="list-style:none;padding:0;width:200px"><li tabindex=0 style="height:40px">One</li><li tabindex=0 style="height:40px">Two</li><li tabindex=0 style="height:40px">Three</li></ul>
		<input type=range aria-label=Range min=0 max=100 value=50 style="width:200px">
		<canvas tabindex=0 aria-label=Canvas width=200 height=100 style="background:#eef"></canvas><script>
		let down = null
		thumb.onpointerdown = (e) => { thumb.setPointerCapture(e.pointerId); down = e.clientX }
		thumb.onpointermove = (e) => { if (down !== null) thumb.style.left = Math.max(0, Math.min(280, e.clientX - down)) + "px" }
		thumb.onpointerup = () => { down = null }
		let item = null
		list.onmousedown = (e) => { item = e.target; e.preventDefault() }
		document.addEventListener("mousemove", (e) => { if (!item) return; const over = document.elementFromPoint(e.clientX, e.clientY); if (over && over !== item && over.parentNode === list)
			list.insertBefore(item, over.compareDocumentPosition(item) & 4 ? over : over.nextSibling) })
		document.addEventListener("mouseup", () => { item = null })
		points = []; const c = document.querySelector("canvas"); let draw = false
		c.onmousedown = () => { draw = true }; c.onmousemove = (e) => { if (draw) points.push([e.offsetX, e.offsetY]) }; c.onmouseup = () => { draw = false; points.push("up") }
	</script>`)
	s.do(drag(s.at("Thumb"), nil, 150, 0))
	s.is("thumb.style.left", "150px")
	s.do(drag(s.at("One"), s.at("Three"), 0, 0))
	s.is(`[...list.children].map((n) => n.textContent).join()`, "Two,Three,One")
	s.do(drag(s.at("Range"), nil, 50, 0))
	if got := s.eval(`document.querySelector("input").value > 65`); got != "true" {
		t.Errorf("the range is at %s", s.eval(`document.querySelector("input").value`))
	}
	s.do(drag(s.at("Canvas"), nil, 40, 20))
	s.is(`points.length > 5 && points.at(-1) === "up" && points.at(-2).map(Math.round).join()`, "140,70")
}

// TestWhatIsDrawnAnewWhereItIsDroppedHasArrived drags a card to another column, which re-creates the card, and to a bin, which removes it.
func TestWhatIsDrawnAnewWhereItIsDroppedHasArrived(t *testing.T) {
	s := staged(t, `<ul id=a><li tabindex=0>Write<li tabindex=0>Ask</ul><ul id=b><li tabindex=0>Review<li tabindex=0>Ship</ul><div id=bin tabindex=0 style="width:90px">Bin</div><script>
		let card = null
		onpointerdown = (e) => { card = e.target.closest("li"); e.preventDefault() }
		onpointermove = (e) => { const over = document.elementFromPoint(e.clientX, e.clientY).closest("#b li"), hr = document.querySelector("hr")
			if (card && over) over.before(hr || document.createElement("hr")); else if (hr) hr.remove() }
		onpointerup = (e) => { if (!card) return; const hr = document.querySelector("hr"); if (hr) hr.replaceWith(card.cloneNode(true)); card.remove(); card = null }
	</script>`)
	if got := s.do(drag(s.at("Write"), s.at("Review"), 0, 0)); !strings.Contains(got, "into another group as number 1") {
		t.Errorf("the drag to another column says %s", got)
	}
	s.is(`[...b.children].map((n) => n.textContent).join()`, "Write,Review,Ship")
	if got := s.do(drag(s.at("Ask"), s.at("Bin"), 0, 0)); !strings.Contains(got, "removed it from its place") {
		t.Errorf("the drag to the bin says %s", got)
	}
}

// TestDragsThroughWaypoints draws a pattern that counts the dots under the pointer, and drags data over targets that record it.
func TestDragsThroughWaypoints(t *testing.T) {
	s := staged(t, `<body style="margin:20px"><style>div { position: absolute; width: 40px; height: 40px; background: #ccc; touch-action: none }</style>
		<div tabindex=0 aria-label=A style="left:0;top:0"></div><div tabindex=0 aria-label=B style="left:200px;top:0"></div>
		<div tabindex=0 aria-label=C style="left:200px;top:200px"></div><div tabindex=0 aria-label=D style="left:0;top:200px"></div>
		<div tabindex=0 draggable=true aria-label=Card style="left:0;top:300px"></div><script>
		let passed = [], drawing = false, done = "", over = []
		const name = (e) => document.elementFromPoint(e.clientX, e.clientY)?.ariaLabel
		onmousedown = (e) => { if (!e.target.draggable) e.preventDefault() } // nothing is selected
		onpointerdown = (e) => { drawing = name(e) !== "Card" }
		onpointermove = (e) => { const n = drawing && name(e); if (n && n !== passed.at(-1)) passed.push(n) }
		onpointerup = () => { if (drawing) done = passed.join(""); drawing = false; passed = [] }
		ondragstart = (e) => e.dataTransfer.setData("text/plain", "x")
		ondragenter = (e) => { e.preventDefault(); if (e.target.ariaLabel && e.target.ariaLabel !== "Card") over.push(e.target.ariaLabel) }
		ondragover = (e) => e.preventDefault()
		ondrop = (e) => { e.preventDefault(); over.push("drop") }
	</script>`)
	via := func(step *domtapv1.Step, waypoints ...*domtapv1.Target) *domtapv1.Step {
		step.GetDrag().Waypoints = waypoints
		return step
	}
	s.do(drag(s.at("A"), s.at("D"), 0, 0))
	s.is("done", "AD")
	s.do(via(drag(s.at("A"), s.at("D"), 0, 0), s.at("B"), &domtapv1.Target{Role: "generic", Name: "C"}))
	s.is("done", "ABCD")
	s.do(via(drag(s.at("A"), nil, 0, 200), point(220, 20), s.at("C")))
	s.is("done", "ABCD")
	s.do(via(drag(s.at("Card"), s.at("A"), 0, 0), s.at("C"), s.at("B")))
	s.is("over.join()", "C,B,A,drop")
	s.refused(via(drag(s.at("A"), s.at("D"), 0, 0), &domtapv1.Target{Text: "Nowhere"}), "TARGET_NOT_FOUND")
}

// TestScrolls scrolls elements into view and by the wheel.
func TestScrolls(t *testing.T) {
	s := staged(t, `<body style="margin:0"><div tabindex=0 aria-label=Inner style="height:100px;width:200px;overflow:auto"><div style="height:1000px">x</div></div><div style="height:3000px"></div><button>Low</button><script>
		wheels = 0; addEventListener("wheel", (e) => { if (e.isTrusted) wheels++ })</script>`)
	inner, low := s.at("Inner"), s.at("Low")
	s.do(scroll(inner, 0, 150))
	s.is(`document.querySelector("div").scrollTop`, "150")
	if said := s.do(scroll(inner, 0, 5000)); !strings.Contains(said, "ok, by 0,750") {
		t.Errorf("scrolling to the end says %q", said)
	}
	s.do(scroll(nil, 0, 700))
	s.is("scrollY", "700")
	s.do(scroll(low, 0, 0))
	s.is(`document.querySelector("button").getBoundingClientRect().bottom <= innerHeight`, "true")
	s.do(scroll(nil, 0, 5000))
	if said := s.do(scroll(nil, 0, 100)); !strings.Contains(said, "nothing scrolled") {
		t.Errorf("scrolling beyond the end says %q", said)
	}
	s.is("wheels > 3", "true")
}

// TestHoverOpensAMenu hovers an element and clicks in the menu that appears.
func TestHoverOpensAMenu(t *testing.T) {
	s := staged(t, `<style>.sub { display: none } .menu:hover .sub { display: block }</style><div class=menu style="width:200px"><button>Menu</button><div class=sub><button onclick="this.textContent='Chosen'">Item</button></div></div>`)
	s.do(hover(s.at("Menu")))
	s.do(click(s.at("Item")))
	s.at("Chosen")
}

// TestDragsToTheCentre drops at a point that the dragged element itself covers as soon as it moves. The summary must contain the distance.
func TestDragsToTheCentre(t *testing.T) {
	s := staged(t, `<body style="margin:0"><style>div { position: absolute }</style>
		<div tabindex=0 aria-label=Slot style="left:100px;top:100px;width:60px;height:60px;background:#eee"></div>
		<div tabindex=0 aria-label=Piece style="left:60px;top:70px;width:80px;height:80px;background:#8888"></div>
		<div tabindex=0 aria-label=Far style="left:300px;top:3000px;width:40px;height:40px"></div><script>
		const piece = document.querySelector("[aria-label=Piece]")
		let from = null; drops = []
		piece.onpointerdown = (e) => { from = [e.pageX - piece.offsetLeft, e.pageY - piece.offsetTop]; e.preventDefault() }
		onpointermove = (e) => { if (!from) return; piece.style.left = e.pageX - from[0] + "px"; piece.style.top = e.pageY - from[1] + "px" }
		onpointerup = (e) => { if (!from) return; from = null; drops.push(e.pageX + "," + e.pageY) }
	</script>`)
	for _, c := range []struct{ to, drop, says string }{
		{"Slot", "130,130", "ok, it moved by 30,20"}, {"Far", "320,3020", "ok, it moved by 190,2890"},
	} {
		r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{drag(s.at("Piece"), s.at(c.to), 0, 0)}})
		if err != nil {
			t.Fatal(err)
		}
		s.is("drops.pop()", c.drop)
		if said := r.GetResults()[0].GetSummary(); !strings.Contains(said, c.says) || r.GetVerdict() != domtapv1.Verdict_VERDICT_CHANGED {
			t.Errorf("the drag to %s says %q, %v", c.to, said, r.GetVerdict())
		}
	}
	if said := s.do(drag(s.at("Slot"), nil, 40, 0)); !strings.HasSuffix(said, ": ok, it did not move") {
		t.Errorf("a drag that moves nothing says %q", said)
	}
}

// TestADragThatPansIsSaid pans maps: one that moves its layers, as Leaflet does, and one that draws on a canvas. Each stays where it is.
func TestADragThatPansIsSaid(t *testing.T) {
	s := staged(t, `<style>[tabindex] { width: 200px; height: 150px; overflow: hidden; position: relative } .layer { position: absolute; inset: -100px; pointer-events: none }</style>
		<div tabindex=0 aria-label=Map><div class=layer><div class=layer style="background:#cdf"></div></div></div><div tabindex=0 aria-label=Globe><canvas width=200 height=150></canvas></div><script>
		let from = null; const map = document.querySelector("[tabindex]"), layer = map.firstChild
		map.onpointerdown = (e) => from = [e.pageX, e.pageY]
		onpointermove = (e) => { if (from) layer.style.transform = "translate(" + (e.pageX - from[0]) + "px," + (e.pageY - from[1]) + "px)" }
		onpointerup = () => from = null</script>`)
	for name, want := range map[string]string{"Map": "ok, its content moved by 40,20", "Globe": "ok, it stays in its place; a screenshot shows what its canvas draws now"} {
		if said := s.do(drag(s.at(name), nil, 40, 20)); !strings.HasSuffix(said, ": "+want) {
			t.Errorf("a drag of %s says %q", name, said)
		}
	}
}

// TestADropThatNothingTakesIsSaid drags an item onto a place where its list accepts no drop, because it accepts drops only between items.
func TestADropThatNothingTakesIsSaid(t *testing.T) {
	s := staged(t, `<style>.gap { height: 12px }</style><div id=list><p tabindex=0 draggable=true>One</p><div class=gap tabindex=0 aria-label=Gap></div><p tabindex=0 draggable=true>Two</p></div><script>
		let held = null
		list.ondragstart = (e) => { held = e.target; e.dataTransfer.setData("text/plain", "x") }
		list.ondragover = (e) => { if (e.target.className === "gap") e.preventDefault() }
		list.ondrop = (e) => { if (e.target.className === "gap") { e.preventDefault(); e.target.after(held) } }</script>`)
	if said := s.do(drag(s.at("Two"), s.at("One"), 0, 0)); !strings.HasSuffix(said, "ok, dropped, and nothing there took it") {
		t.Errorf("a drop on an item says %q", said)
	}
	if said := s.do(drag(s.at("One"), s.at("Gap"), 0, 0)); strings.Contains(said, "nothing") {
		t.Errorf("a drop between items says %q", said)
	}
	s.is("list.textContent", "OneTwo")
}

// TestDisabledElementsAreScrolledAndHovered performs the actions on disabled elements that do not require an enabled element.
func TestDisabledElementsAreScrolledAndHovered(t *testing.T) {
	s := staged(t, `<body style="margin:0"><textarea disabled aria-label=Terms style="width:200px;height:60px">`+strings.Repeat("word<br>\n", 100)+`</textarea>
		<button disabled>Pay</button><div aria-disabled=true><button>Draft</button></div><button draggable=true ondragstart="event.dataTransfer.setData('text/plain', 'x')">Card</button><script>
		over = []; for (const b of document.querySelectorAll("button")) b.parentNode.addEventListener("mouseover", (e) => over.push(e.target.textContent))
		document.querySelector("[disabled]:not(textarea)").parentNode.addEventListener("dragover", (e) => { over.push("drag " + e.target.textContent) })
	</script>`)
	if said := s.do(scroll(s.at("Terms"), 0, 50)); !strings.HasSuffix(said, ": ok") {
		t.Errorf("scrolling says %q", said)
	}
	s.is(`document.querySelector("textarea").scrollTop`, "50")
	s.do(scroll(s.at("Pay"), 0, 0))
	for _, name := range []string{"Pay", "Draft"} {
		s.do(hover(s.at(name)))
		s.is("over.includes('"+name+"')", "true")
		s.refused(click(s.at(name)), "NOT_ACTIONABLE", "disabled")
	}
	s.do(drag(s.at("Card"), s.at("Pay"), 0, 0))
	s.is("over.includes('drag Pay')", "true")
	shot := &domtapv1.ScreenshotRequest{TabId: s.tab, Ref: s.at("Pay").Ref}
	if _, err := s.d.Pages.Screenshot(t.Context(), shot); err != nil {
		t.Error(err)
	}
}
