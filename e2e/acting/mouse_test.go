package acting

import (
	"strings"
	"testing"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// TestClicksAsAMouseDoes looks at the events that buttons, modifiers and counts make.
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

// TestClickIsAHandfulOfCalls counts what a click that changes nothing costs on the way to the browser.
func TestClickIsAHandfulOfCalls(t *testing.T) {
	s := staged(t, `<button>Idle</button>`)
	b := s.at("Idle")
	s.do(click(b))
	before := s.d.Browser.Sent()
	s.do(click(b))
	sent := s.d.Browser.Sent() - before
	t.Logf("a click that changes nothing: %d commands, with reading before and after it", sent)
	if sent > 14 {
		t.Errorf("a click that changes nothing took %d commands", sent)
	}
}
