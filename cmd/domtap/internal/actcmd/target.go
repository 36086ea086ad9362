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
}

// targetFlags are the names of the flags of a target.
var targetFlags = []string{"ref", "role", "name", "text", "label", "placeholder", "test-id", "selector", "at"}

// register defines the flags.
func (t *target) register(f *pflag.FlagSet) {
	t.flags = f
	f.StringVar(&t.ref, "ref", "", "the element with this ref")
	f.StringVar(&t.role, "role", "", "the element with this ARIA role, together with --name or --text if several have the role")
	f.StringVar(&t.name, "name", "", "the element with this accessible name, together with --role")
	f.StringVar(&t.text, "text", "", "the element with this text")
	f.StringVar(&t.label, "label", "", "the field with this label")
	f.StringVar(&t.placeholder, "placeholder", "", "the field with this placeholder")
	f.StringVar(&t.test, "test-id", "", "the element with this data-testid")
	f.StringVar(&t.css, "selector", "", "the element that this CSS selector matches")
	f.StringVar(&t.within, "within", "", "only an element with this around it: a text of its row, item, group or dialog, a role, or a ref")
	f.StringVar(&t.at, "at", "", "the point X,Y of the viewport, in CSS pixels")
}

// given reports whether a flag describes the target.
func (t *target) given() bool {
	return slices.ContainsFunc(targetFlags, t.flags.Changed)
}

// message makes the target from the flags.
func (t *target) message() (*domtapv1.Target, error) {
	out := &domtapv1.Target{Role: t.role, Name: t.name, Text: t.text, Label: t.label, Placeholder: t.placeholder, TestId: t.test, Selector: t.css, Within: t.within}
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

// parseRef reads a ref in any of its notations.
func parseRef(text string) (uint32, error) {
	return refOr(text, "domtap snapshot prints the ref of every element in brackets")
}

// byRef makes a target from a ref.
func byRef(text string) (*domtapv1.Target, error) {
	ref, err := parseRef(text)
	if err != nil {
		return nil, err
	}
	return &domtapv1.Target{Ref: proto.Uint32(ref)}, nil
}

// byArgument makes the target of an action from a positional argument. People type the text of a button there, so
// the error names the flag that takes a text.
func byArgument(text string) (*domtapv1.Target, error) {
	ref, err := refOr(text, fmt.Sprintf("--text %q finds the element by its text; domtap snapshot prints the refs in brackets", text))
	if err != nil {
		return nil, err
	}
	return &domtapv1.Target{Ref: proto.Uint32(ref)}, nil
}

// refOr reads a ref. The hint is what to do when text is none.
func refOr(text, hint string) (uint32, error) {
	ref, ok := refs.Parse(text)
	if !ok {
		return 0, exit.Errorf(exit.Usage, hint, "invalid ref %q", text)
	}
	return ref, nil
}

// byPoint makes a target from the value X,Y of a flag.
func byPoint(flag, text string) (*domtapv1.Target, error) {
	x, y, err := pair(flag, text)
	return &domtapv1.Target{X: &x, Y: &y}, err
}

// pair reads the value X,Y of a flag.
func pair(flag, text string) (x, y float64, err error) {
	first, second, found := strings.Cut(text, ",")
	x, xerr := strconv.ParseFloat(strings.TrimSpace(first), 64)
	y, yerr := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if !found || xerr != nil || yerr != nil || math.IsInf(x, 0) || math.IsInf(y, 0) || math.IsNaN(x) || math.IsNaN(y) {
		return 0, 0, exit.Errorf(exit.Usage, fmt.Sprintf("for example --%s 120,40", flag), "invalid --%s %q: not X,Y", flag, text)
	}
	return x, y, nil
}
