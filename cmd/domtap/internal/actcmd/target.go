package actcmd

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/refs"
)

// target is the element to act on, as the flags describe it.
type target struct {
	flags                                               *pflag.FlagSet
	role, name, text, label, placeholder, test, css, at string
	ref, within                                         string
	nth                                                 int32
}

// targetFlags lists the names of the target flags.
var targetFlags = []string{"ref", "role", "name", "text", "label", "placeholder", "test-id", "selector", "at"}

// register defines the flags.
func (t *target) register(f *pflag.FlagSet) {
	t.flags = f
	f.StringVar(&t.ref, "ref", "", "the element with this ref")
	f.StringVar(&t.role, "role", "", "the element with this ARIA role; add --name or --text if several elements have the role")
	f.StringVar(&t.name, "name", "", "the element with this accessible name, together with --role")
	f.StringVar(&t.text, "text", "", "the element with this text")
	f.StringVar(&t.label, "label", "", "the field with this label")
	f.StringVar(&t.placeholder, "placeholder", "", "the field with this placeholder")
	f.StringVar(&t.test, "test-id", "", "the element with this data-testid")
	f.StringVar(&t.css, "selector", "", "the element that this CSS selector matches")
	f.StringVar(&t.within, "within", "", "only an element inside this: a text of its row, item, group or dialog, a role, or a ref")
	f.Int32Var(&t.nth, "nth", 0, "if several elements match, use the one with this number, 1 for the first; -1 for the last")
	f.StringVar(&t.at, "at", "", "the point X,Y of the viewport, in CSS pixels")
	for _, name := range append([]string{"within", "nth"}, targetFlags...) {
		_ = f.SetAnnotation(name, targetAnnotation, []string{""}) // fails only if the flag does not exist
	}
}

// IsTarget reports whether a flag describes the target of an action.
func IsTarget(f *pflag.Flag) bool { return f.Annotations[targetAnnotation] != nil }

// targetAnnotation marks the target flags.
const targetAnnotation = "domtap_target"

// given reports whether a flag describes the target.
func (t *target) given() bool {
	return slices.ContainsFunc(targetFlags, t.flags.Changed)
}

// onlyRole reports whether the flags give the role and nothing else, so that an argument may be the name.
func (t *target) onlyRole() bool {
	return t.flags.Changed("role") && !slices.ContainsFunc(targetFlags, func(name string) bool { return name != "role" && t.flags.Changed(name) })
}

// message returns the target that the flags describe.
func (t *target) message() (*domtapv1.Target, error) {
	out := &domtapv1.Target{Role: t.role, Name: t.name, Text: t.text, Label: t.label, Placeholder: t.placeholder, TestId: t.test, Selector: t.css, Within: t.within, Nth: t.nth}
	if t.flags.Changed("ref") {
		ref, err := parseRef(t.ref)
		if err != nil {
			return nil, err
		}
		out.Ref = proto.Uint32(ref)
	}
	if t.flags.Changed("at") {
		x, y, err := pair("at", t.at)
		if err != nil {
			return nil, err
		}
		out.X, out.Y = proto.Float64(x), proto.Float64(y)
	}
	return out, nil
}

// parseRef parses a ref in any of its notations.
func parseRef(text string) (uint32, error) {
	ref, ok := refs.Parse(text)
	if !ok {
		return 0, exit.Errorf(exit.Usage, "run domtap snapshot to see the ref of each element in brackets", "invalid ref %q", text)
	}
	return ref, nil
}

// byRef returns a target from a ref.
func byRef(text string) (*domtapv1.Target, error) {
	ref, err := parseRef(text)
	if err != nil {
		return nil, err
	}
	return &domtapv1.Target{Ref: proto.Uint32(ref)}, nil
}

// Roles lists the WAI-ARIA 1.2 roles that users search for, controls first.
var Roles = strings.Fields("button link textbox checkbox radio combobox listbox option searchbox slider spinbutton switch tab menuitem menuitemcheckbox menuitemradio treeitem " +
	"heading img generic list listitem table row cell columnheader rowheader grid gridcell dialog alertdialog alert status progressbar navigation main banner contentinfo " +
	"complementary form region search article group tabpanel tablist menu menubar toolbar tree tooltip")

// byArguments returns the target of an action from its positional arguments: a ref, or the text of the element, optionally after its role.
// For a field the text is its label. A technical role such as combobox needs no name. With --nth, a role is enough: the third slider.
func byArguments(words []string, field, counted bool) *domtapv1.Target {
	last := words[len(words)-1]
	if len(words) == 2 {
		return &domtapv1.Target{Role: words[0], Name: last}
	}
	if ref, ok := refs.Parse(last); ok {
		return &domtapv1.Target{Ref: proto.Uint32(ref)}
	}
	if slices.Contains(technicalRoles, last) || counted && last != "search" && slices.Contains(Roles, last) { // many buttons have the text "search"
		return &domtapv1.Target{Role: last}
	}
	if field {
		return &domtapv1.Target{Label: last}
	}
	return &domtapv1.Target{Text: last}
}

// technicalRoles lists roles that hardly occur as the text of a control.
var technicalRoles = strings.Fields("generic img textbox searchbox combobox listbox spinbutton checkbox menuitem menuitemcheckbox menuitemradio treeitem gridcell columnheader rowheader")

// byPlace returns a target from a ref or a point X,Y. Its errors name the flag.
func byPlace(flag, text string) (*domtapv1.Target, error) {
	if strings.Contains(text, ",") {
		return byPoint(flag, text)
	}
	return byRef(text)
}

// byPoint returns a target from a flag value X,Y.
func byPoint(flag, text string) (*domtapv1.Target, error) {
	x, y, err := pair(flag, text)
	return &domtapv1.Target{X: &x, Y: &y}, err
}

// pair parses a flag value X,Y.
func pair(flag, text string) (x, y float64, err error) {
	first, second, found := strings.Cut(text, ",")
	x, xerr := strconv.ParseFloat(strings.TrimSpace(first), 64)
	y, yerr := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if !found || xerr != nil || yerr != nil || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return 0, 0, exit.Errorf(exit.Usage, fmt.Sprintf("for example --%s 120,40", flag), "invalid --%s %q: not X,Y", flag, text)
	}
	return x, y, nil
}
