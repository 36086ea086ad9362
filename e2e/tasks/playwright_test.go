package tasks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/testenv"
)

// playwright is the dialect of Playwright MCP.
type playwright struct{}

func (playwright) open(url string) call  { return call{"browser_navigate", arguments{"url": url}} }
func (playwright) look() call            { return call{"browser_snapshot", arguments{}} }
func (playwright) wait(text string) call { return call{"browser_wait_for", arguments{"text": text}} }
func (playwright) click(ref string) call { return call{"browser_click", arguments{"target": ref}} }
func (playwright) press(key string) call { return call{"browser_press_key", arguments{"key": key}} }

func (playwright) drag(from, to string) call {
	return call{"browser_drag", arguments{"startTarget": from, "endTarget": to}}
}

func (playwright) choose(ref, option string) call {
	return call{"browser_select_option", arguments{"target": ref, "values": []string{option}}}
}

func (playwright) enter(ref, text string, submit bool) call {
	c := call{"browser_type", arguments{"target": ref, "text": text}}
	if submit {
		c.arguments["submit"] = true
	}
	return c
}

func (p playwright) form(fields []entry, button string) []call {
	if len(fields) == 1 {
		return []call{p.enter(fields[0].ref, fields[0].text, false), p.click(button)}
	}
	var all []arguments
	for _, f := range fields {
		all = append(all, arguments{"target": f.ref, "name": f.name, "type": "textbox", "value": f.text})
	}
	return []call{{"browser_fill_form", arguments{"fields": all}}, p.click(button)}
}

func (playwright) search(control) (call, bool) { return call{}, false }

// nodePattern matches a line of a snapshot: the indentation, the role, the name, the ref, and the text.
var nodePattern = regexp.MustCompile(`^( *)- '?([a-z]+)(?: "((?:[^"\\]|\\.)*)")?.*?\[ref=(\w+)\][^:]*(?:: ?(.*))?$`)

// ref implements dialect. Of several elements it returns the one that shares the smallest subtree with the text.
func (playwright) ref(answer string, c control) string {
	lines := strings.Split(answer, "\n")
	best, deepest, tied := "", -1, false
	for i, line := range lines {
		m := nodePattern.FindStringSubmatch(line)
		if m == nil || m[2] != c.role || m[3] != c.name && (m[3] != "" || m[5] != c.name) {
			continue
		}
		switch depth := common(lines, i, len(m[1]), c.near); {
		case depth > deepest:
			best, deepest, tied = m[4], depth, false
		case depth == deepest:
			tied = true
		}
	}
	if tied {
		return ""
	}
	return best
}

// common returns the depth of the smallest subtree that contains both a line and a text, or -1 if there is none.
func common(lines []string, at, depth int, near string) int {
	if near == "" || strings.Contains(lines[at], near) {
		return depth
	}
	for up := at - 1; up >= 0; up-- {
		d := indentation(lines[up])
		if d >= depth || !strings.HasPrefix(lines[up][d:], "- ") {
			continue
		}
		depth = d
		end := up + 1
		for end < len(lines) && indentation(lines[end]) > d {
			end++
		}
		if strings.Contains(strings.Join(lines[up:end], "\n"), near) {
			return d
		}
	}
	return -1
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// says implements dialect. A snapshot does not show what is new in it.
func (playwright) says(answer string, o outcome) bool {
	return o.kind == "" && strings.Contains(answer, o.text)
}

// startPlaywright starts Playwright MCP with the browser that domtap uses, and returns a function that starts a session with it. The test
// is skipped if it is not requested or Playwright MCP is not installed.
func startPlaywright(t *testing.T) func(t *testing.T) *session {
	t.Helper()
	if os.Getenv("DOMTAP_PLAYWRIGHT_MCP") == "" {
		t.Skip("set DOMTAP_PLAYWRIGHT_MCP=1 to compare with Playwright MCP")
	}
	browser := testenv.NeedBrowser(t)
	installed, err := filepath.Abs(filepath.Join("..", "..", ".cache", "playwright-mcp"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(installed, "stamp")); err != nil {
		t.Skip("Playwright MCP is not installed: scripts/install-playwright-mcp")
	}
	flags := []string{filepath.Join(installed, "node_modules", "@playwright", "mcp", "cli.js"), "--headless", "--isolated", "--executable-path", browser}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	return func(t *testing.T) *session {
		output := t.TempDir()
		program := exec.Command(testenv.Node(t), append(flags, "--output-dir", output, "--file-paths", "absolute")...)
		program.Dir, program.Stderr = output, os.Stderr
		client := connect(t, &mcp.CommandTransport{Command: program})
		t.Cleanup(func() { _ = client.Close() })
		return &session{dialect: playwright{}, client: client, read: withFiles}
	}
}

// snapshotPattern matches the line of an answer that refers to a file with the snapshot.
var snapshotPattern = regexp.MustCompile(`(?m)^- \[Snapshot\]\((.*)\)$`)

// withFiles returns the texts of an answer, with the snapshot in place of a link to its file. This favours Playwright MCP, because a host
// needs a tool to read files and an additional call.
func withFiles(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	return snapshotPattern.ReplaceAllStringFunc(text(t, r), func(line string) string {
		snapshot, err := os.ReadFile(snapshotPattern.FindStringSubmatch(line)[1])
		if err != nil {
			t.Fatal(err)
		}
		return string(snapshot)
	})
}
