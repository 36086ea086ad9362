package tasks

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	domtapmcp "github.com/domtap/domtap/internal/mcp"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// domtap is the dialect of this repository's server.
type domtap struct{}

type arguments = map[string]any

func interact(steps ...arguments) call {
	return call{"browser_interact", arguments{"steps": steps}}
}

func step(action, ref string) arguments {
	n, _ := strconv.Atoi(ref)
	return arguments{"action": action, "ref": n}
}

func with(step arguments, key string, value any) arguments {
	step[key] = value
	return step
}

func (domtap) open(url string) call { return call{"browser_navigate", arguments{"url": url}} }
func (domtap) look() call           { return call{"browser_get_elements_compact", arguments{}} }
func (domtap) wait(text string) call {
	return call{"browser_wait", arguments{"text": text, "timeout": 10}}
}
func (domtap) click(ref string) call { return interact(step("click", ref)) }

func (domtap) press(key string) call { return interact(arguments{"action": "press", "value": key}) }

func (domtap) drag(from, to string) call {
	n, _ := strconv.Atoi(to)
	return interact(with(step("drag", from), "value", n))
}

func (domtap) choose(ref, option string) call {
	return interact(with(step("select", ref), "value", option))
}

func (domtap) enter(ref, text string, submit bool) call {
	fill := with(step("fill", ref), "value", text)
	if submit {
		return interact(fill, arguments{"action": "press", "value": "Enter"})
	}
	return interact(fill)
}

func (domtap) form(fields []entry, button string) []call {
	var steps []arguments
	for _, f := range fields {
		steps = append(steps, with(step("fill", f.ref), "value", f.text))
	}
	return []call{interact(append(steps, step("click", button))...)}
}

func (domtap) search(c control) (call, bool) {
	return call{"browser_find", arguments{"query": strings.TrimSpace(c.name + " " + c.near)}}, true
}

var (
	// itemPattern matches an element in a line: the ref, and the text up to the next one.
	itemPattern = regexp.MustCompile(`\[(\d+)\]((?:[^\[\\]|\\.|\[\D)*)`)
	// assumedPattern matches the role of the elements of a line that have none.
	assumedPattern = regexp.MustCompile(`^(?:[+-] )?(?:\(covered\) )?\(([a-z]\w*)\) \[`)
	// detailPattern matches the text after a name: role, value and states, the target of a link, the context.
	detailPattern = regexp.MustCompile(` (?:\(([a-z]\w*).*|→\S.*|‹.*)$`)
)

// ref implements dialect. An element is near a text that is in its context, or else in its line, or in the last heading or group before it.
func (domtap) ref(answer string, c control) string {
	var all, ofRole, near []string
	section := ""
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "<") {
			section = line
		}
		if strings.HasPrefix(line, "-") || !strings.Contains(section+"\n"+line, c.near) {
			continue
		}
		assumed := "link"
		if m := assumedPattern.FindStringSubmatch(line); m != nil {
			assumed = m[1]
		}
		for _, item := range itemPattern.FindAllStringSubmatch(line, -1) {
			detail := detailPattern.FindStringSubmatch(item[2])
			name := strings.TrimSpace(detailPattern.ReplaceAllString(item[2], ""))
			if name != c.name {
				continue
			}
			all = append(all, item[1])
			role := assumed
			if detail != nil && detail[1] != "" {
				role = detail[1]
			}
			if role == c.role {
				ofRole = append(ofRole, item[1])
			}
			if c.near != "" && strings.Contains(item[2], c.near) {
				near = append(near, item[1])
			}
		}
	}
	for _, found := range [][]string{near, ofRole, all} {
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// says implements dialect. An outcome has a separate line with its kind.
func (domtap) says(answer string, o outcome) bool {
	for line := range strings.Lines(answer) {
		if o.kind == "" || strings.HasPrefix(line, "! "+o.kind) {
			if strings.Contains(line, o.text) {
				return true
			}
		}
	}
	return false
}

// fencePattern matches the delimiters of the fence around page text.
var fencePattern = regexp.MustCompile(`(?m)^</?page nonce=\d+>\n?`)

// startDomtap starts a daemon with a browser and an MCP server for it. It returns a function that starts a session over a pair of pipes, as
// a host of `domtap mcp` does.
func startDomtap(t *testing.T) func(t *testing.T) *session {
	t.Helper()
	d := testenv.StartDaemon(t)
	conn, err := grpc.NewClient("unix:"+d.Socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	server, err := domtapmcp.New(context.WithoutCancel(t.Context()), domtapmcp.Options{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Close()
		_ = conn.Close()
	})
	return func(t *testing.T) *session {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- server.ServeStdio(context.WithoutCancel(t.Context()), in, out) }()
		client := connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer})
		t.Cleanup(func() {
			_ = client.Close()
			if err := <-served; err != nil {
				t.Errorf("the MCP server ended with %v", err)
			}
		})
		return &session{dialect: domtap{}, client: client, read: text, judge: (&referee{d: d}).judge}
	}
}

// connect starts an MCP session.
func connect(t *testing.T, over mcp.Transport) *mcp.ClientSession {
	t.Helper()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "tasks", Version: "1"}, nil).Connect(context.WithoutCancel(t.Context()), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// text returns the texts of an answer.
func text(_ *testing.T, r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// referee compares statements of answers about a page with the page, which it reads independently of the policy.
type referee struct {
	d   *testenv.Daemon
	tab string
}

var tabPattern = regexp.MustCompile(`^# tab (t\d+)`)

// judge reports a diff in an answer that costs more than the page itself.
func (r *referee) judge(t *testing.T, made call, answer string) string {
	t.Helper()
	if tab := tabPattern.FindStringSubmatch(answer); tab != nil {
		r.tab = tab[1]
	}
	if made.tool != "browser_interact" {
		return ""
	}
	page, err := r.d.Dom.GetCompact(t.Context(), &domtapv1.GetCompactRequest{TabId: r.tab, Format: domtapv1.Format_FORMAT_DENSE, ClientId: "referee"})
	if err != nil {
		t.Fatal(err)
	}
	diff := diffOf(answer)
	if got, most := tokens.Count(diff), tokens.Count(page.GetText()); got > most {
		return fmt.Sprintf("the diff costs %d tokens, and the page %d:\n%s%s", got, most, diff, page.GetText())
	}
	return ""
}

// diffPattern matches the beginning of the part of an answer about the page.
var diffPattern = regexp.MustCompile(`(?m)^(?:[-+~=>] |URL: |Changes: )`)

// diffOf returns the part of an answer about the page, without the results of the steps and the outcomes.
func diffOf(answer string) string {
	_, shown, _ := strings.Cut(answer, "<page nonce=")
	shown = fencePattern.ReplaceAllString(shown, "")
	if at := diffPattern.FindStringIndex(shown); at != nil {
		return shown[at[0]:]
	}
	return ""
}
