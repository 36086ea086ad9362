package webmcp

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webmcp"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/truncate"
)

// offer is a tool of a frame's document. It is immutable.
type offer struct {
	frame   cdp.FrameID
	session devtools.Session
	tool    driver.Tool
}

// maxAnswers limits the answers that are kept until a call takes them. A page can answer each call once, so only answers to calls that
// have ended can be dropped.
const maxAnswers = 16

// answer is the claim of a call that has been answered.
type answer struct {
	id    string
	claim driver.ToolClaim
}

// state holds the tools of a page. It is a plain value, guarded by the page's monitor.
type state struct {
	offers []*offer
	// incomplete is set while the page offers more tools than are kept.
	incomplete bool
	// version counts the changes of offers and incomplete.
	version uint64
	answers []answer
}

// add adds tools that a session reported. A tool replaces another one of the same name in its frame.
func (s *state) add(session devtools.Session, tools []*webmcp.Tool) {
	for _, tool := range tools {
		if tool == nil || tool.Name == "" {
			continue
		}
		s.offers = slices.DeleteFunc(s.offers, func(o *offer) bool { return o.frame == tool.FrameID && o.tool.Name == tool.Name })
		if len(tool.Name) > driver.MaxToolName || len(s.offers) >= driver.MaxTools {
			if !s.incomplete {
				s.incomplete, s.version = true, s.version+1
			}
			continue
		}
		s.offers = append(s.offers, &offer{frame: tool.FrameID, session: session, tool: toolOf(tool)})
		s.version++
	}
}

// toolOf converts a tool, without its frame.
func toolOf(w *webmcp.Tool) driver.Tool {
	t := driver.Tool{Name: w.Name, Form: w.BackendNodeID != 0, Schema: string(w.InputSchema)}
	t.Description, _ = truncate.Head(w.Description, driver.MaxToolDescription)
	if len(t.Schema) > driver.MaxToolSchema {
		t.Schema, t.Oversized = "", true
	}
	if a := w.Annotations; a != nil {
		t.ReadOnly, t.Untrusted, t.Consequential, t.Debugging, t.AutoSubmit = a.ReadOnly, a.UntrustedContent, a.Consequential, a.Debugging, a.Autosubmit
	}
	return t
}

// remove removes tools that the page has withdrawn.
func (s *state) remove(tools []*webmcp.RemovedTool) {
	for _, gone := range tools {
		if gone != nil {
			s.drop(func(o *offer) bool { return o.frame == gone.FrameID && o.tool.Name == gone.Name })
		}
	}
}

// drop removes the offers that match.
func (s *state) drop(match func(*offer) bool) {
	before := len(s.offers)
	s.offers = slices.DeleteFunc(s.offers, match)
	if len(s.offers) != before {
		s.version++
	}
	if len(s.offers) == 0 && s.incomplete {
		s.incomplete, s.version = false, s.version+1
	}
}

// find returns the tool of a frame, or nil.
func (s *state) find(name string, in func(cdp.FrameID) bool) *offer {
	i := slices.IndexFunc(s.offers, func(o *offer) bool { return o.tool.Name == name && in(o.frame) })
	if i < 0 {
		return nil
	}
	return s.offers[i]
}

// list returns the tools. key returns the name of a frame.
func (s *state) list(key func(cdp.FrameID) dom.FrameID) driver.ToolsChanged {
	all := make([]driver.Tool, len(s.offers))
	for i, o := range s.offers {
		all[i] = o.tool
		all[i].Frame = key(o.frame)
	}
	return driver.ToolsChanged{Tools: all, Incomplete: s.incomplete}
}

// answer records the claim of a call.
func (s *state) answer(id string, claim driver.ToolClaim) {
	if len(s.answers) == maxAnswers {
		s.answers = slices.Delete(s.answers, 0, 1)
	}
	s.answers = append(s.answers, answer{id, claim})
}

// answered returns the claim of a call, if it was answered.
func (s *state) answered(id string) (driver.ToolClaim, bool) {
	i := slices.IndexFunc(s.answers, func(a answer) bool { return a.id == id })
	if i < 0 {
		return driver.ToolClaim{}, false
	}
	return s.answers[i].claim, true
}

// forget removes the claim of a call.
func (s *state) forget(id string) {
	s.answers = slices.DeleteFunc(s.answers, func(a answer) bool { return a.id == id })
}

// claimOf converts the answer of a tool.
func claimOf(e webmcp.EventToolResponded) driver.ToolClaim {
	claim := driver.ToolClaim{Status: driver.ToolFailed, Output: e.ErrorText}
	switch e.Status {
	case webmcp.InvocationStatusCompleted:
		claim.Status, claim.Output = driver.ToolCompleted, textOf(e.Output)
	case webmcp.InvocationStatusCanceled:
		claim.Status = driver.ToolCanceled
	}
	if claim.Output == "" && e.Exception != nil {
		claim.Output = cmp.Or(e.Exception.Description, textOf(e.Exception.Value))
	}
	claim.Output, claim.Cut = truncate.Head(claim.Output, driver.MaxToolOutput)
	return claim
}

// textOf returns what a tool returned: a string itself, the texts of MCP content, and anything else as JSON.
func textOf(output []byte) string {
	var text string
	if json.Unmarshal(output, &text) == nil {
		return text
	}
	var result struct {
		Content []struct{ Type, Text string }
	}
	if json.Unmarshal(output, &result) != nil || len(result.Content) == 0 {
		return string(output)
	}
	for i, c := range result.Content {
		if c.Type != "text" {
			return string(output)
		}
		if i > 0 {
			text += "\n"
		}
		text += c.Text
	}
	return text
}
