package check

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Limits of the steps, as the protos state them.
const (
	maxRepeat = 100
	maxValues = 100
	maxDelta  = 100_000
	maxFiles  = 50
	// maxUpload is in bytes.
	maxUpload   = 4 << 20
	maxFileName = 255
	maxPath     = 4096
)

func (c *collector) interact(r *domtapv1.InteractRequest) {
	c.tabID(r.GetTabId())
	if r.GetUrl() != "" {
		c.url("url", r.GetUrl())
	}
	c.want(utf8.RuneCountInString(r.GetClientId()) <= maxClientID, "client_id", "must have at most 100 characters")
	c.want(r.GetFormat() == domtapv1.Format_FORMAT_UNSPECIFIED || r.GetFormat() == domtapv1.Format_FORMAT_DIFF,
		"format", "must be DIFF, or unset for the structured diff")
	steps := r.GetSteps()
	c.want(len(steps) > 0 || r.GetUrl() != "", "steps", "must have a step, or url must be set")
	c.want(len(steps) <= maxSteps, "steps", fmt.Sprintf("must have at most %d steps", maxSteps))
	for i, step := range steps {
		c.step(fmt.Sprintf("steps[%d]", i), step)
	}
}

func (c *collector) step(at string, s *domtapv1.Step) {
	switch a := s.GetAction().(type) {
	case nil:
		c.want(false, at, "must have an action, such as click")
	case *domtapv1.Step_Click:
		c.click(at+".click", a.Click)
	case *domtapv1.Step_DoubleClick:
		c.target(at+".double_click.target", a.DoubleClick.GetTarget())
	case *domtapv1.Step_Hover:
		c.target(at+".hover.target", a.Hover.GetTarget())
	case *domtapv1.Step_Type:
		c.element(at+".type.target", a.Type.GetTarget())
		c.text(at+".type.text", a.Type.GetText())
	case *domtapv1.Step_Fill:
		c.element(at+".fill.target", a.Fill.GetTarget())
		c.text(at+".fill.text", a.Fill.GetText())
	case *domtapv1.Step_Press:
		c.press(at+".press", a.Press)
	case *domtapv1.Step_Select:
		c.selects(at+".select", a.Select)
	case *domtapv1.Step_Check:
		c.element(at+".check.target", a.Check.GetTarget())
	case *domtapv1.Step_Uncheck:
		c.element(at+".uncheck.target", a.Uncheck.GetTarget())
	case *domtapv1.Step_Drag:
		c.drag(at+".drag", a.Drag)
	case *domtapv1.Step_Upload:
		c.upload(at+".upload", a.Upload)
	case *domtapv1.Step_Scroll:
		c.scroll(at+".scroll", a.Scroll)
	case *domtapv1.Step_Wait:
		c.waitStep(at+".wait", a.Wait)
	case *domtapv1.Step_Read:
		c.readStep(at+".read", a.Read)
	case *domtapv1.Step_Screenshot:
		c.want(!a.Screenshot.GetMarks() || !a.Screenshot.GetFullPage(), at+".screenshot.marks",
			"must not be set together with full_page: they number what is in the viewport")
	case *domtapv1.Step_Back:
	default:
		oneof := s.ProtoReflect().Descriptor().Oneofs().ByName("action")
		field := s.ProtoReflect().WhichOneof(oneof)
		c.unsupported(fmt.Sprintf("%s.%s", at, field.Name()), "use the steps that the proto names")
	}
}

func (c *collector) click(at string, s *domtapv1.ClickStep) {
	c.target(at+".target", s.GetTarget())
	c.want(slices.Contains([]string{"", "left", "middle", "right"}, s.GetButton()),
		at+".button", "must be left, middle or right")
	for i, name := range s.GetModifiers() {
		c.want(slices.Contains([]string{"Alt", "Control", "Meta", "Shift"}, name),
			fmt.Sprintf("%s.modifiers[%d]", at, i), "must be Alt, Control, Meta or Shift")
	}
}

func (c *collector) press(at string, s *domtapv1.PressStep) {
	key := s.GetKey()
	c.want(key != "" && len(key) <= maxID, at+".key", "must be a key, such as Enter or Control+a")
	c.want(0 <= s.GetRepeat() && s.GetRepeat() <= maxRepeat, at+".repeat", "must be 1 to 100")
	if s.GetTarget() != nil {
		c.element(at+".target", s.GetTarget())
	}
}

func (c *collector) selects(at string, s *domtapv1.SelectStep) {
	c.element(at+".target", s.GetTarget())
	c.want(len(s.GetValues()) <= maxValues, at+".values", "must have at most 100 values or labels of options")
	for i, value := range s.GetValues() {
		c.text(fmt.Sprintf("%s.values[%d]", at, i), value)
	}
}

// scroll takes a target, distances, or both.
func (c *collector) scroll(at string, s *domtapv1.ScrollStep) {
	c.delta(at, s.GetDeltaX(), s.GetDeltaY())
	if s.GetTarget() != nil || s.GetDeltaX() == 0 && s.GetDeltaY() == 0 {
		c.target(at+".target", s.GetTarget())
	}
}

func (c *collector) drag(at string, s *domtapv1.DragStep) {
	c.target(at+".target", s.GetTarget())
	c.delta(at, s.GetDeltaX(), s.GetDeltaY())
	distance := s.GetDeltaX() != 0 || s.GetDeltaY() != 0
	if s.GetTo() != nil {
		c.target(at+".to", s.GetTo())
	}
	c.want(distance != (s.GetTo() != nil), at+".to", "must be set, or else delta_x or delta_y")
}

// delta checks distances.
func (c *collector) delta(at string, x, y float64) {
	c.want(math.Abs(x) <= maxDelta, at+".delta_x", "must be -100000 to 100000")
	c.want(math.Abs(y) <= maxDelta, at+".delta_y", "must be -100000 to 100000")
}

func (c *collector) upload(at string, s *domtapv1.UploadStep) {
	c.element(at+".target", s.GetTarget())
	n := len(s.GetPaths()) + len(s.GetFiles())
	c.want(1 <= n && n <= maxFiles, at, "must have 1 to 50 paths and files")
	for i, path := range s.GetPaths() {
		c.want(filepath.IsAbs(path) && len(path) <= maxPath && !strings.ContainsRune(path, 0), fmt.Sprintf("%s.paths[%d]", at, i), "must be an absolute path")
	}
	size := 0
	for i, f := range s.GetFiles() {
		size += len(f.GetContent())
		c.want(isFileName(f.GetName()), fmt.Sprintf("%s.files[%d].name", at, i), "must be a file's name without a path, such as photo.png")
	}
	c.want(size <= maxUpload, at+".files", "must have at most 4 MiB in all: give a path instead")
}

func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxFileName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == '\\' || r < 0x20 || r == 0x7f })
}

// element checks a target that must be an element, for a point is not enough.
func (c *collector) element(at string, t *domtapv1.Target) {
	if t != nil && (t.X != nil || t.Y != nil) {
		c.want(false, at, "must name an element, such as {\"ref\": 12}: a point is for click, double_click, hover, scroll and drag")
		return
	}
	c.target(at, t)
}

// point checks a place in the viewport.
func (c *collector) point(at string, t *domtapv1.Target) {
	c.want(t.X != nil && 0 <= t.GetX() && t.GetX() <= maxDelta, at+".x", "must be set together with y, 0 or more")
	c.want(t.Y != nil && 0 <= t.GetY() && t.GetY() <= maxDelta, at+".y", "must be set together with x, 0 or more")
}

func (c *collector) text(at, text string) {
	c.want(utf8.RuneCountInString(text) <= maxText, at, "must have at most 100000 characters")
}
