package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// control identifies an element in an answer by its role and name. If several controls have both, the target also needs a text near it.
type control struct{ role, name, near string }

func (c control) String() string {
	if c.near == "" {
		return fmt.Sprintf("%s %q", c.role, c.name)
	}
	return fmt.Sprintf("%s %q of %q", c.role, c.name, c.near)
}

func button(name string) control  { return control{role: "button", name: name} }
func textbox(name string) control { return control{role: "textbox", name: name} }
func link(name string) control    { return control{role: "link", name: name} }

// by returns the control near a text.
func (c control) by(text string) control {
	c.near = text
	return c
}

// outcome is a visible effect of an action. kind is the kind of domtap's outcome lines, or empty if the effect is elsewhere in the answer.
type outcome struct{ kind, text string }

func (o outcome) String() string { return strings.TrimSpace(fmt.Sprintf("%s %q", o.kind, o.text)) }

// call is a tool call.
type call struct {
	tool      string
	arguments map[string]any
}

// dialect adapts the policy to the tools and answers of a server.
type dialect interface {
	open(url string) call
	look() call
	wait(text string) call
	click(ref string) call
	press(key string) call
	drag(from, to string) call
	choose(ref, option string) call
	// enter types a text into a field and, if submit is set, presses Enter.
	enter(ref, text string, submit bool) call
	// form fills text fields and clicks a button.
	form(fields []entry, button string) []call
	// search requests an element that a look did not show. It returns false if the server has no tool for that.
	search(c control) (call, bool)
	// ref returns the only matching element in an answer, or an empty string if there is none or there are several.
	ref(answer string, c control) string
	// says reports whether an answer states an outcome as an effect of the action.
	says(answer string, o outcome) bool
}

// entry is a text for a field.
type entry struct{ ref, name, text string }

// session is a connection to an MCP server.
type session struct {
	dialect
	client *mcp.ClientSession
	// read returns the text of an answer as the model receives it.
	read func(t *testing.T, r *mcp.CallToolResult) string
	// judge, if not nil, describes what is wrong with the answer to a successful call.
	judge func(t *testing.T, made call, answer string) string
}

// agent is the policy at work on one task. It knows only the answers since the last navigation. It uses the latest answer that shows a
// control, and looks at the page if there is none.
type agent struct {
	*session
	t       *testing.T
	answers []string
	// transcript is printed by TestTasks for an unsolved task, or for all tasks with DOMTAP_TRANSCRIPTS.
	transcript strings.Builder
	result
}

// result is the row of a task in the table.
type result struct {
	calls, tokens int
	// wanted is the number of expected outcomes. shown counts those in the answer to the action, and said those that it states as outcomes.
	wanted, shown, said int
	// missed lists the outcomes that the answer to the action did not show, and unsaid those that domtap did not state as outcomes.
	missed, unsaid []string
	violations     []string
	solved         bool
}

// do makes a call and returns the text of its answer.
func (a *agent) do(c call) string {
	a.t.Helper()
	answer, failed := a.try(c)
	if failed {
		a.t.Fatalf("%s %v failed:\n%s", c.tool, c.arguments, answer)
	}
	return answer
}

func (a *agent) try(c call) (answer string, failed bool) {
	a.t.Helper()
	arguments, err := json.Marshal(c.arguments)
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := a.client.CallTool(testenv.Within(a.t, time.Minute), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
	if err != nil {
		a.t.Fatalf("%s %s: %v", c.tool, arguments, err)
	}
	answer = a.read(a.t, r)
	a.calls++
	a.tokens += tokens.Count(c.tool) + tokens.Count(string(arguments)) + tokens.Count(answer)
	a.answers = append(a.answers, answer)
	fmt.Fprintf(&a.transcript, "→ %s %s\n%s\n", c.tool, arguments, answer)
	if a.judge != nil && !r.IsError {
		if wrong := a.judge(a.t, c, answer); wrong != "" {
			a.violations = append(a.violations, wrong)
		}
	}
	return answer, r.IsError
}

// open loads an application.
func (a *agent) open(url string, want ...outcome) {
	a.t.Helper()
	a.answers = nil
	a.expect(a.do(a.dialect.open(url)), want)
}

// act passes the refs of controls to the function make, and performs the calls that it returns. If a call fails, the refs may be outdated.
// The agent then looks at the page and tries again.
func (a *agent) act(make func(refs []string) []call, controls []control, want []outcome) {
	a.t.Helper()
	var answer string
	for again := false; ; again = true {
		var refs []string
		for _, c := range controls {
			refs = append(refs, a.find(c))
		}
		failed := false
		for _, c := range make(refs) {
			if answer, failed = a.try(c); failed {
				break
			}
		}
		if !failed {
			break
		}
		if again {
			a.t.Fatalf("acting on %v failed twice:\n%s", controls, answer)
		}
		a.answers = nil
		a.do(a.look())
	}
	a.expect(answer, want)
}

// find returns the ref of a control.
func (a *agent) find(c control) string {
	a.t.Helper()
	for _, answer := range slices.Backward(a.answers) {
		if ref := a.ref(answer, c); ref != "" {
			return ref
		}
	}
	answer := a.do(a.look())
	if ref := a.ref(answer, c); ref != "" {
		return ref
	}
	if search, ok := a.search(c); ok {
		answer = a.do(search)
		if ref := a.ref(answer, control{role: c.role, name: c.name}); ref != "" { // the server's search has considered the text near it
			return ref
		}
	}
	a.t.Fatalf("no answer shows one %v; the last is\n%s", c, answer)
	return ""
}

// atMost limits the token cost of the answer to domtap's last action, or of the part of the answer that partOf returns.
func (a *agent) atMost(limit int, what string, partOf func(answer string) string) {
	a.t.Helper()
	if _, ours := a.dialect.(domtap); !ours {
		return
	}
	if part := partOf(a.answers[len(a.answers)-1]); tokens.Count(part) > limit {
		a.violations = append(a.violations, fmt.Sprintf("%s costs %d tokens, more than %d:\n%s", what, tokens.Count(part), limit, part))
	}
}

// expect counts the outcomes in the answer to an action. For a missing outcome, the policy looks at the page and then waits, unless the
// outcome disappears by itself.
func (a *agent) expect(answer string, want []outcome) {
	a.t.Helper()
	for _, o := range want {
		a.wanted++
		if a.says(answer, o) {
			a.said++
		} else if _, ours := a.dialect.(domtap); ours {
			a.unsaid = append(a.unsaid, o.String())
		}
		if strings.Contains(answer, o.text) {
			a.shown++
			continue
		}
		a.missed = append(a.missed, o.String())
		if !strings.Contains(a.do(a.look()), o.text) && o.kind != "toast" {
			a.do(a.wait(o.text))
		}
	}
}

func (a *agent) click(c control, want ...outcome) {
	a.t.Helper()
	a.act(func(refs []string) []call { return []call{a.dialect.click(refs[0])} }, []control{c}, want)
}

func (a *agent) press(key string, want ...outcome) {
	a.t.Helper()
	a.act(func([]string) []call { return []call{a.dialect.press(key)} }, nil, want)
}

func (a *agent) drag(from, to control, want ...outcome) {
	a.t.Helper()
	a.act(func(refs []string) []call { return []call{a.dialect.drag(refs[0], refs[1])} }, []control{from, to}, want)
}

func (a *agent) choose(c control, option string, want ...outcome) {
	a.t.Helper()
	a.act(func(refs []string) []call { return []call{a.dialect.choose(refs[0], option)} }, []control{c}, want)
}

// enter types a text into a field.
func (a *agent) enter(c control, text string, submit bool, want ...outcome) {
	a.t.Helper()
	a.act(func(refs []string) []call { return []call{a.dialect.enter(refs[0], text, submit)} }, []control{c}, want)
}

// form fills fields, given as pairs of name and text, and clicks a button.
func (a *agent) form(submit control, fields [][2]string, want ...outcome) {
	a.t.Helper()
	controls := []control{submit}
	for _, f := range fields {
		controls = append(controls, textbox(f[0]))
	}
	a.act(func(refs []string) []call {
		var entries []entry
		for i, f := range fields {
			entries = append(entries, entry{ref: refs[i+1], name: f[0], text: f[1]})
		}
		return a.dialect.form(entries, refs[0])
	}, controls, want)
}
