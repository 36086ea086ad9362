package check

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	maxSelector = 1000
	maxSpan     = time.Minute
	minQuiet    = time.Millisecond
)

func (c *collector) waitFor(r *domtapv1.WaitForRequest) {
	c.tabID(r.GetTabId())
	c.condition("until", r.GetUntil())
	c.want(r.SinceRevision == nil || r.GetEpoch() != "", "epoch", "is required with since_revision")
	c.epoch(r.GetEpoch())
	c.timeout("timeout", r.GetTimeout())
}

// condition checks what is waited for.
func (c *collector) condition(at string, w *domtapv1.WaitCondition) {
	some := w.GetElement() != nil || w.GetText() != "" || w.GetUrl() != "" || w.GetNetworkIdle() != nil || w.GetQuiet() != nil || w.GetChange()
	if !c.want(some, at, `must say what to wait for, such as {"text": "Done"} or {"element": {"role": "button"}}`) {
		return
	}
	if w.GetElement() != nil {
		c.elementCondition(at+".element", w.GetElement())
	}
	c.words(at+".text", w.GetText())
	c.want(len(w.GetUrl()) <= maxSelector, at+".url", "must have at most 1000 bytes: put a * where the rest does not matter")
	c.span(at+".network_idle", w.GetNetworkIdle(), 0, "must be 0 (which means 500 ms) to 1 minute")
	c.span(at+".quiet", w.GetQuiet(), minQuiet, "must be 1 ms to 1 minute")
}

func (c *collector) elementCondition(at string, e *domtapv1.ElementCondition) {
	some := e.GetRole() != "" || e.GetName() != "" || e.GetText() != "" || e.Ref != nil || e.GetSelector() != ""
	c.want(some, at, "must name an element by role, name, text, ref or selector")
	c.want(len(e.GetRole()) <= maxID, at+".role", "must be an ARIA role, such as button")
	c.words(at+".name", e.GetName())
	c.words(at+".text", e.GetText())
	c.ref(at+".ref", e.Ref)
	c.want(len(e.GetSelector()) <= maxSelector && !(e.GetSelector() != "" && blank(e.GetSelector())),
		at+".selector", "must be a CSS selector of at most 1000 bytes")
	_, known := domtapv1.ElementState_name[int32(e.GetState())]
	c.want(known, at+".state", "must be PRESENT, GONE, VISIBLE or ENABLED")
}

// words checks a text that is looked for. White space alone would be found everywhere.
func (c *collector) words(at, text string) {
	c.want(text == "" || !blank(text), at, "must have more than white space")
	c.want(len(text) <= maxSelector, at, "must have at most 1000 bytes: a part of the text is enough")
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (c *collector) span(at string, d *durationpb.Duration, least time.Duration, description string) {
	ok := d == nil || d.CheckValid() == nil && least <= d.AsDuration() && d.AsDuration() <= maxSpan
	c.want(ok, at, description)
}

func (c *collector) timeout(at string, d *durationpb.Duration) {
	ok := d == nil || d.CheckValid() == nil && 0 < d.AsDuration() && d.AsDuration() <= MaxTimeout
	c.want(ok, at, "must be more than 0 and at most 5 minutes")
}

// waitStep checks a wait in the middle of a turn.
func (c *collector) waitStep(at string, s *domtapv1.WaitStep) {
	c.timeout(at+".timeout", s.GetTimeout())
	if !c.want((s.GetTarget() == nil) != (s.GetUntil() == nil), at, "must have either target or until") {
		return
	}
	if s.GetUntil() != nil {
		c.want(!s.GetGone(), at+".gone", "goes with target: set the state of the element in until")
		c.condition(at+".until", s.GetUntil())
		return
	}
	target := s.GetTarget()
	set := targetWays(target)
	if !c.want(len(set) == 1, at+".target", `must name the element in exactly one way, such as {"role": "button", "name": "Pay"}`) {
		return
	}
	switch set[0] {
	case "ref", "role", "text", "selector":
		c.elementCondition(at+".target", TargetCondition(target, s.GetGone()))
	default:
		c.unsupported(fmt.Sprintf("%s.target.%s", at, set[0]), "wait by ref, role and name, text or selector")
	}
}

// TargetCondition is the condition that the target of a wait step stands for.
func TargetCondition(t *domtapv1.Target, gone bool) *domtapv1.ElementCondition {
	e := &domtapv1.ElementCondition{Role: t.GetRole(), Name: t.GetName(), Text: t.GetText(), Ref: t.Ref, Selector: t.GetSelector()}
	if gone {
		e.State = domtapv1.ElementState_ELEMENT_STATE_GONE
	}
	return e
}
