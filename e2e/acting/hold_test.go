package acting

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func mouseDown(at *domtapv1.Target) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseDown{MouseDown: &domtapv1.MouseDownStep{Target: at}}}
}

func mouseMove(at *domtapv1.Target, dx, dy float64) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseMove{MouseMove: &domtapv1.MouseMoveStep{Target: at, DeltaX: dx, DeltaY: dy, Moves: 2}}}
}

func mouseUp() *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_MouseUp{MouseUp: &domtapv1.MouseUpStep{}}}
}

// turn performs steps, which must all succeed, and returns their summaries.
func (s *stage) turn(steps ...*domtapv1.Step) (said []string) {
	s.t.Helper()
	r, err := s.d.Actions.Interact(s.t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: steps})
	if err != nil {
		s.t.Fatal(err)
	}
	for i, one := range r.GetResults() {
		if !one.GetOk() {
			s.t.Errorf("%v: %v", steps[i], one)
		}
		said = append(said, one.GetSummary())
	}
	return said
}

// says checks that each summary contains the corresponding text.
func (s *stage) says(got []string, words ...string) {
	s.t.Helper()
	if len(got) != len(words) {
		s.t.Fatalf("got %q", got)
	}
	for i, want := range words {
		if !strings.Contains(got[i], want) {
			s.t.Errorf("step %d says %q, not %q", i, got[i], want)
		}
	}
}

// heard lets a page record mouse events: type, button, buttons, position, and whether a script created them.
const heard = `<script>
	var log = [], note = (e) => log.push([e.type, e.button, e.buttons, e.clientX + "," + e.clientY, (e.shiftKey ? "shift" : ""), e.isTrusted ? "" : "fake"].filter((s) => s !== "").join(":"))
	var take = () => { const all = log.join(" "); log = []; return all }
	var hear = (...types) => { for (const type of types) addEventListener(type, note, true) }
</script>`

// TestAButtonStaysDownBetweenSteps draws, and checks each event that the page receives.
func TestAButtonStaysDownBetweenSteps(t *testing.T) {
	s := staged(t, heard+`<body style="margin:0"><canvas tabindex=0 aria-label=Pad width=200 height=100 style="display:block"></canvas><button style="display:block;width:100px;height:40px">Next</button><script>
		hear("mousedown", "mousemove", "mouseup", "click", "auxclick", "contextmenu")</script>`)
	got := s.turn(mouseDown(point(10, 10)), mouseMove(point(30, 50), 0, 0), mouseMove(nil, 20, 0), mouseUp())
	s.is("take()", "mousemove:0:0:10,10 mousedown:0:1:10,10 mousemove:0:1:20,30 mousemove:0:1:30,50 mousemove:0:1:40,50 mousemove:0:1:50,50 mouseup:0:0:50,50 click:0:0:50,50")
	s.says(got, `ok, on `, `ok, on `, `mouse_move by 20,0: ok, on `, `ok, clicked `)
	for i, said := range got {
		if !strings.Contains(said, `"Pad"`) {
			t.Errorf("step %d says %q", i, said)
		}
	}
	// A move to the middle of an element, and then a move by a distance. The button and the keys stay down until the release.
	right := mouseDown(s.at("Next"))
	right.GetMouseDown().Button, right.GetMouseDown().Modifiers = "right", []string{"Shift"}
	s.turn(right, mouseMove(s.at("Pad"), 5, 0), mouseUp())
	s.is(`take().replaceAll("contextmenu:2:2:50,120:shift ", "")`, "mousemove:0:0:50,120:shift mousedown:2:2:50,120:shift mousemove:0:2:77,85:shift mousemove:0:2:105,50:shift mouseup:2:0:105,50:shift auxclick:2:0:105,50:shift")
	// Without a button, only the pointer moves, and the next press is at its position.
	s.says(s.turn(mouseMove(point(20, 20), 0, 0), mouseMove(nil, 0, 100), mouseDown(nil), mouseUp()), `"Pad"`, `"Next"`, `"Next"`, `clicked button "Next"`)
	if got := s.eval("take()"); !strings.HasSuffix(got, "mousemove:0:0:20,120 mousemove:0:0:20,120 mousedown:0:1:20,120 mouseup:0:0:20,120 click:0:0:20,120") {
		t.Errorf("the page received %s", got)
	}
	s.turn(mouseMove(s.at("Next"), 0, 0), mouseDown(nil), mouseMove(point(60, 120), 0, 0), mouseUp())
}

// TestWhatIsHeldIsMoved uses a slider, selects a text, and drags through waypoints.
func TestWhatIsHeldIsMoved(t *testing.T) {
	s := staged(t, heard+`<body style="margin:0"><div id=thumb role=slider tabindex=0 aria-label=Thumb style="position:absolute;left:0;top:0;width:20px;height:20px;background:#888;touch-action:none"></div>
		<p id=words style="position:absolute;left:0;top:40px;margin:0;font:16px monospace">select these words</p>
		<script>
		var down = null
		thumb.onpointerdown = (e) => { thumb.setPointerCapture(e.pointerId); down = e.clientX; e.preventDefault() }
		thumb.onpointermove = (e) => { if (down !== null) { thumb.style.left = e.clientX - down + "px"; thumb.ariaValueNow = thumb.style.left } }
		thumb.onpointerup = () => { down = null }
	</script>`)
	got := s.turn(mouseDown(s.at("Thumb")), mouseMove(nil, 100, 0), mouseMove(nil, 50, 60), mouseUp())
	s.says(got, "ok", "ok", "ok", "ok, it moved by 150,0")
	s.is("thumb.style.left", "150px")
	y := 50.0
	s.turn(mouseDown(point(1, y)), mouseMove(point(100, y), 0, 0), mouseUp())
	s.is(`/^select th/.test(getSelection())`, "true")
	via := mouseMove(point(80, 80), 0, 0)
	via.GetMouseMove().Waypoints = []*domtapv1.Target{point(30, 90), s.at("Thumb")}
	s.eval(`hear("mousemove")`)
	s.turn(mouseDown(point(5, 90)), via, mouseUp())
	s.is(`take().split(" ").filter((e) => e.startsWith("mousemove:0:1")).map((e) => e.split(":")[3]).join(" ")`, "17,90 30,90 95,50 160,10 120,45 80,80")
}

// TestHeldDataIsDragged drags draggable elements step by step, and cancels the drag with Escape.
func TestHeldDataIsDragged(t *testing.T) {
	s := staged(t, `<body style="margin:0"><div id=src draggable=true tabindex=0 aria-label=Card style="width:80px;height:40px;background:#ccc">Card</div>
		<div id=dst tabindex=0 aria-label=Box style="width:200px;height:100px;background:#eee"></div><script>
		var log = [], take = () => { const all = log.join(" "); log = []; return all }
		src.ondragstart = (e) => { e.dataTransfer.setData("text/plain", "payload"); log.push("start") }
		dst.ondragenter = (e) => { e.preventDefault(); log.push("enter") }
		src.ondragend = (e) => log.push("end:" + e.dataTransfer.dropEffect)
		dst.ondragleave = (e) => { log.push("leave") }
		dst.ondragover = (e) => e.preventDefault()
		dst.ondrop = (e) => { e.preventDefault(); log.push("drop:" + e.dataTransfer.getData("text/plain")) }
		onkeydown = (e) => log.push("key")
	</script>`)
	s.says(s.turn(mouseDown(s.at("Card")), mouseMove(s.at("Box"), 0, 0), mouseMove(nil, 5, 5), mouseUp()), "ok", "ok, dragging", "ok, dragging", "ok, dropped")
	s.is("take()", "start enter drop:payload end:copy")
	s.says(s.turn(mouseDown(s.at("Card")), mouseMove(s.at("Box"), 0, 0), key(nil, "Escape", 0), mouseMove(nil, 5, 5)), "ok", "ok, dragging", "ok, the drag was cancelled", "")
	s.is("take()", "start enter leave end:none")
	s.turn(mouseDown(s.at("Card")), mouseMove(s.at("Box"), 0, 0), mouseUp())
	s.is("take()", "start enter drop:payload end:copy")
	s.says(s.turn(mouseDown(s.at("Card")), mouseMove(point(300, 20), 0, 0), mouseUp()), "ok", "ok, dragging", "ok, dropped, and nothing there took it")
	s.is("take()", "start end:none")
}

// TestNothingStaysPressed ends turns with a pressed button in every way, and checks that the page received the release.
func TestNothingStaysPressed(t *testing.T) {
	s := staged(t, `<title>Pressed</title><body style="margin:0"><button style="width:100px;height:40px">Hold</button><button style="width:100px;height:40px" disabled>Off</button><button style="width:100px;height:40px" onmousedown="alert('Now')">Ask</button><p id=out>none</p><script>
		var presses = 0, down = false
		addEventListener("mousedown", () => { presses++; down = true }, true); addEventListener("mouseup", () => { down = false }, true)
		addEventListener("mouseup", () => { out.textContent = "released" })
		var rest = async () => { while (down) await new Promise((r) => setTimeout(r, 5)); return presses }
	</script>`)
	down := mouseDown(s.at("Hold"))
	request := func(steps ...*domtapv1.Step) *domtapv1.InteractRequest {
		return &domtapv1.InteractRequest{TabId: s.tab, Steps: steps}
	}
	// The turn ends normally: the answer contains the effect of the release and reports it.
	r, err := s.d.Actions.Interact(t.Context(), request(down, mouseMove(nil, 10, 0)))
	if err != nil || !strings.HasSuffix(r.GetResults()[1].GetSummary(), "; the pressed button was released at the end of the turn") {
		t.Fatalf("got %v, %v", r, err)
	}
	s.is("out.textContent + down", "releasedfalse")
	// A step fails, with and without ending the turn.
	for _, stop := range []bool{true, false} {
		in := request(down, fill(s.at("Off"), "x"), mouseMove(nil, 1, 1))
		in.StopOnError = proto.Bool(stop)
		if r, err := s.d.Actions.Interact(t.Context(), in); err != nil || r.GetResults()[1].GetOk() {
			t.Fatalf("got %v, %v", r, err)
		}
		s.is("down", "false")
	}
	s.is("rest()", "3")
	// The deadline expires, or the caller disconnects, while the button is held.
	held := mouseDown(s.at("Hold"))
	held.GetMouseDown().Hold = durationpb.New(10 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	_, _ = s.d.Actions.Interact(ctx, request(held))
	cancel()
	s.is("rest()", "4")
	ctx, cancel = context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := s.d.Actions.Interact(ctx, request(held))
		gone <- err
	}()
	s.eval("(async () => { while (!down) await new Promise((r) => setTimeout(r, 5)) })()")
	cancel()
	<-gone
	s.is("rest()", "5")
	// The press opens a dialog.
	r, err = s.d.Actions.Interact(t.Context(), request(mouseDown(s.at("Ask")), mouseMove(nil, 10, 0), mouseUp()))
	if err != nil || r.GetVerdict() != domtapv1.Verdict_VERDICT_DIALOG {
		t.Fatalf("got %v, %v", r, err)
	}
	if _, err := s.d.Tabs.AnswerDialog(t.Context(), &domtapv1.AnswerDialogRequest{TabId: s.tab, Accept: true}); err != nil {
		t.Fatal(err)
	}
	s.is("rest()", "6")
	// At the start of the next turn, no button is down.
	s.turn(click(s.at("Hold")))
	s.is("down + ' ' + presses", "false 7")
}

// TestAPressThatStaysIsGuarded presses elements that are disabled, covered, or move away under the pointer.
func TestAPressThatStaysIsGuarded(t *testing.T) {
	s := staged(t, `<body style="margin:0"><style>button { position: absolute; top: 0; width: 60px; height: 30px }</style><button id=off style="left:0" disabled>Off</button>
		<button id=under style="left:100px">Under</button><div id=over style="position:absolute;left:90px;top:0;width:80px;height:40px;background:#ddd">Over</div><button id=moves style="left:200px">Moves</button><button id=there style="left:400px">There</button><script>
		var pressed = ""; addEventListener("mousedown", (e) => { pressed += e.target.id })
		moves.onmousemove = () => { moves.style.left = "500px"; there.style.left = "200px" }</script>`)
	s.refused(mouseDown(s.at("Off")), "NOT_ACTIONABLE", "disabled")
	s.refused(mouseDown(s.at("Under")), "NOT_ACTIONABLE", "covered", "Over")
	s.is("pressed", "")
	s.do(mouseDown(s.at("Moves")))
	s.is("pressed", "moves")
}

// TestStepsOfTheMouseFollowEachOther sends mouse steps in an invalid order.
func TestStepsOfTheMouseFollowEachOther(t *testing.T) {
	s := staged(t, `<button>A</button>`)
	a := s.at("A")
	for name, steps := range map[string][]*domtapv1.Step{
		"no button is down": {mouseUp()}, "a button is down already": {mouseDown(a), mouseDown(a)}, "mouse_up first": {mouseDown(a), click(a)},
		"no earlier step of this request moves the pointer": {mouseMove(nil, 1, 1)},
	} {
		_, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: steps})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestTheWheelSaysWhoHandledIt turns the wheel over an element that zooms, with a modifier key, over one that scrolls, and over a frame.
func TestTheWheelSaysWhoHandledIt(t *testing.T) {
	s := staged(t, `<body style="margin:0;height:3000px"><canvas id=map tabindex=0 aria-label=Map width=200 height=100 style="display:block"></canvas><script>
		var zoom = ""; map.addEventListener("wheel", (e) => { zoom += [e.deltaY, e.ctrlKey, e.isTrusted, e.clientX, e.clientY].join(); e.preventDefault() }, { passive: false })</script>`)
	step := scroll(point(50, 60), 0, -120)
	step.GetScroll().Modifiers = []string{"Control"}
	if got := s.do(step); !strings.HasSuffix(got, "ok, the page handled the wheel itself") {
		t.Errorf("got %q", got)
	}
	s.is("zoom + scrollY", "-120,true,true,50,600")
	s.do(scroll(point(50, 200), 0, 100))
	s.is("scrollY", "100")
	s.show(`<iframe style="position:fixed;inset:0;width:100%;height:100%" srcdoc="<body style='height:3000px'>Long"></iframe>`)
	if got := s.do(scroll(nil, 0, 100)); !strings.HasSuffix(got, "ok, a frame under the pointer may have scrolled") {
		t.Errorf("over a frame: got %q", got)
	}
}

// TestAKeyIsHeld holds a key. The page must receive one press, repeats, and the release, even after a timeout.
func TestAKeyIsHeld(t *testing.T) {
	s := staged(t, `<canvas tabindex=0 aria-label=Game width=50 height=50></canvas><script>
		var log = [], began = 0, took = 0
		addEventListener("keydown", (e) => { if (!e.repeat) began = e.timeStamp; log.push("down " + e.key + (e.repeat ? " again" : "")) })
		addEventListener("keyup", (e) => { took = e.timeStamp - began; log.push("up " + e.key) })
		var take = () => { const all = [...new Set(log)].join(", "); log = []; return all }
		var up = async () => { while (!log.some((e) => e.startsWith("up"))) await new Promise((r) => setTimeout(r, 5)); return take() }</script>`)
	held := func(at *domtapv1.Target, key string, d time.Duration) *domtapv1.Step {
		return &domtapv1.Step{Action: &domtapv1.Step_Press{Press: &domtapv1.PressStep{Key: key, Target: at, Hold: durationpb.New(d)}}}
	}
	if got := s.do(held(s.at("Game"), "ArrowRight", 700*time.Millisecond)); !strings.Contains(got, "ok") {
		t.Errorf("got %q", got)
	}
	s.is("take()", "down ArrowRight, down ArrowRight again, up ArrowRight")
	s.is("took >= 650", "true")
	s.do(held(nil, "Shift+ArrowUp", 50*time.Millisecond))
	s.is("take()", "down Shift, down ArrowUp, up ArrowUp, up Shift")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, _ = s.try(ctx, held(nil, "ArrowLeft", 10*time.Second))
	if got := s.eval("up()"); !strings.HasPrefix(got, "down ArrowLeft, ") || !strings.HasSuffix(got, "up ArrowLeft") {
		t.Errorf("a key that is held beyond the deadline: %s", got)
	}
	s.refused(held(nil, "漢", time.Second), "INVALID", "no key of the keyboard types it")
	s.refused(held(nil, "a", 11*time.Second), "INVALID", "at most 10 s")
}
