package driver

import (
	"context"

	"github.com/domtap/domtap/dom"
)

// Tool is a tool that a document offers to agents (WebMCP). Its texts come from the page and are untrusted. A Tool is immutable.
type Tool struct {
	// Name identifies the tool in its frame.
	Name string
	// Frame is the frame whose document offers the tool. It is empty for the main frame.
	Frame dom.FrameID
	// Description is cut at MaxToolDescription characters.
	Description string
	// Schema is the JSON Schema of the input. It is empty if the tool has none, or if it exceeds MaxToolSchema; Oversized is then set.
	Schema    string
	Oversized bool
	// ReadOnly, Untrusted, Consequential and Debugging are what the page says about the tool: that it changes nothing, that its output
	// contains text of third parties, that it has consequences such as a payment, and that it is for developers.
	ReadOnly, Untrusted, Consequential, Debugging bool
	// Form reports that the tool is a form of the page, which a call fills in. AutoSubmit reports that the call also submits it.
	Form, AutoSubmit bool
}

// Limits of what a page may offer, because it is untrusted.
const (
	// MaxTools limits the tools of a page. Further tools are not listed.
	MaxTools = 200
	// MaxToolName limits a name, in bytes. A tool with a longer name is not listed.
	MaxToolName = 128
	// MaxToolDescription limits a description, in characters.
	MaxToolDescription = 1000
	// MaxToolSchema limits a schema, in bytes.
	MaxToolSchema = 16 << 10
	// MaxToolOutput limits what a tool returns or the error that it throws, in characters.
	MaxToolOutput = 100_000
)

// ToolsChanged reports all tools that the documents of the page offer now, in the order of their registration. Incomplete reports that the
// page offers more than that.
type ToolsChanged struct {
	Tools      []Tool
	Incomplete bool
}

func (ToolsChanged) event() {}

// ToolCall identifies a tool and its input.
type ToolCall struct {
	Name  string
	Frame dom.FrameID
	// Input is a JSON object.
	Input string
}

// ToolStatus is how the call of a tool ended, as the page reports it.
type ToolStatus uint8

// The values of ToolStatus.
const (
	// ToolPending means that the tool has not answered. The call of a form that waits for its submission, or of a tool that waits for a
	// dialog, continues.
	ToolPending ToolStatus = iota
	// ToolCompleted means that the tool returned, or that its document was replaced.
	ToolCompleted
	// ToolFailed means that the tool threw an error, or that the browser rejected the input.
	ToolFailed
	// ToolCanceled means that the page canceled the call.
	ToolCanceled
)

// ToolClaim is the page's report on the call of a tool. It is untrusted.
type ToolClaim struct {
	Status ToolStatus
	// Output is the text or the JSON that the tool returned, or the message of its error. Cut reports that it was longer than MaxToolOutput.
	Output string
	Cut    bool
}

// Tools calls the tools of a page. ToolsChanged events list them.
type Tools interface {
	// CallTool calls a tool and waits for its answer, but not for a form to be submitted. If ctx ends earlier, the call is canceled, unless a
	// dialog is open. It fails with an *apierr.Error of kind NotFound if the page does not offer the tool, and of kind NotActionable in a session
	// with masks, because the output could reveal masked content.
	CallTool(ctx context.Context, c ToolCall) (ToolClaim, error)
}
