package timeline

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/target"
	"github.com/domtap/domtap/actor/turn"
	"github.com/domtap/domtap/diff"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/actions/steps"
	"github.com/domtap/domtap/internal/server/messages"
	"github.com/domtap/domtap/internal/server/rpc/rpcstatus"
	"github.com/domtap/domtap/internal/truncate"
)

// stepsOf returns the steps of a request for a timeline. It contains targets, but no text to be typed.
func stepsOf(all []*domtapv1.Step) []*domtapv1.TimelineStep {
	kinds := steps.Kinds(all)
	out := make([]*domtapv1.TimelineStep, len(all))
	for i, s := range all {
		one := &domtapv1.TimelineStep{Kind: kinds[i]}
		if targeted, ok := steps.ActionIn(s).(interface{ GetTarget() *domtapv1.Target }); ok && targeted.GetTarget() != nil {
			one.Target = proto.CloneOf(targeted.GetTarget())
		}
		if typed, ok := steps.ActionIn(s).(interface{ GetText() string }); ok {
			one.Length = uint32(utf8.RuneCountInString(typed.GetText()))
		}
		one.Submit = s.GetType().GetSubmit()
		if key := s.GetPress().GetKey(); !isCharacter(key) {
			one.Key = key
		}
		one.Click, one.Press = clickOptions(s.GetClick()), pressOptions(s.GetPress())
		if one.MouseDown = proto.CloneOf(s.GetMouseDown()); one.MouseDown != nil {
			one.MouseDown.Target = nil
		}
		if one.MouseMove = proto.CloneOf(s.GetMouseMove()); one.MouseMove != nil {
			one.MouseMove.Target = nil
		}
		out[i] = one
	}
	return out
}

// clickOptions returns a click without its target. It returns nil for a single click of the left button.
func clickOptions(s *domtapv1.ClickStep) *domtapv1.ClickStep {
	how := proto.CloneOf(s)
	if how == nil {
		return nil
	}
	how.Target = nil
	if how.Button == "left" {
		how.Button = ""
	}
	if how.Count == 1 {
		how.Count = 0
	}
	if proto.Equal(how, &domtapv1.ClickStep{}) {
		return nil
	}
	return how
}

// pressOptions returns a press without its key and target. It returns nil if the key is pressed once.
func pressOptions(s *domtapv1.PressStep) *domtapv1.PressStep {
	if s.GetRepeat() <= 1 && s.GetHold() == nil {
		return nil
	}
	return &domtapv1.PressStep{Repeat: s.GetRepeat(), Hold: s.GetHold()}
}

// formStepsOf returns the steps of a form request for a timeline, like stepsOf for an action.
func formStepsOf(r *domtapv1.FillFormRequest) []*domtapv1.TimelineStep {
	kinds := steps.FormKinds(r)
	out := make([]*domtapv1.TimelineStep, len(kinds))
	for i, kind := range kinds {
		out[i] = &domtapv1.TimelineStep{Kind: kind}
		if i >= len(r.GetFields()) {
			continue
		}
		f := r.GetFields()[i]
		out[i].Target = &domtapv1.Target{Label: f.GetLabel(), Selector: f.GetSelector(), Ref: f.Ref, Within: f.GetWithin()}
		out[i].Length = uint32(utf8.RuneCountInString(f.GetValue()))
	}
	return out
}

// isCharacter reports whether a key is a character, which may be part of a secret that is typed key by key.
func isCharacter(key string) bool { return utf8.RuneCountInString(key) == 1 }

// Record writes the results of a turn into a timeline entry. The entry's steps must be those that stepsOf or formStepsOf
// returned.
func Record(to *domtapv1.TimelineTurn, o *turn.Outcome) {
	to.Verdict = messages.Verdict(o.Verdict)
	to.NewTabId = o.NewTab
	d := diff.Between(turn.WithoutStructure(o.Before.Elements), turn.WithoutStructure(o.After.Elements))
	to.Added, to.Removed, to.Changed = uint32(len(d.Added)), uint32(len(d.Removed)), uint32(len(d.Changed))
	for i, r := range o.Results[:min(len(o.Results), len(to.GetSteps()))] {
		record(to.GetSteps()[i], r, o.After)
	}
}

// record writes the result of a step.
func record(to *domtapv1.TimelineStep, r turn.Result, after *dom.Snapshot) {
	to.Ok, to.Delivered, to.Summary, to.Healed = r.Done, messages.Delivered(r.Delivered), r.Summary, r.Healed
	if r.Err != nil {
		to.Error, to.Reason = truncate.Runes(r.Err.Error(), maxError), rpcstatus.StepReason(r.Err)
	}
	if to.GetKind() == "press" && to.GetKey() == "" {
		to.Summary = hideKey(to.GetSummary())
	}
	if r.Ref != dom.NoRef {
		to.Ref = proto.Uint32(uint32(r.Ref))
	}
	if el := r.Element; el != nil {
		to.Role, to.Name = el.Role, target.DisplayName(el)
	}
	if r.Pointer != nil {
		to.Point = &domtapv1.TimelinePoint{X: r.Pointer.Point.X, Y: r.Pointer.Point.Y}
		if b := r.Pointer.Box; b != (dom.Box{}) {
			to.Box = &domtapv1.Rect{X: b.X, Y: b.Y, Width: b.Width, Height: b.Height}
		}
	}
	switch to.GetKind() {
	case "type", "fill", "select", "field":
		if el := after.Find(r.Ref); r.Ref != dom.NoRef && el != nil {
			to.Value = el.Value
		}
	}
}

// hideKey replaces the key in a summary, which starts with: press "x".
func hideKey(summary string) string {
	quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(summary, driver.Press.String()+" "))
	if err != nil {
		return summary
	}
	return strings.Replace(summary, quoted, "a character", 1)
}
