package acting

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/testenv"
)

// TestClicksAsAMouseDoes checks the events of buttons, modifiers and click counts.
func TestClicksAsAMouseDoes(t *testing.T) {
	s := staged(t, `<body style="margin:0"><button style="width:100px;height:50px">B</button><script>
		log = []
		for (const type of ["pointerdown","mousedown","pointerup","mouseup","click","auxclick","contextmenu","dblclick"])
			document.querySelector("button").addEventListener(type, (e) => { log.push([type, e.button, e.detail, e.ctrlKey ? "c" : "", e.shiftKey ? "s" : "", e.isTrusted ? "" : "fake"].join("")); if (type === "contextmenu") e.preventDefault() })
		take = () => { const all = log.join(" "); log = []; return all }
	</script>`)
	b := s.at("B")
	for _, c := range []struct {
		step *domtapv1.Step
		want string
	}{
		{click(b), "pointerdown00 mousedown01 pointerup00 mouseup01 click01"},
		{&domtapv1.Step{Action: &domtapv1.Step_DoubleClick{DoubleClick: &domtapv1.DoubleClickStep{Target: b}}},
			"pointerdown00 mousedown01 pointerup00 mouseup01 click01 pointerdown00 mousedown02 pointerup00 mouseup02 click02 dblclick02"},
		{&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: b, Button: "right", Modifiers: []string{"Control", "Shift"}}}},
			"pointerdown20cs mousedown21cs contextmenu20cs pointerup20cs mouseup21cs auxclick21cs"},
		{&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: b, Button: "middle"}}},
			"pointerdown10 mousedown11 pointerup10 mouseup11 auxclick11"},
		{&domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: b, Count: 3}}},
			"pointerdown00 mousedown01 pointerup00 mouseup01 click01 pointerdown00 mousedown02 pointerup00 mouseup02 click02 dblclick02 pointerdown00 mousedown03 pointerup00 mouseup03 click03"},
		{hold(b, time.Millisecond), "pointerdown00 mousedown01 pointerup00 mouseup01 click01"},
		{click(point(50, 25)), "pointerdown00 mousedown01 pointerup00 mouseup01 click01"},
	} {
		said := s.do(c.step)
		s.is("take()", c.want)
		if c.step.GetClick().GetTarget().GetX() > 0 && !strings.Contains(said, `button "B"`) {
			t.Errorf("a click at a point says %q", said)
		}
	}
	s.refused(click(point(5000, 10)), "INVALID", "outside of the viewport")
}

// hold presses an element for a time.
func hold(t *domtapv1.Target, d time.Duration) *domtapv1.Step {
	return &domtapv1.Step{Action: &domtapv1.Step_Click{Click: &domtapv1.ClickStep{Target: t, Hold: durationpb.New(d)}}}
}

// TestHolds presses elements that react to a long press, and drags elements that move only after one.
func TestHolds(t *testing.T) {
	s := &stage{t: t, d: testenv.Shared(t)} // its timers are short, and other tests would delay them
	s.show(`<style>* { margin: 0 } button, li { display: block; width: 120px; height: 30px; touch-action: none; user-select: none }</style>
		<div id=box></div><button id=stay>Stay</button><button id=menu>Menu</button><button id=gone>Gone</button><button id=moved>Moved</button><ul><li role=button tabindex=0 id=a>Alpha<li role=button tabindex=0 id=b>Beta</ul><script>
		var log = [], timer, note = (what) => log.push(what), take = () => { const all = log.join(" "); log = []; return all };
		const held = (el, ms, act) => { el.onpointerdown = () => { timer = setTimeout(act, ms) }; el.onpointerup = () => clearTimeout(timer); el.onclick = () => note("click " + el.id) };
		held(stay, 100, () => note("held"));
		held(menu, 100, () => { note("open"); const d = document.createElement("div"); d.id = "cover"; d.style = "position:fixed;left:0;top:0;width:300px;height:300px;background:#ddd"; document.body.append(d) });
		held(gone, 100, () => { note("removed"); gone.remove() });
		moved.onpointerdown = () => note("pressed");
		let ready = false, dragging = null;
		for (const li of document.querySelectorAll("li")) li.onpointerdown = (e) => { ready = false; dragging = li; setTimeout(() => { ready = true }, 100) };
		addEventListener("pointermove", () => { if (dragging && !ready) { note("too soon"); dragging = null } });
		addEventListener("pointerup", (e) => { if (dragging) { const at = document.elementFromPoint(e.clientX, e.clientY); if (at && at !== dragging && at.tagName === "LI") { at.after(dragging); note("sorted") } } dragging = null });
	</script>`)
	said := func(step *domtapv1.Step, summary, page string) {
		t.Helper()
		if got := s.do(step); !strings.Contains(got, summary) {
			t.Errorf("the summary is %q, want %q", got, summary)
		}
		s.is("take()", page)
	}
	const long = 400 * time.Millisecond
	said(click(s.at("Stay")), "ok", "click stay")
	said(hold(s.at("Stay"), long), "ok, held for 400ms", "held click stay")
	said(hold(s.at("Menu"), long), `ok, held for 400ms: then <div id=cover> was in its place, so there was no click`, "open")
	s.eval("cover.remove()")
	said(hold(s.at("Gone"), long), "ok, held for 400ms: the page removed it", "removed")
	drag := &domtapv1.DragStep{Target: s.at("Alpha"), To: s.at("Beta")}
	said(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: drag}}, "", "too soon")
	drag.Hold = durationpb.New(long)
	said(&domtapv1.Step{Action: &domtapv1.Step_Drag{Drag: drag}}, "ok, it moved by 0,30", "sorted")
	s.refused(hold(s.at("Stay"), 11*time.Second), "INVALID", "at most 10 s")
}

// TestAHoverHasWhatItsTimersOpen hovers elements that open something after a delay.
func TestAHoverHasWhatItsTimersOpen(t *testing.T) {
	s := staged(t, `<style>button { padding: 10px }</style><button id=a>Enter</button><button id=b>Move</button><button id=c>Over</button><div id=out></div><script>
		var show = (t) => { out.innerHTML = "<button>Archive " + t + "</button>" };
		a.onmouseenter = () => { a.className = "hot"; setTimeout(show, 150, "entered") };
		b.onpointermove = () => { if (!b.timer) b.timer = setTimeout(show, 100, "moved") };
		c.onmouseover = () => { requestAnimationFrame(() => { c.className = "hot" }); setTimeout(show, 300, "over") };
	</script>`)
	for name, want := range map[string]string{"Enter": "Archive entered", "Move": "Archive moved", "Over": "Archive over"} {
		r, err := s.d.Actions.Interact(t.Context(), &domtapv1.InteractRequest{TabId: s.tab, Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Hover{Hover: &domtapv1.HoverStep{Target: s.at(name)}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(r.GetDiff().GetAdded(), func(e *domtapv1.Element) bool { return e.GetText() == want }) {
			t.Errorf("hover %q: the answer has no %q: %v", name, want, r)
		}
	}
}

// TestClickIsAHandfulOfCalls counts the browser commands of a click that changes nothing.
func TestClickIsAHandfulOfCalls(t *testing.T) {
	s := &stage{t: t, d: testenv.Shared(t)} // other tests would send commands at the same time
	s.show(`<button>Idle</button>`)
	b := s.at("Idle")
	s.do(click(b))
	s.do(click(b)) // queries once for listeners that the press has added
	before := s.d.Browser.Sent()
	s.do(click(b))
	sent := s.d.Browser.Sent() - before
	t.Logf("a click that changes nothing: %d commands, with reading before and after it", sent)
	if sent > 14 {
		t.Errorf("a click that changes nothing took %d commands", sent)
	}
}
