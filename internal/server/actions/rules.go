package actions

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rules"
)

// Limits of the steps, as documented in the protos.
const (
	maxSteps = 32
	// maxAnswers limits the steps of a turn that return a text or a picture.
	maxAnswers = 8
	maxRepeat  = 100
	maxMoves   = 100
	maxClicks  = 3
	maxHold    = 10 * time.Second
	maxValues  = 100
	maxDelta   = 100_000
	maxFiles   = 50
	// maxWaypoints limits the waypoints of a drag, and with them how long a button is held.
	maxWaypoints = 32
	// maxUpload is the limit in bytes.
	maxUpload   = 4 << 20
	maxFileName = 255
	maxPath     = 4096
)

// Rules are the rules of the requests of ActionService.
var Rules = rules.Union(
	rules.Of(checkInteract),
	rules.Of(checkFillForm),
)

func checkInteract(v *rules.Violations, r *domtapv1.InteractRequest) {
	v.TabID(r.GetTabId())
	if r.GetUrl() != "" {
		v.URL(r.GetUrl())
	}
	v.ClientID(r.GetClientId())
	v.DiffFormat(r.GetFormat())
	steps := r.GetSteps()
	v.Want(len(steps) > 0 || r.GetUrl() != "", "steps", "must have a step, or url must be set")
	v.Want(len(steps) <= maxSteps, "steps", fmt.Sprintf("must have at most %d steps", maxSteps))
	answers := 0
	for i, step := range steps {
		checkStep(v, fmt.Sprintf("steps[%d]", i), step)
		if step.GetRead() != nil || step.GetScreenshot() != nil {
			answers++
		}
	}
	v.Want(answers <= maxAnswers, "steps", fmt.Sprintf("must have at most %d steps that read or take a screenshot", maxAnswers))
	checkMouse(v, steps)
}

func checkStep(v *rules.Violations, at string, s *domtapv1.Step) {
	switch a := s.GetAction().(type) {
	case nil:
		v.Want(false, at, "must have an action, such as click")
	case *domtapv1.Step_Click:
		checkClick(v, at+".click", a.Click)
	case *domtapv1.Step_DoubleClick:
		checkTarget(v, at+".double_click.target", a.DoubleClick.GetTarget())
	case *domtapv1.Step_Hover:
		checkTarget(v, at+".hover.target", a.Hover.GetTarget())
	case *domtapv1.Step_Type:
		if a.Type.GetTarget() != nil {
			checkElementTarget(v, at+".type.target", a.Type.GetTarget())
		}
		v.Text(at+".type.text", a.Type.GetText())
	case *domtapv1.Step_Fill:
		checkElementTarget(v, at+".fill.target", a.Fill.GetTarget())
		v.Text(at+".fill.text", a.Fill.GetText())
	case *domtapv1.Step_Press:
		checkPress(v, at+".press", a.Press)
	case *domtapv1.Step_Select:
		checkSelect(v, at+".select", a.Select)
	case *domtapv1.Step_Check:
		checkElementTarget(v, at+".check.target", a.Check.GetTarget())
	case *domtapv1.Step_Uncheck:
		checkElementTarget(v, at+".uncheck.target", a.Uncheck.GetTarget())
	case *domtapv1.Step_Drag:
		checkDrag(v, at+".drag", a.Drag)
	case *domtapv1.Step_Upload:
		checkUpload(v, at+".upload", a.Upload)
	case *domtapv1.Step_Scroll:
		checkScroll(v, at+".scroll", a.Scroll)
	case *domtapv1.Step_MouseDown:
		checkMouseDown(v, at+".mouse_down", a.MouseDown)
	case *domtapv1.Step_MouseMove:
		checkMouseMove(v, at+".mouse_move", a.MouseMove)
	case *domtapv1.Step_Wait:
		checkWaitStep(v, at+".wait", a.Wait)
	case *domtapv1.Step_Read:
		checkReadStep(v, at+".read", a.Read)
	case *domtapv1.Step_Screenshot:
		v.Want(!a.Screenshot.GetMarks() || !a.Screenshot.GetFullPage(), at+".screenshot.marks",
			"must not be set together with full_page: marks number the elements in the viewport")
	case *domtapv1.Step_Dialog:
		v.PromptText(at+".dialog.prompt_text", a.Dialog.PromptText, a.Dialog.GetAccept())
	case *domtapv1.Step_Back, *domtapv1.Step_MouseUp:
	default:
		unsupportedStep(v, at, s)
	}
}

// unsupportedStep reports a step that this daemon does not know.
func unsupportedStep(v *rules.Violations, at string, s *domtapv1.Step) {
	oneof := s.ProtoReflect().Descriptor().Oneofs().ByName("action")
	field := s.ProtoReflect().WhichOneof(oneof)
	v.Unsupported(fmt.Sprintf("%s.%s", at, field.Name()), "use the steps that the proto names")
}

func checkClick(v *rules.Violations, at string, s *domtapv1.ClickStep) {
	checkTarget(v, at+".target", s.GetTarget())
	checkButton(v, at, s.GetButton())
	checkModifiers(v, at, s.GetModifiers())
	v.Want(0 <= s.GetCount() && s.GetCount() <= maxClicks, at+".count", "must be 1 to 3")
	v.Want(s.GetHold() == nil || s.GetCount() <= 1, at+".hold", "must not be set with a count: one press is held")
	checkHold(v, at+".hold", s.GetHold())
}

func checkButton(v *rules.Violations, at, button string) {
	v.Want(slices.Contains([]string{"", "left", "middle", "right"}, button), at+".button", "must be left, middle or right")
}

func checkModifiers(v *rules.Violations, at string, modifiers []string) {
	for i, name := range modifiers {
		v.Want(slices.Contains([]string{"Alt", "Control", "Meta", "Shift"}, name),
			fmt.Sprintf("%s.modifiers[%d]", at, i), "must be Alt, Control, Meta or Shift")
	}
}

// checkHold checks the duration of a hold.
func checkHold(v *rules.Violations, at string, hold *durationpb.Duration) {
	v.Want(hold == nil || hold.IsValid() && 0 < hold.AsDuration() && hold.AsDuration() <= maxHold, at, "must be more than 0, and at most 10 s")
}

func checkPress(v *rules.Violations, at string, s *domtapv1.PressStep) {
	key := s.GetKey()
	v.Want(key != "" && len(key) <= rules.MaxID, at+".key", "must be a key, such as Enter or Control+a")
	v.Want(0 <= s.GetRepeat() && s.GetRepeat() <= maxRepeat, at+".repeat", "must be 1 to 100")
	v.Want(s.GetHold() == nil || s.GetRepeat() <= 1, at+".hold", "must not be set with repeat: a held key repeats by itself")
	checkHold(v, at+".hold", s.GetHold())
	if s.GetTarget() != nil {
		checkElementTarget(v, at+".target", s.GetTarget())
	}
}

func checkSelect(v *rules.Violations, at string, s *domtapv1.SelectStep) {
	checkElementTarget(v, at+".target", s.GetTarget())
	v.Want(len(s.GetValues()) <= maxValues, at+".values", "must have at most 100 values or labels of options")
	for i, value := range s.GetValues() {
		v.Text(fmt.Sprintf("%s.values[%d]", at, i), value)
	}
}

// checkScroll checks a scroll, which needs a target, distances, or both.
func checkScroll(v *rules.Violations, at string, s *domtapv1.ScrollStep) {
	checkDelta(v, at, s.GetDeltaX(), s.GetDeltaY())
	if s.GetTarget() != nil || s.GetDeltaX() == 0 && s.GetDeltaY() == 0 {
		checkTarget(v, at+".target", s.GetTarget())
	}
	checkModifiers(v, at, s.GetModifiers())
	v.Want(len(s.GetModifiers()) == 0 || s.GetDeltaX() != 0 || s.GetDeltaY() != 0, at+".modifiers", "must not be set without delta_x or delta_y")
}

func checkDrag(v *rules.Violations, at string, s *domtapv1.DragStep) {
	checkTarget(v, at+".target", s.GetTarget())
	checkDelta(v, at, s.GetDeltaX(), s.GetDeltaY())
	checkHold(v, at+".hold", s.GetHold())
	distance := s.GetDeltaX() != 0 || s.GetDeltaY() != 0
	if s.GetTo() != nil {
		checkTarget(v, at+".to", s.GetTo())
	}
	checkWaypoints(v, at, s.GetWaypoints())
	v.Want(distance != (s.GetTo() != nil), at+".to", "must be set, or else delta_x or delta_y")
}

func checkWaypoints(v *rules.Violations, at string, waypoints []*domtapv1.Target) {
	v.Want(len(waypoints) <= maxWaypoints, at+".waypoints", "must be at most 32")
	for i, waypoint := range waypoints {
		checkTarget(v, fmt.Sprintf("%s.waypoints[%d]", at, i), waypoint)
	}
}

func checkMouseDown(v *rules.Violations, at string, s *domtapv1.MouseDownStep) {
	if s.GetTarget() != nil {
		checkTarget(v, at+".target", s.GetTarget())
	}
	checkButton(v, at, s.GetButton())
	checkModifiers(v, at, s.GetModifiers())
	checkHold(v, at+".hold", s.GetHold())
}

func checkMouseMove(v *rules.Violations, at string, s *domtapv1.MouseMoveStep) {
	if s.GetTarget() != nil {
		checkTarget(v, at+".target", s.GetTarget())
	}
	checkDelta(v, at, s.GetDeltaX(), s.GetDeltaY())
	checkWaypoints(v, at, s.GetWaypoints())
	v.Want(s.GetTarget() != nil || s.GetDeltaX() != 0 || s.GetDeltaY() != 0, at+".target", "must be set, or else delta_x or delta_y")
	v.Want(0 <= s.GetMoves() && s.GetMoves() <= maxMoves, at+".moves", "must be 1 to 100")
}

// checkMouse checks the order of mouse steps. A button must be pressed before it is released, only one may be pressed at a time, and a step
// without a target needs an earlier pointer position.
func checkMouse(v *rules.Violations, steps []*domtapv1.Step) {
	down, placed := false, false
	const noPlace = "must be set: no earlier step of this request moves the pointer"
	for i, step := range steps {
		at := fmt.Sprintf("steps[%d]", i)
		switch a := step.GetAction().(type) {
		case *domtapv1.Step_MouseDown:
			v.Want(!down, at+".mouse_down", "must come after a mouse_up: a button is down already")
			v.Want(placed || a.MouseDown.GetTarget() != nil, at+".mouse_down.target", noPlace)
			down, placed = true, true
		case *domtapv1.Step_MouseMove:
			v.Want(placed || a.MouseMove.GetTarget() != nil, at+".mouse_move.target", noPlace)
			placed = true
		case *domtapv1.Step_MouseUp:
			v.Want(down, at+".mouse_up", "must come after a mouse_down: no button is down")
			down = false
		case *domtapv1.Step_Click, *domtapv1.Step_DoubleClick, *domtapv1.Step_Hover, *domtapv1.Step_Drag, *domtapv1.Step_Check, *domtapv1.Step_Uncheck, *domtapv1.Step_Upload:
			v.Want(!down, at, "must not be sent while a button is down: send mouse_up first")
			placed = true
		}
	}
}

// checkDelta checks the distances of a step.
func checkDelta(v *rules.Violations, at string, x, y float64) {
	v.Want(math.Abs(x) <= maxDelta, at+".delta_x", "must be -100000 to 100000")
	v.Want(math.Abs(y) <= maxDelta, at+".delta_y", "must be -100000 to 100000")
}

func checkUpload(v *rules.Violations, at string, s *domtapv1.UploadStep) {
	checkElementTarget(v, at+".target", s.GetTarget())
	n := len(s.GetPaths()) + len(s.GetFiles())
	v.Want(1 <= n && n <= maxFiles, at, "must have 1 to 50 paths and files")
	for i, path := range s.GetPaths() {
		ok := filepath.IsAbs(path) && len(path) <= maxPath && !strings.ContainsRune(path, 0)
		v.Want(ok, fmt.Sprintf("%s.paths[%d]", at, i), "must be an absolute path")
	}
	size := checkFiles(v, at+".files", s.GetFiles())
	v.Want(size <= maxUpload, at+".files", "must have at most 4 MiB in all: give a path instead")
}

// checkFiles checks the names of files, and returns their total size in bytes.
func checkFiles(v *rules.Violations, at string, files []*domtapv1.UploadFile) (size int) {
	for i, f := range files {
		size += len(f.GetContent())
		v.Want(isFileName(f.GetName()), fmt.Sprintf("%s[%d].name", at, i), "must be a file's name without a path, such as photo.png")
	}
	return size
}

func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxFileName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r < 0x20 || r == 0x7f })
}

// checkElementTarget checks a target that must be an element. A point is invalid.
func checkElementTarget(v *rules.Violations, at string, t *domtapv1.Target) {
	if t != nil && (t.X != nil || t.Y != nil) {
		v.Want(false, at,
			"must name an element, such as {\"ref\": 12}: a point is for click, double_click, hover, scroll and drag")
		return
	}
	checkTarget(v, at, t)
}

// checkPoint checks a point in the viewport.
func checkPoint(v *rules.Violations, at string, t *domtapv1.Target) {
	v.Want(t.X != nil && 0 <= t.GetX() && t.GetX() <= maxDelta, at+".x", "must be set together with y, 0 or more")
	v.Want(t.Y != nil && 0 <= t.GetY() && t.GetY() <= maxDelta, at+".y", "must be set together with x, 0 or more")
}
