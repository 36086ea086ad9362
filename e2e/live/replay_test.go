package live

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/recording"
	"github.com/domtap/domtap/internal/server/replay"
	"github.com/domtap/domtap/internal/testenv"
)

const tillPage = `<!doctype html><title>Till</title><h1>Till</h1><button id=pay style="margin:200px 0 0 300px">Pay now</button>
<script>pay.onclick = () => { fetch('/receipt?of=12'); const b = document.createElement('button'); b.textContent = 'Refund'; document.body.append(b) }</script>`

// TestReplayInTheLivePage records a flow and uses the page of its replay. Its parts depend on each other.
func TestReplayInTheLivePage(t *testing.T) {
	t.Parallel()
	st := &stage{t: t}
	st.d = testenv.StartWithFronts(t, tabpool.Config{}, server.Config{AllowEval: true, Recording: recording.Config{Dir: t.TempDir()}}, browser.Config{}, func(*server.Server) {})
	st.shop = st.d.Open(testenv.Serve(t, testenv.HTML(tillPage)))
	st.page = serveReplay(t, st.record())
	st.live = st.d.Open(st.page + "#token=" + token)
	for _, part := range []struct {
		name string
		test func(*testing.T, *stage)
	}{
		{"ShowsTheEnd", showsTheEnd},
		{"Scrubs", scrubsTheReplay},
		{"ShowsAStepAndItsDiff", showsAStepAndItsDiff},
		{"FindsARequest", findsARequestOfTheReplay},
		{"Plays", plays},
		{"HasNoBarriers", hasNoBarriers},
		{"LeadsTheTabKeyEverywhere", leadsTheTabKeyEverywhere},
		{"CallsOnlyItsMethods", callsOnlyItsMethods},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			st.t = t
			part.test(t, st)
		}) {
			return
		}
	}
}

// record records two steps of the agent and a script, and returns the file.
func (st *stage) record() string {
	st.t.Helper()
	ctx := testenv.Within(st.t, limit)
	begun, err := st.d.Recordings.Record(ctx, &domtapv1.RecordRequest{TabId: st.shop})
	if err != nil {
		st.t.Fatal(err)
	}
	st.pictured(ctx)
	for _, name := range []string{"Pay now", "Refund"} {
		if _, err := st.act(name); err != nil {
			st.t.Fatal(err)
		}
	}
	in[bool](st, st.shop, `fetch("/receipt?of=13").then(r => r.text()).then(() => true)`) // the third step
	if _, err := st.d.Recordings.StopRecording(ctx, new(domtapv1.StopRecordingRequest)); err != nil {
		st.t.Fatal(err)
	}
	return begun.GetRecordings()[0].GetFile()
}

// pictured waits until the tab's recording contains a picture, because the first one is taken concurrently with the actions.
func (st *stage) pictured(ctx context.Context) {
	st.t.Helper()
	for {
		answer, err := st.d.Recordings.ListRecordings(ctx, &domtapv1.ListRecordingsRequest{TabId: st.shop})
		if err != nil {
			st.t.Fatalf("the recording has no picture: %v", err)
		}
		if answer.GetRecordings()[0].GetPictures() > 0 {
			return
		}
	}
}

// serveReplay serves a recording with the live page, as domtap replay --ui does, and returns the URL of the page.
func serveReplay(t *testing.T, file string) string {
	t.Helper()
	player, err := replay.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(player.Close)
	daemon, err := server.New(tabpool.New(replay.NewBrowser(), tabpool.Config{}), server.Config{Replay: player, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	var all []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	front, err := gateway.New(daemon, gateway.Config{Listener: all[0], Page: ui.Handler("test"), Methods: ui.Methods()})
	if err != nil {
		t.Fatal(err)
	}
	daemon.AddFront(front)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- daemon.Serve(ctx, all[1]) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + all[0].Addr().String() + "/"
}

// has waits until the live page contains an element.
func (st *stage) has(selector string) {
	st.t.Helper()
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Selector: selector}}, selector)
}

func showsTheEnd(t *testing.T, st *stage) {
	st.has(`#link[data-state=replay]`)
	st.shows("step 3 of 3")
	st.showsPicture()
	st.shows("Refund (button")
	if seen := in[[]string](st, st.live, `[...document.querySelectorAll('#updates, #shoot, #over, .pause')].filter(e => e.checkVisibility()).map(e => e.textContent)`); len(seen) > 0 {
		t.Errorf("controls of live tabs are shown: %q", seen)
	}
	if title := in[string](st, st.live, `document.title`); title != "Till · domtap replay" {
		t.Errorf("the title is %q", title)
	}
}

func scrubsTheReplay(t *testing.T, st *stage) {
	st.do(press("s"), press("Home"))
	st.shows("step 0 of 3")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "option", Name: "Refund", State: domtapv1.ElementState_ELEMENT_STATE_GONE}}, "the page text of the start")
	st.has(`#steps > .later`)
	st.do(press("End"))
	st.shows("step 3 of 3")
	st.shows("Refund (button")
	if left := in[int](st, st.live, `document.querySelectorAll('#steps > .later').length`); left != 0 {
		t.Errorf("%d lines are later than the end", left)
	}
	st.do(press("Home"), press("."))
	st.shows("step 1 of 3")
	st.do(press("."))
	st.shows("step 2 of 3")
	st.do(press(","))
	st.shows("step 1 of 3")
}

func showsAStepAndItsDiff(t *testing.T, st *stage) {
	st.do(press("s"), press("End"))
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Selector: "#steps > .act:not(.act ~ .act) .step"}}}})
	st.shows("step 1 of 3")
	st.has(`#steps > .now pre .added`)
	if diff := in[string](st, st.live, `document.querySelector('#steps > .now pre').textContent`); !strings.Contains(diff, "<button>Refund</button>") {
		t.Errorf("the diff of the step is %q", diff)
	}
	st.do(press("4"))
	st.has(`#changes pre .added`)
	// The click is at the button's position in the recorded picture, which is smaller than the page.
	st.has(`#spot:not([hidden])`)
	const off = `new Promise(done => {
		const look = () => {
			const image = document.getElementById('picture'), r = document.getElementById('spot').getBoundingClientRect(), o = image.getBoundingClientRect()
			if (!image.complete || r.width === 0) return setTimeout(look, 50)
			done([(r.left + r.width / 2 - o.left) / o.width, (r.top + r.height / 2 - o.top) / o.height, image.naturalWidth])
		}
		look()
	})`
	button := in[[]float64](st, st.shop, `(r => [r.left / innerWidth, r.top / innerHeight, r.right / innerWidth, r.bottom / innerHeight])(document.getElementById('pay').getBoundingClientRect())`)
	if p := in[[]float64](st, st.live, off); p[0] < button[0] || p[0] > button[2] || p[1] < button[1] || p[1] > button[3] || p[2] > 480 {
		t.Errorf("the click is shown at %v, and the button is at %v", p, button)
	}
	if seconds := in[string](st, st.live, `document.getElementById('taken').textContent`); !strings.HasPrefix(seconds, "at 0:") {
		t.Errorf("the picture is of %q", seconds)
	}
}

func findsARequestOfTheReplay(t *testing.T, st *stage) {
	st.do(press("5"))
	st.do(fill("Find", "receipt of=12"))
	st.shows("1 of 3 requests")
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Selector: "#requests .request"}}}})
	st.do(fill("Find", ""))
	st.has(`#requests > .later`)
}

func plays(t *testing.T, st *stage) {
	in[bool](st, st.live, `(document.activeElement.blur(), true)`) // in the field, keys would be text
	st.do(press("s"), press("Home"))
	st.shows("step 0 of 3")
	in[bool](st, st.live, `(e => { e.value = '100'; return true })(document.getElementById('speed'))`)
	st.do(press("p"))
	st.shows("step 3 of 3")
	st.until(&domtapv1.WaitCondition{Element: &domtapv1.ElementCondition{Role: "button", Name: "Play"}}, "that it stops at the end")
}

func leadsTheTabKeyEverywhere(t *testing.T, st *stage) {
	in[bool](st, st.live, `(document.querySelector('[data-view=text]').click(), true)`)
	walked := st.walk()
	last := -1
	for _, want := range []string{"Previous step", "play", "Next step", "speed", "scrub", "filter", "frame", "Page text", "Changes", "Network", "as agents", "lines"} {
		at := slices.IndexFunc(walked, func(w focus) bool { return strings.Contains(w.What, want) })
		if at < 0 {
			t.Errorf("the Tab key does not lead to %q: %v", want, walked)
		} else if at <= last {
			t.Errorf("the Tab key leads to %q before what stands before it: %v", want, walked)
		}
		last = max(last, at)
	}
	for _, w := range walked {
		if !w.Visible {
			t.Errorf("the focus on %q cannot be seen", w.What)
		}
	}
}

func callsOnlyItsMethods(t *testing.T, st *stage) {
	for _, e := range st.log(&domtapv1.ReadLogRequest{Kinds: []domtapv1.LogKind{domtapv1.LogKind_LOG_KIND_NETWORK}}) {
		_, method, isCall := strings.Cut(e.GetUrl(), "/domtap.v1.")
		if isCall && !slices.Contains(ui.Methods(), method) {
			t.Errorf("the page called %s", method)
		}
	}
	for _, wrong := range st.log(&domtapv1.ReadLogRequest{ProblemsOnly: true}) {
		if !isExpected(wrong) {
			t.Errorf("the log of the page has a problem: %v", wrong)
		}
	}
}

// TestMarksFitPicturesOfPhones shows a tab whose device has three pixels per CSS pixel, live and recorded. The click must be shown on its
// button. The recording ends with a picture of the click's effect.
func TestMarksFitPicturesOfPhones(t *testing.T) {
	t.Parallel()
	st := newStage(t, func(c *server.Config) { c.Recording = recording.Config{Dir: t.TempDir()} })
	ctx := testenv.Within(t, limit)
	made, err := st.d.Sessions.CreateSession(ctx, &domtapv1.CreateSessionRequest{Settings: &domtapv1.SessionSettings{Emulation: &domtapv1.Emulation{
		Viewport: &domtapv1.Viewport{Width: 390, Height: 664}, DeviceScaleFactor: proto.Float64(3), Mobile: proto.Bool(true)}}})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := st.d.Tabs.OpenTab(ctx, &domtapv1.OpenTabRequest{SessionId: made.GetSession().GetId(),
		Url: testenv.Serve(t, testenv.HTML(`<!doctype html><meta name=viewport content="width=device-width"><title>Phone</title><button style="margin:200px 0 0 150px" onclick="document.body.append('paid')">Pay now</button>`))})
	if err != nil {
		t.Fatal(err)
	}
	st.shop = opened.GetTab().GetId()
	taken, err := st.d.Pages.Screenshot(ctx, &domtapv1.ScreenshotRequest{TabId: st.shop})
	if err != nil || taken.GetPixelRatio() != 3 {
		t.Fatalf("a picture has %v pixels for each CSS pixel: %v", taken.GetPixelRatio(), err)
	}
	begun, err := st.d.Recordings.Record(ctx, &domtapv1.RecordRequest{TabId: st.shop})
	if err != nil {
		t.Fatal(err)
	}
	st.pictured(ctx)
	if _, err := st.act("Pay now"); err != nil {
		t.Fatal(err)
	}
	ended, err := st.d.Recordings.StopRecording(ctx, new(domtapv1.StopRecordingRequest))
	if err != nil || ended.GetRecordings()[0].GetPictures() != 2 {
		t.Fatalf("there are %d pictures: %v", ended.GetRecordings()[0].GetPictures(), err)
	}
	player, err := replay.Open(t.Context(), begun.GetRecordings()[0].GetFile())
	if err != nil {
		t.Fatal(err)
	}
	defer player.Close()
	if p, err := player.Picture(st.shop, nil); err != nil || p.GetPageWidth() != 390 {
		t.Errorf("a recorded picture shows %v CSS pixels: %v", p.GetPageWidth(), err)
	}
	st.live = st.d.Open(st.page + "#token=" + token + "&tab=" + st.shop)
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: &domtapv1.Target{Selector: `a[href="#tab=` + st.shop + `"]`}}}})
	st.showsPicture()
	st.do(&domtapv1.Step{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: &domtapv1.Target{Selector: "#steps > .act"}}}})
	st.has(`#spot:not([hidden])`)
	const at = `(() => { const image = document.getElementById('picture').getBoundingClientRect(), r = document.getElementById('spot').getBoundingClientRect()
		return [(r.left + r.width / 2 - image.left) / image.width * 390, (r.top + r.height / 2 - image.top) / image.height * 664] })()`
	button := in[[]float64](st, st.shop, `(r => [r.left, r.top, r.right, r.bottom])(document.querySelector('button').getBoundingClientRect())`)
	if p := in[[]float64](st, st.live, at); p[0] < button[0] || p[0] > button[2] || p[1] < button[1] || p[1] > button[3] {
		t.Errorf("the click is shown at %v, and the button is at %v", p, button)
	}
}
