package acting

import (
	"slices"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// drawersPage has a drawer at each side. The drawer on the right scrolls. One box is fixed within a moving box and is therefore no drawer.
const drawersPage = `<!doctype html><title>Drawers</title><style>
.drawer { position: fixed; top: 0; bottom: 0; width: 250px; background: #eee; transition: transform .2s }
#left { left: 0; transform: translateX(-100%) } #right { right: 0; overflow: auto; transform: translateX(100%) } .open { transform: none !important }
#bottom { top: auto; left: 300px; right: 300px; width: auto; height: 200px; transform: translateY(100%) }
#moves { transform: translateX(0); margin-top: 2000px } #moves div { position: fixed; top: 0 }
</style>
<div style="margin: 40px 300px"><button data-of=left>Left</button> <button data-of=right>Right</button> <button data-of=bottom>Bottom</button></div>
<div class=drawer id=left><button>In the left</button></div>
<div class=drawer id=right><button>In the right</button><div style="height: 3000px"></div><button>Far down in the right</button></div>
<div class=drawer id=bottom><button>In the bottom</button></div>
<div id=moves><div><button>Below</button></div></div>
<script>for (const b of document.querySelectorAll("[data-of]")) b.onclick = () => document.getElementById(b.dataset.of).classList.toggle("open")</script>`

// TestADrawerIsListedWhileItIsInView opens and closes drawers. The answer to the click must list the contents of an open drawer, and must
// not list them once the drawer has slid out.
func TestADrawerIsListedWhileItIsInView(t *testing.T) {
	s := staged(t, drawersPage)
	bar := []string{"Left", "Right", "Bottom", "Below"}
	listed := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range testenv.GetDom(t, s.d, s.tab).GetElements() {
			got = append(got, e.GetText())
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q are listed, want %q", got, want)
		}
	}
	listed(bar...)
	for _, drawer := range []struct {
		name string
		in   []string
	}{{"Left", []string{"In the left"}}, {"Right", []string{"In the right", "Far down in the right"}}, {"Bottom", []string{"In the bottom"}}} {
		s.ok(click(s.at(drawer.name)))
		listed(append(drawer.in, bar...)...)
		s.ok(click(s.at(drawer.in[len(drawer.in)-1])))
		s.ok(click(s.at(drawer.name)))
		listed(bar...)
	}
}
