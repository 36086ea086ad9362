package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/domtap/domtap/internal/mcp/tools"
	"github.com/domtap/domtap/internal/tokens"
)

// wire is a host that writes and reads lines, as over standard input and output.
type wire struct {
	t     *testing.T
	to    io.WriteCloser
	lines chan string
	ended chan error
}

func (b *bench) wire() *wire {
	in, to := io.Pipe()
	from, out := io.Pipe()
	w := &wire{t: b.t, to: to, lines: make(chan string, 1000), ended: make(chan error, 1)}
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(from); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	go func() {
		err := b.server.ServeStdio(b.t.Context(), in, out)
		w.ended <- errors.Join(err, out.Close())
	}()
	w.ask(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"wire","version":"1"}}}`)
	w.tell(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return w
}

func (w *wire) tell(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.to, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// ask sends a line and returns the raw line of the answer.
func (w *wire) ask(line string) string {
	w.t.Helper()
	w.tell(line)
	return w.read()
}

// read returns the next line that is not a notification.
func (w *wire) read() string {
	w.t.Helper()
	for line := range w.lines {
		if strings.Contains(line, `"id":`) {
			return line
		}
	}
	w.t.Fatal("the output ended")
	return ""
}

func (w *wire) end() {
	w.t.Helper()
	if err := w.to.Close(); err != nil {
		w.t.Error(err)
	}
	if err := <-w.ended; err != nil {
		w.t.Errorf("the session ended with %v", err)
	}
}

// Every session of a host includes the definitions of the tools. This test limits the tokens of the exact bytes on the wire.
func TestDefinitionsAreCheap(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	for classes, limit := range map[string]int{tools.Core: 1500, tools.Page: 1500, tools.Storage: 300, tools.Search: 200, tools.Network: 300, tools.WebMCP: 250, tools.All: 4200} {
		inBubble(t, Options{Tools: classes, Search: true}, func(t *testing.T, b *bench) {
			w := b.wire()
			line := w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			w.end()
			got := tokens.Count(line)
			t.Logf("%-5s %5d tokens (%s) in %d bytes", classes, got, tokens.Name, len(line))
			if got > limit {
				t.Errorf("the tools of %s cost %d tokens, more than %d", classes, got, limit)
			}
			// The table of the tools in the documentation ends each line with the tokens of the class.
			figure := strconv.Itoa(got)
			if got >= 1000 {
				figure = figure[:1] + "," + figure[1:]
			}
			if line := regexp.MustCompile("(?m)^\\| `" + classes + "`.*$").FindString(string(page)); !strings.HasSuffix(line, "| "+figure+" |") {
				t.Errorf("docs/mcp.md has the line %q for the tools of %s, which cost %s tokens", line, classes, figure)
			}
		})
	}
}

// listed is a tool as hosts receive it.
type listed struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	InputSchema *jsonschema.Schema `json:"inputSchema"`
	Annotations map[string]bool    `json:"annotations"`
}

var toolName = regexp.MustCompile(`^browser_[a-z_]{1,50}$`)

func TestEveryToolIsWellDescribed(t *testing.T) {
	inBubble(t, Options{Tools: tools.All, Search: true}, func(t *testing.T, b *bench) {
		w := b.wire()
		defer w.end()
		var answer struct{ Result struct{ Tools []listed } }
		if err := json.Unmarshal([]byte(w.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)), &answer); err != nil {
			t.Fatal(err)
		}
		readOnly := map[string]bool{
			"browser_get_dom": true, "browser_get_elements_compact": true, "browser_read_page": true, "browser_screenshot": true, "browser_wait": true,
			"browser_extract": true, "browser_log": true, "browser_find": true, "browser_batch": true, "browser_search": true, "browser_storage": false, "browser_route": false, "browser_page_tools": true, "browser_call_page_tool": false, "browser_interact": false, "browser_fill_form": false, "browser_navigate": false, "browser_tab": false,
		}
		if len(answer.Result.Tools) != len(readOnly) {
			t.Errorf("%d tools are listed, want %d", len(answer.Result.Tools), len(readOnly))
		}
		for _, tool := range answer.Result.Tools {
			want, known := readOnly[tool.Name]
			if !known || !toolName.MatchString(tool.Name) {
				t.Errorf("%q is not a name of a tool", tool.Name)
			}
			if tool.Annotations["readOnlyHint"] != want {
				t.Errorf("%s has the annotations %v", tool.Name, tool.Annotations)
			}
			if len(tool.Description) < 20 {
				t.Errorf("%s is described as %q", tool.Name, tool.Description)
			}
			if tool.InputSchema == nil || tool.InputSchema.Type != "object" {
				t.Errorf("%s takes no object", tool.Name)
				continue
			}
			if _, err := tool.InputSchema.Resolve(nil); err != nil {
				t.Errorf("the schema of %s: %v", tool.Name, err)
			}
			everyType(t, tool.Name, tool.InputSchema)
		}
	})
}

// everyType checks that each part of a schema has a type, which some hosts require, and that required properties exist.
func everyType(t *testing.T, at string, s *jsonschema.Schema) {
	t.Helper()
	if s.Type == "" {
		t.Errorf("%s has no type", at)
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			t.Errorf("%s requires %s, which it does not have", at, name)
		}
	}
	for name, p := range s.Properties {
		everyType(t, at+"."+name, p)
	}
	if s.Items != nil {
		everyType(t, at+"[]", s.Items)
	}
}

func TestTheProtocolOnTheWire(t *testing.T) {
	inBubble(t, Options{Version: "v1.2.3"}, func(t *testing.T, b *bench) {
		w := b.wire()
		for ask, want := range map[string]string{
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                                                       `{"jsonrpc":"2.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/dance"}`:                                                                                `"code":-32601`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"browser_dance"}}`:                                               `"code":-32602`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}}`:                                                                     `"code":-32602`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"browser_navigate","arguments":[1]}}`:                            `"code":-32602`,
			`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"domtap://tab/t9"}}`:                                          `"code":-32602,"message":"Resource not found"`,
			`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`:                                       `"code":-32602,"message":"Resource not found"`,
			`{"jsonrpc":"2.0","id":8,"method":"resources/subscribe","params":{"uri":"domtap://tab/t9"}}`:                                     `"code":-32602,"message":"Resource not found"`,
			`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"browser_interact","arguments":{"steps":[{"action":"click"}]}}}`: `"isError":true`,
			`{"jsonrpc":"2.0","id":10,"method":"resources/templates/list"}`:                                                                  `"uriTemplate":"domtap://tab/{id}"`,
			`{"jsonrpc":"2.0","id":11,"method":"prompts/list"}`:                                                                              `"id":11`,
			`{"jsonrpc":"2.0","id":12,"method":"initialize","params":{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"x"}}}`:   `"error"`,
			`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"browser_tab","arguments":{"action":"list"}}}`:                  `# no tab is open`,
		} {
			if got := w.ask(ask); !strings.Contains(got, want) {
				t.Errorf("%s\nwas answered with %s\nwant %s", ask, got, want)
			}
		}
		w.end()
	})
}

func TestEndOfInputEndsRunningCalls(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		h := b.host()
		h.do("browser_navigate", object{"url": shopURL})
		w := b.wire()
		w.tell(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_wait","arguments":{"tab":"t1","text":"never","timeout":300}}}`)
		settle()
		w.end() // check immediately: the bubble detects waiting and remaining goroutines
	})
}

func TestTheEndOfTheServerEndsASessionThatIsOpen(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(t.Context())
		in, to := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- b.server.ServeStdio(ctx, in, io.Discard) }()
		settle()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("a server that was told to end: %v", err)
		}
		_ = to.Close()
	})
}
