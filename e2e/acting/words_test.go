package acting

import (
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestTextsMeanWholeWordsFirst clicks and fills what a word stands in before what has it within another word, and clicks by a title.
func TestTextsMeanWholeWordsFirst(t *testing.T) {
	s := staged(t, `<label>entries per page <input></label><label>Minutes <input id=minutes></label><label>Least minute <input id=least></label><label>Diminutive <input id=small></label><button onclick="done += 'package '">package</button><div role=button tabindex=0 onclick="done += 'sort '">Age: sort</div>
		<p>Lyon <span title="Remove all items">×</span></p><script>var done = ""; document.onclick = (e) => { if (e.target.title) done += "cleared" }</script>`)
	s.refused(click(&domtapv1.Target{Text: "remove all"}), "TARGET_NOT_FOUND")
	s.do(click(&domtapv1.Target{Text: "Age"}))
	s.do(fill(&domtapv1.Target{Label: "minute", Nth: 2}, "36"))
	s.do(click(&domtapv1.Target{Text: "remove all items"}))
	s.is("done + minutes.value + least.value + small.value", "sort cleared36")
}
