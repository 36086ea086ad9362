package acting

import "testing"

// rating is a rating whose script, like a framework, renders the pointer's movement in a task of its own, and takes the rendered star at a
// click.
const rating = `<style>li { display: inline-block; width: 30px; height: 30px; background: #eee }</style>
<ul role=radiogroup aria-label=Stars><li role=radio aria-checked=false tabindex=0>1</li><li role=radio aria-checked=false tabindex=0>2</li><li role=radio aria-checked=false tabindex=0>3</li></ul>
<div class=my-rating aria-label=Taste><span tabindex=0>☆1</span><span tabindex=0>☆2</span><span tabindex=0>☆3</span></div>
<script>
const render = new MessageChannel(), chosen = {};
let over = null, rendered = null;
render.port1.onmessage = () => { rendered = over };
for (const group of document.querySelectorAll("ul,div")) {
  group.onmousemove = (e) => { over = e.target; render.port2.postMessage(0) };
  group.onclick = () => {
    const stars = [...group.children];
    chosen[group.getAttribute("aria-label")] = stars.indexOf(rendered) + 1;
    for (const star of stars) star.ariaChecked = String(star === rendered);
  };
}
</script>`

// TestAClickChoosesTheStarUnderThePointer clicks ratings whose script knows the star only after it has rendered the pointer's movement.
func TestAClickChoosesTheStarUnderThePointer(t *testing.T) {
	s := staged(t, rating)
	for _, c := range []struct{ star, chosen string }{{"3", `{"Stars":3}`}, {"1", `{"Stars":1}`}, {"☆2", `{"Stars":1,"Taste":2}`}, {"☆3", `{"Stars":1,"Taste":3}`}} {
		s.do(click(s.at(c.star)))
		s.is(`JSON.stringify(chosen)`, c.chosen)
	}
}
