package mcp

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/actor/actortest"
	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/dom"
	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// random matches text that differs from run to run.
var random = regexp.MustCompile(`(nonce=|cursor: c)\d+`)

// TestASessionReadsWell compares a session, as a model reads it, with testdata/session.txt, which is meant to be read by people. The flag
// -update rewrites the file.
func TestASessionReadsWell(t *testing.T) {
	inBubble(t, Options{Tools: tools.All}, func(t *testing.T, b *bench) {
		pay := actortest.Button("Pay")
		pay.Act = func(page *actortest.Page, _ driver.Action) error {
			page.Update(func(main *actortest.Frame) {
				main.Body = append(main.Body, actortest.Link("Receipt", shopURL+"receipt"))
			})
			return nil
		}
		b.browser.Serve(shopURL, func() actortest.Screen {
			return actortest.Screen{Title: "Shop", Body: []*actortest.Node{
				actortest.Heading(1, "Things"), actortest.Link("Cart", shopURL+"cart"), actortest.Textbox("Email", ""), pay, actortest.Button("Pay later"),
			}}
		})
		pay.Act = noisily(pay.Act)
		h := b.host()
		golden(t, "session.txt", transcriptOf(t, h, []toolCall{
			{"browser_read_page", object{}},
			{"browser_navigate", object{"url": shopURL}},
			{"browser_get_elements_compact", object{"max_elements": 5000, "format": "tree"}},
			{"browser_get_elements_compact", object{"incremental": true}},
			{"browser_interact", object{"steps": []object{{"action": "fill", "ref": 2, "value": "a@b.example"}, {"action": "click", "role": "button", "name": "Pay"}}}},
			{"browser_get_elements_compact", object{"incremental": true}},
			{"browser_interact", object{"steps": []object{{"action": "click", "text": "pa"}}}},
			{"browser_interact", object{"steps": []object{{"action": "click", "ref": 99}}}},
			{"browser_wait", object{"text": "Receipt"}},
			{"browser_wait", object{"role": "button", "name": "Refund", "timeout": 1}},
			{"browser_get_dom", object{"max_elements": 2}},
			{"browser_log", object{}},
			{"browser_log", object{}},
			{"browser_log", object{"all": "true"}},
			{"browser_tab", object{"action": "list"}},
			{"browser_tab", object{"action": "close"}},
			{"browser_navigate", object{"href": shopURL}},
		}))
	})
}

// toolCall is a host's call, in the form of a transcript.
type toolCall struct {
	tool      string
	arguments object
}

// transcriptOf makes the calls and returns them with their answers.
func transcriptOf(t *testing.T, h *host, calls []toolCall) string {
	t.Helper()
	var out strings.Builder
	for _, call := range calls {
		got, failed := h.call(call.tool, call.arguments)
		raw, err := json.Marshal(call.arguments)
		if err != nil {
			t.Fatal(err)
		}
		mark := "<"
		if failed {
			mark = "! isError"
		}
		fmt.Fprintf(&out, "> %s %s\n%s\n%s\n\n", call.tool, raw, mark, random.ReplaceAllString(got, "${1}…"))
	}
	return out.String()
}

// notifying returns an action that reports something a person would notice.
func notifying(id uint64, kind dom.NoticeKind, words string) func(*actortest.Page, driver.Action) error {
	return func(page *actortest.Page, _ driver.Action) error {
		page.Emit(driver.NoticesReported{Document: "d", Notices: []dom.Notice{{ID: id, Kind: kind, Text: words, Ref: dom.NoRef}}})
		return nil
	}
}

// TestWhichOneAndWhatHappenedReadWell compares two kinds of output with testdata/which.txt: calls that select one of several elements, and
// answers that report what a person would notice.
func TestWhichOneAndWhatHappenedReadWell(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		around := func(role, text string, in ...*actortest.Node) *actortest.Node {
			n := actortest.El("div", role, text, in...)
			n.Kind = dom.Structural
			return n
		}
		row := func(name string, act func(*actortest.Page, driver.Action) error) *actortest.Node {
			edit := actortest.Button("Invite")
			edit.Act = act
			return around("row", "", around("cell", name), around("cell", "", edit))
		}
		in := actortest.Button("Sign in")
		in.Act = notifying(1, dom.NoticeAlert, "Wrong e-mail or password")
		b.browser.Serve(shopURL, func() actortest.Screen {
			return actortest.Screen{Title: "Team", Body: []*actortest.Node{
				row("Grace Hopper", notifying(2, dom.NoticeToast, "Grace was invited")), row("Alan Turing", notifying(3, dom.NoticeToast, "Alan was invited")), in,
			}}
		})
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL})
		act := func(step object) object { return object{"steps": []object{step}} }
		golden(t, "which.txt", transcriptOf(t, h, []toolCall{
			{"browser_interact", act(object{"action": "click", "role": "button", "name": "Invite"})},
			{"browser_interact", act(object{"action": "click", "role": "button", "name": "Invite", "within": "Nobody"})},
			{"browser_interact", act(object{"action": "click", "role": "button", "name": "Invite", "within": "grace hopper"})},
			{"browser_find", object{"query": "invite", "within": "Alan"}},
			{"browser_interact", act(object{"action": "click", "role": "button", "name": "Sign in"})},
			{"browser_interact", act(object{"action": "read"})},
		}))
	})
}

// said is a message that a page logs.
type said pagelog.Entry

func (s said) Entry() pagelog.Entry { return pagelog.Entry(s) }

// noisily returns an action that logs one problem twice, another once, and a message.
func noisily(act func(*actortest.Page, driver.Action) error) func(*actortest.Page, driver.Action) error {
	return func(page *actortest.Page, a driver.Action) error {
		at := page.Log()
		for _, kind := range []string{"warning", "log", "warning"} {
			at.Add(pagelog.Console, time.Now(), 100, said{Level: kind, Text: "old API", URL: shopURL + "js/app.js", Line: 7})
		}
		at.Add(pagelog.Failure, time.Now(), 100, said{Level: "error", Text: "TypeError: total is null\n at pay", URL: shopURL + "js/app.js", Line: 12})
		return act(page, a)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is another session now (-update writes it anew):\n%s", file, got)
	}
}
