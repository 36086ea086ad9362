package transcript

import (
	"encoding/json"
	"strings"
)

// payload is a part of a result that can be replaced: its position in the message, its text, and its
// replacement.
type payload struct {
	start, end  int
	text        string
	picture     bool
	replacement []byte
}

// result is the result of one tool call.
type result struct {
	tool     string
	payloads []payload
}

// size is the number of bytes of text and images.
func (r *result) size() int {
	n := 0
	for _, p := range r.payloads {
		n += p.end - p.start
	}
	return n
}

// reader finds calls and results in messages, and maps ids to tools.
type reader struct {
	placeholder string
	tools       map[string]string
	found       []*result
}

// maxNames limits the map of calls. A result whose call was dropped has no tool name.
const maxNames = 100_000

func (d *reader) name(id, tool string) {
	if id == "" || tool == "" {
		return
	}
	if len(d.tools) >= maxNames {
		clear(d.tools)
	}
	d.tools[id] = tool
}

// message returns the results in a message, in order.
func (d *reader) message(m *node) []*result {
	d.found = nil
	if !m.isObject() {
		return nil
	}
	d.openAI(m)
	d.responses(m)
	d.jsonRPC(m)
	for _, block := range m.get("content").list() {
		d.block(block)
	}
	for _, part := range m.get("parts").list() {
		d.uiPart(part)
	}
	for _, invocation := range m.get("toolInvocations").list() {
		d.invocation(invocation)
	}
	return d.found
}

// openAI reads messages of chat completions: calls of the assistant, and messages with the role tool.
func (d *reader) openAI(m *node) {
	for _, call := range m.get("tool_calls").list() {
		d.name(call.get("id").text(), call.get("function").get("name").text())
	}
	role := m.get("role").text()
	if role != "tool" && role != "function" {
		return
	}
	content := m.get("content")
	for _, part := range content.list() {
		if part.get("type").text() == "tool-result" {
			return // a message of the Vercel AI SDK
		}
	}
	d.result(d.called(m.get("tool_call_id"), m.get("name")), content)
}

// responses reads items of the Responses API.
func (d *reader) responses(m *node) {
	switch m.get("type").text() {
	case "function_call", "custom_tool_call":
		d.name(m.get("call_id").text(), m.get("name").text())
	case "function_call_output", "custom_tool_call_output":
		d.result(d.called(m.get("call_id"), nil), m.get("output"))
	case "mcp_call":
		d.result(m.get("name").text(), m.get("output"))
	}
}

// jsonRPC reads MCP messages.
func (d *reader) jsonRPC(m *node) {
	if m.get("jsonrpc") == nil {
		return
	}
	id := "rpc:" + m.get("id").text()
	if m.get("method").text() == "tools/call" {
		d.name(id, m.get("params").get("name").text())
	}
	if answer := m.get("result"); answer.isObject() {
		d.mcp(d.tools[id], answer)
	}
}

// block reads a content block of an Anthropic message or a Vercel AI SDK model message.
func (d *reader) block(b *node) {
	switch b.get("type").text() {
	case "tool_use", "mcp_tool_use", "server_tool_use":
		d.name(b.get("id").text(), b.get("name").text())
	case "tool_result", "mcp_tool_result":
		d.result(d.called(b.get("tool_use_id"), nil), b.get("content"))
	case "tool-call":
		d.name(b.get("toolCallId").text(), b.get("toolName").text())
	case "tool-result":
		output := b.get("output")
		if output == nil {
			output = b.get("result")
		} else if value := output.get("value"); value != nil {
			output = value
		}
		d.result(d.called(b.get("toolCallId"), b.get("toolName")), output)
	}
}

// uiPart reads a part of a UI message of the Vercel AI SDK.
func (d *reader) uiPart(p *node) {
	kind := p.get("type").text()
	switch {
	case kind == "tool-invocation":
		d.invocation(p.get("toolInvocation"))
	case kind == "dynamic-tool":
		d.result(p.get("toolName").text(), p.get("output"))
	case strings.HasPrefix(kind, "tool-"):
		d.result(strings.TrimPrefix(kind, "tool-"), p.get("output"))
	}
}

func (d *reader) invocation(i *node) {
	d.result(i.get("toolName").text(), i.get("result"))
}

// called returns the tool name of a call, or else the name in the result.
func (d *reader) called(id, name *node) string {
	if tool := d.tools[id.text()]; tool != "" {
		return tool
	}
	return name.text()
}

// result adds a tool's result: a string, blocks, an MCP result, or any other value.
func (d *reader) result(tool string, content *node) {
	switch {
	case content == nil:
	case content.isObject() && content.get("content").isArray():
		d.mcp(tool, content)
	case content.isArray() && isBlocks(content):
		d.record(tool, d.blocks(content))
	case content.isString():
		d.record(tool, []payload{d.whole(content, content.text())})
	case content.isObject() || content.isArray():
		d.record(tool, []payload{d.data(content)})
	}
}

// mcp adds an MCP result.
func (d *reader) mcp(tool string, answer *node) {
	payloads := d.blocks(answer.get("content"))
	if s := answer.get("structuredContent"); s.isObject() {
		payloads = append(payloads, d.data(s))
	}
	d.record(tool, payloads)
}

func (d *reader) record(tool string, payloads []payload) {
	if len(payloads) > 0 {
		d.found = append(d.found, &result{tool: tool, payloads: payloads})
	}
}

// isBlocks reports whether an array contains content blocks.
func isBlocks(array *node) bool {
	for _, b := range array.list() {
		if !b.get("type").isString() {
			return false
		}
	}
	return len(array.list()) > 0
}

// blocks returns the texts and images in content blocks.
func (d *reader) blocks(array *node) []payload {
	var payloads []payload
	for _, b := range array.list() {
		switch kind := b.get("type").text(); kind {
		case "text", "input_text", "output_text":
			if text := b.get("text"); text.isString() {
				payloads = append(payloads, d.whole(text, text.text()))
			}
		case "resource":
			if text := b.get("resource").get("text"); text.isString() {
				payloads = append(payloads, d.whole(text, text.text()))
			}
		case "image", "input_image", "image_url", "media", "image-data", "file-data":
			p := d.whole(b, "")
			p.picture = true
			p.replacement = []byte(`{"type":` + quote(textKind(kind)) + `,"text":` + string(p.replacement) + `}`)
			payloads = append(payloads, p)
		}
	}
	return payloads
}

// textKind returns the kind of text block that corresponds to a kind of image block.
func textKind(kind string) string {
	if kind == "input_image" {
		return "input_text"
	}
	return "text"
}

// data replaces an object with an object, and an array with an array.
func (d *reader) data(n *node) payload {
	p := d.whole(n, n.words())
	before, behind := `{"removed":`, `}`
	if n.isArray() {
		before, behind = `[`, `]`
	}
	p.replacement = []byte(before + string(p.replacement) + behind)
	return p
}

// whole replaces a value with the placeholder.
func (d *reader) whole(n *node, text string) payload {
	return payload{start: n.start, end: n.start + len(n.raw), text: text, replacement: []byte(quote(d.placeholder))}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
