package live

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// agent is the client whose steps the live page shows.
const agent = "agent-under-test"

// act has the agent click a button of the shop.
func (st *stage) act(name string) (*domtapv1.InteractResponse, error) {
	return st.d.Actions.Interact(testenv.Within(st.t, limit), &domtapv1.InteractRequest{TabId: st.shop, ClientId: agent, Steps: []*domtapv1.Step{click("button", name)}})
}

// row waits for a row of the timeline, and returns its texts.
func (st *stage) row(has string) []string {
	st.t.Helper()
	const find = `new Promise(done => {
		const look = () => {
			const row = [...document.querySelectorAll('#steps > li')].findLast(li => li.textContent.includes(HAS))
			if (row) done([...row.querySelectorAll('button span')].map(e => e.textContent))
			else setTimeout(look, 50)
		}
		look()
	})`
	return in[[]string](st, st.live, strings.Replace(find, "HAS", `"`+has+`"`, 1))
}

func showsTheTimeline(t *testing.T, st *stage) {
	st.row("opened")
	if _, err := st.act("Pay now"); err != nil {
		t.Fatal(err)
	}
	row := strings.Join(st.row("changed"), " | ")
	for _, want := range []string{"click", "“Pay now” button", agent, "token"} {
		if !strings.Contains(row, want) {
			t.Errorf("the step is shown as %s, without %s", row, want)
		}
	}
	if _, err := st.act("Not there"); err == nil {
		t.Fatal("a button that is not there was clicked")
	}
	st.row("target not found") // it ran before
	in[bool](st, st.shop, `(console.error('the till is broken <b>now</b>'), true)`)
	if row := st.row("the till is broken <b>now</b>"); row[1] != "error" {
		t.Errorf("a problem is shown as %q", row)
	}
	// A focused row shows in the picture where its step took place.
	in[bool](st, st.live, `([...document.querySelectorAll('#steps > li')].find(li => li.textContent.includes('“Pay now” button')).querySelector('button').focus(), true)`)
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: "#spot:not([hidden])"}}, "the place of the click")
	// While a picture is replaced, it has no width until the next one is loaded.
	const off = `(async () => {
		while (!document.getElementById('picture').naturalWidth) await document.getElementById('picture').decode().catch(() => new Promise(requestAnimationFrame))
		const at = e => { const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2] }
		const image = document.getElementById('picture'), scale = image.clientWidth / image.naturalWidth, origin = image.getBoundingClientRect()
		const [x, y] = at(document.getElementById('spot'))
		return [(x - origin.left) / scale, (y - origin.top) / scale]
	})()`
	button := in[[]float64](st, st.shop, `(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('button').getBoundingClientRect())`)
	if p := in[[]float64](st, st.live, off); p[0] < button[0] || p[0] > button[2] || p[1] < button[1] || p[1] > button[3] {
		t.Errorf("the click is shown at %v, and the button is at %v", p, button)
	}
	// The page's own reads are not shown as steps.
	if all := in[string](st, st.live, `document.getElementById('steps').textContent + document.getElementById('clients').textContent`); strings.Contains(all, "live-page") {
		t.Errorf("the page shows its own reads: %s", all)
	}
}

func holdsClients(t *testing.T, st *stage) {
	st.do(click("button", "Pause "+agent))
	st.shows("1 client paused")
	held := make(chan error, 1)
	go func() {
		_, err := st.act("Pay now")
		held <- err
	}()
	if row := strings.Join(st.row("waiting: paused"), " | "); !strings.Contains(row, agent) {
		t.Errorf("the call that waits is shown as %s", row)
	}
	select {
	case err := <-held:
		t.Fatalf("the call of a paused client ended: %v", err)
	default:
	}
	st.do(click("button", "Resume "+agent))
	if err := <-held; err != nil {
		t.Errorf("the call that waited failed: %v", err)
	}
	st.do(click("button", "Take over"))
	st.shows("You have taken over")
	ctx := testenv.Within(t, limit)
	pauses, err := st.d.Timelines.ListPauses(ctx, &domtapv1.ListPausesRequest{TabId: st.shop})
	if err != nil || len(pauses.GetPauses()) != 1 || pauses.GetPauses()[0].GetBy() != "live-page" {
		t.Errorf("the tab is held by %v, %v", pauses, err)
	}
	st.do(click("button", "Hand back"))
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "button", Name: "Take over"}}, "that it is handed back")
	if _, err := st.d.Dom.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: st.live, Until: &domtapv1.WaitCondition{Text: "handed back"}, Timeout: durationpb.New(limit)}); err != nil {
		t.Error(err)
	}
}
