// Package tools implements ToolService: it lists and calls the tools that a page offers, and compares what a tool claims with what was
// observed.
//
// Callers must pass valid requests (Rules). Handlers return errors of package actor, which package rpcstatus converts to statuses. Everything
// that a page says, such as the schema of a tool, is untrusted.
package tools

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
	"github.com/domtap/domtap/internal/tokens"
	"github.com/domtap/domtap/internal/truncate"
)

// messages converts the tools of a tab.
func messages(info actor.Info) (all []*domtapv1.PageTool, incomplete bool) {
	if info.Tools == nil {
		return nil, false
	}
	for _, t := range info.Tools.Tools {
		all = append(all, &domtapv1.PageTool{
			Name: t.Name, Description: t.Description, FrameId: string(t.Frame), InputSchemaJson: t.Schema, SchemaOmitted: t.Oversized,
			ReadOnly: t.ReadOnly, UntrustedContent: t.Untrusted, Consequential: t.Consequential, Debugging: t.Debugging,
			Form: t.Form, AutoSubmit: t.AutoSubmit,
		})
	}
	return all, info.Tools.Incomplete
}

// maxNamed limits the tools that an error lists.
const maxNamed = 20

// find returns the tool that a request names. It fails with an *apierr.Error of kind NotFound or Ambiguous.
func find(info actor.Info, name, frame string) (driver.Tool, error) {
	var offered []driver.Tool
	if info.Tools != nil {
		offered = info.Tools.Tools
	}
	var found []driver.Tool
	for _, t := range offered {
		if t.Name == name && (frame == "" || t.Frame == dom.FrameID(frame)) {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var frames []string
		for _, t := range found {
			frames = append(frames, cmp.Or(string(t.Frame), "the main frame"))
		}
		return driver.Tool{}, apierr.Errorf(apierr.Ambiguous, "%d frames offer a tool %q (%s): set frame_id", len(found), name, strings.Join(frames, ", "))
	case len(offered) == 0:
		return driver.Tool{}, apierr.Unknown("tool", "the page offers no tools: act on its elements instead")
	}
	var names []string
	for _, t := range offered[:min(len(offered), maxNamed)] {
		names = append(names, t.Name)
	}
	return driver.Tool{}, apierr.Unknown("tool", "the page offers no tool %q, but: %s", name, strings.Join(slices.Compact(names), ", "))
}

// statuses maps what a page says.
var statuses = map[driver.ToolStatus]domtapv1.ToolStatus{
	driver.ToolPending: domtapv1.ToolStatus_TOOL_STATUS_PENDING, driver.ToolCompleted: domtapv1.ToolStatus_TOOL_STATUS_COMPLETED,
	driver.ToolFailed: domtapv1.ToolStatus_TOOL_STATUS_FAILED, driver.ToolCanceled: domtapv1.ToolStatus_TOOL_STATUS_CANCELED,
}

// claimOf converts a claim, and cuts its output to a budget in tokens. A nil claim means that the tool did not answer in time. A budget of 0
// is unlimited.
func claimOf(c *driver.ToolClaim, budget int) *domtapv1.ToolClaim {
	if c == nil {
		return &domtapv1.ToolClaim{Status: domtapv1.ToolStatus_TOOL_STATUS_TIMED_OUT}
	}
	output, cut := within(c.Output, budget)
	return &domtapv1.ToolClaim{Status: statuses[c.Status], Output: output, OutputCut: cut || c.Cut}
}

// within returns the longest beginning of a text that fits a budget in tokens.
func within(text string, budget int) (head string, cut bool) {
	if budget == 0 || tokens.Count(text) <= budget {
		return text, false
	}
	low, high := 0, len(text) // low bytes fit, high bytes do not
	for high-low > 1 {
		middle := (low + high) / 2
		if tokens.Count(truncate.Bytes(text, middle)) <= budget {
			low = middle
		} else {
			high = middle
		}
	}
	return truncate.Bytes(text, low), true
}

// maxRequests limits the requests in an answer.
const maxRequests = 10

// requestsSince returns the requests that began after an entry of the log, those that may change something first.
func requestsSince(log *pagelog.Log, after uint64) []*domtapv1.ToolRequest {
	var writes, reads []*domtapv1.ToolRequest
	for _, e := range log.RequestsSince(after) {
		url, _, _ := strings.Cut(e.URL, "?")
		sent := &domtapv1.ToolRequest{Method: e.Level, Url: url, Status: int32(e.Status)}
		if mayWrite(sent) {
			writes = append(writes, sent)
		} else {
			reads = append(reads, sent)
		}
	}
	all := append(writes, reads...)
	return all[:min(len(all), maxRequests)]
}

// mayWrite reports whether a request may change something on a server.
func mayWrite(r *domtapv1.ToolRequest) bool {
	return !slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, r.GetMethod())
}

// effect is what was observed during a call: the verdict, whether interactive elements changed, and the requests that were sent.
type effect struct {
	verdict  domtapv1.Verdict
	elements bool
	requests []*domtapv1.ToolRequest
}

// agreement compares a claim with what was observed.
func agreement(tool driver.Tool, claim *domtapv1.ToolClaim, e effect) domtapv1.Agreement {
	changed := e.verdict != domtapv1.Verdict_VERDICT_NO_CHANGE
	wrote := slices.ContainsFunc(e.requests, mayWrite)
	denies := tool.ReadOnly || claim.GetStatus() != domtapv1.ToolStatus_TOOL_STATUS_COMPLETED // the claim is that nothing was changed
	switch {
	case claim.GetStatus() == domtapv1.ToolStatus_TOOL_STATUS_PENDING || claim.GetStatus() == domtapv1.ToolStatus_TOOL_STATUS_TIMED_OUT:
		return domtapv1.Agreement_AGREEMENT_UNSPECIFIED
	case denies && (wrote || e.elements || leaves(e.verdict)):
		return domtapv1.Agreement_AGREEMENT_CONTRADICTED
	case denies && changed, !denies && !changed && len(e.requests) == 0:
		return domtapv1.Agreement_AGREEMENT_UNCONFIRMED
	}
	return domtapv1.Agreement_AGREEMENT_CONFIRMED
}

// leaves reports whether a verdict means that the page was left, or a tab opened.
func leaves(v domtapv1.Verdict) bool {
	return v == domtapv1.Verdict_VERDICT_NAVIGATED || v == domtapv1.Verdict_VERDICT_NEW_TAB
}
