package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// containers holds controls that a label names through their container, as UI libraries draw ratings, codes and sliders with two thumbs.
const containers = `<style>.thumb { display: inline-block; width: 20px; height: 20px; border: 1px solid } .star { display: inline-block; width: 20px; height: 20px }</style>
<label for=stars>Rating</label><ul id=stars tabindex=0></ul>
<label for=price>Price</label><div id=price><div class=thumb role=slider tabindex=0 aria-valuemin=0 aria-valuemax=100 aria-valuenow=10></div><div class=thumb role=slider tabindex=0 aria-valuemin=0 aria-valuemax=100 aria-valuenow=90></div></div>
<label for=pin>Pin</label><div id=pin><input maxlength=1><input maxlength=1><input maxlength=1><input maxlength=1></div>
<span id=lv>Volume</span><span aria-labelledby=lv><label><input type=radio name=v value=1> 1 bar</label><label><input type=radio name=v value=2> 2 bars</label></span>
<p>Weight</p><input type=range aria-label=Weight id=low value=10><input type=range aria-label=Weight id=high value=90>
<script>
rate = 4; function draw() { stars.innerHTML = [1, 2, 3, 4, 5].map((n) => "<li class=star><div role=radio class=star tabindex=0 aria-setsize=5 aria-posinset=" + n + " aria-checked=" + (n <= rate) + ">☆</div></li>").join("") }
stars.onclick = (e) => { const n = +e.target.ariaPosInSet; rate = n === rate ? 0 : n; draw() }; draw()
for (const thumb of price.children) thumb.onkeydown = (e) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key]; if (by) thumb.ariaValueNow = +thumb.ariaValueNow + by }
numbers = () => [...price.children].map((t) => t.ariaValueNow).join("-"); code = () => [...pin.children].map((i) => i.value).join("")
</script>`

// TestFillByTheLabelOfAContainer fills ratings, codes, choices and sliders whose label names their container, or all of them.
func TestFillByTheLabelOfAContainer(t *testing.T) {
	s := staged(t, containers)
	label := func(words string) *domtapv1.Target { return &domtapv1.Target{Label: words} }
	s.do(fill(label("Rating"), "2"))
	s.is("rate", "2")
	s.do(fill(label("Rating"), "2"))
	s.do(fill(label("Price"), "20 - 80"))
	s.do(fill(&domtapv1.Target{Label: "Price", Nth: 2}, "70"))
	s.do(fill(label("Pin"), "1234"))
	s.do(fill(label("Volume"), "2"))
	s.do(fill(label("Weight"), "95-97"))
	s.is(`[rate, numbers(), code(), document.querySelector("[name=v]:checked").value, low.value, high.value].join()`, "2,20-70,1234,2,95,97")
	s.refused(fill(label("Rating"), "9"), "TARGET_NOT_FOUND", "no single choice")
	s.refused(fill(label("Price"), "5"), "TARGET_NOT_FOUND", "has 2 sliders")
}
