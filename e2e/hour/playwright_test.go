package hour

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// playwrightMCP runs Playwright MCP over stdio with the options --headless and --isolated. A line of a solution is the name of a tool and
// its arguments as JSON. Answers refer to a file with a snapshot, which the solutions do not read: where an agent needs the snapshot,
// they have browser_snapshot or browser_find, which return it as a part of the answer. Refs are numbered in the order in which snapshots
// first have the elements, so they are the same in each replay if the page is complete before each call. The solutions have selectors where
// refs differed between replays.
type playwrightMCP struct {
	script, chromium string
	session          *mcp.ClientSession
	site             string
}

// playwrightScript returns the program of the package.
func playwrightScript(installed string) string {
	return filepath.Join(installed, "node_modules", "@playwright", "mcp", "cli.js")
}

func (p *playwrightMCP) start(t *testing.T, dir, site string) {
	words := []string{p.script, "--headless", "--isolated", "--executable-path", p.chromium}
	if os.Geteuid() == 0 {
		words = append(words, "--no-sandbox")
	}
	program := exec.Command("node", words...) // close ends it
	home := t.TempDir()
	program.Dir, program.Env = dir, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	client := mcp.NewClient(&mcp.Implementation{Name: "hour", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: program, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.session, p.site = session, site
}

func (p *playwrightMCP) call(t *testing.T, line string) string {
	tool, text, _ := strings.Cut(line, " ")
	var arguments map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "$SITE", p.site)), &arguments); err != nil {
		t.Fatal(err, line)
	}
	r, err := p.session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err, line)
	}
	var answer strings.Builder
	for _, part := range r.Content {
		if part, ok := part.(*mcp.TextContent); ok {
			answer.WriteString(part.Text + "\n")
		}
	}
	return answer.String()
}

func (p *playwrightMCP) close(t *testing.T) {
	if err := p.session.Close(); err != nil {
		t.Error(err)
	}
}
