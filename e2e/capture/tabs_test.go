package capture

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"sync"
	"testing"
	"time"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// colored is a page with one color. It counts clicks and records events of visibility and focus.
const colored = `<!doctype html><title>Color</title><style>body{margin:0;background:rgb(%s)}button{margin:40px}</style><button id=count>Count 0</button>
	<input aria-label=Heard id=heard><script>
	let clicks = 0;
	count.onclick = () => { count.textContent = "Count " + ++clicks };
	for (const type of ["blur", "focus", "visibilitychange", "pagehide", "freeze"])
		for (const target of [window, document]) target.addEventListener(type, (e) => { if (e.target === target) heard.value += type + " " });
	</script>`

// TestTabsBehindOthersAreSeenAndActedOn takes pictures of the tabs of one window and clicks in them, in turn and concurrently. Each picture
// must show its own tab and arrive in time, although only one tab is in front. The pages must not notice it.
func TestTabsBehindOthersAreSeenAndActedOn(t *testing.T) {
	tabs, rounds := testenv.Size(3, 4), testenv.Size(2, 3)
	handlers := map[string]http.HandlerFunc{}
	for i := range tabs {
		handlers[fmt.Sprint("/", i)] = testenv.HTML(fmt.Sprintf(colored, fmt.Sprint(10+i*60, ",100,50")))
	}
	url := testenv.Pages(t, handlers)
	testenv.InOneSession(t, testenv.Shared(t), func(t *testing.T, d *testenv.Daemon) { inFront(t, d, url, tabs, rounds) })
}

// inFront uses several tabs of one session in several rounds.
func inFront(t *testing.T, d *testenv.Daemon, url string, tabs, rounds int) {
	var ids []string
	for i := range tabs {
		ids = append(ids, d.Open(fmt.Sprint(url, "/", i)))
	}
	use := func(i int) {
		resp, err := d.Pages.Screenshot(testenv.Within(t, time.Minute), &domtapv1.ScreenshotRequest{TabId: ids[i], Marks: i%2 == 1})
		if err != nil {
			t.Errorf("a picture of tab %d: %v", i, err)
			return
		}
		picture, err := png.Decode(bytes.NewReader(resp.GetImage()))
		if err != nil {
			t.Error(err)
			return
		}
		if red, _, _, _ := picture.At(700, 500).RGBA(); int(red>>8) != 10+i*60 {
			t.Errorf("the picture of tab %d shows red %d, want %d", i, red>>8, 10+i*60)
		}
		step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Selector: "#count"}}}}
		if _, err := d.Actions.Interact(testenv.Within(t, time.Minute), &domtapv1.InteractRequest{TabId: ids[i], Steps: []*domtapv1.Step{step}}); err != nil {
			t.Errorf("a click in tab %d: %v", i, err)
		}
	}
	for range rounds {
		for i := range tabs {
			use(i)
		}
	}
	var users sync.WaitGroup
	for i := range tabs {
		users.Go(func() {
			for range rounds {
				use(i)
			}
		})
	}
	users.Wait()
	for i, id := range ids {
		page := d.All(id)
		if _, found := testenv.Find(page, fmt.Sprint("Count ", 2*rounds)); !found {
			t.Errorf("tab %d was not clicked %d times: %v", i, 2*rounds, page.GetElements())
		}
		for _, e := range page.GetElements() {
			if e.GetName() == "Heard" && e.GetValue() != "" {
				t.Errorf("the page of tab %d heard %q", i, e.GetValue())
			}
		}
	}
}

// moving is a page that changes in each animation frame, and reports every second whether it had more than a few frames.
const moving = `<!doctype html><title>Moving</title><button>Touch</button><p id=moves></p><p id=said></p><script>
	let frames = 0, before = 0;
	const step = () => { moves.textContent = ++frames; requestAnimationFrame(step) };
	step();
	setInterval(() => {
		said.textContent = document.visibilityState + ", " + (frames - before < 5 ? "few" : "many") + " frames";
		before = frames;
	}, 1000);
	</script>`

// TestTabsThatNobodyUsesAreNotDrawn opens more tabs than are drawn. After a while, the first tab has only about one frame per second,
// although its page is still visible. It has all frames again after the next action on it.
func TestTabsThatNobodyUsesAreNotDrawn(t *testing.T) {
	if !testenv.Long() {
		t.Skip("set DOMTAP_LONG to wait until tabs are not drawn any more")
	}
	url := testenv.Pages(t, map[string]http.HandlerFunc{"/": testenv.HTML(moving)})
	testenv.InOneSession(t, testenv.Shared(t), func(t *testing.T, d *testenv.Daemon) {
		first := d.Open(url)
		for range 5 {
			d.Open(url)
		}
		await := func(what string) {
			t.Helper()
			until := &domtapv1.WaitCondition{Text: what}
			if _, err := d.Dom.WaitFor(testenv.Within(t, testenv.Patience), &domtapv1.WaitForRequest{TabId: first, Until: until}); err != nil {
				t.Fatalf("waiting for %q: %v", what, err)
			}
		}
		await("visible, few frames")
		step := &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Text: "Touch"}}}}
		if _, err := d.Actions.Interact(testenv.Within(t, testenv.Patience), &domtapv1.InteractRequest{TabId: first, Steps: []*domtapv1.Step{step}}); err != nil {
			t.Fatal(err)
		}
		await("visible, many frames")
	})
}
