//go:build unix

package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// specs returns the compared programs, in the order of the tables.
func specs() []spec {
	return []spec{domtapServer(), domtapShell(), agentBrowser(), playwright(), chromeDevTools()}
}

type arguments = map[string]any

func one(tool string, a arguments) []call { return []call{{tool: tool, arguments: a}} }

// refIn returns a function that finds a ref by a pattern. NAME in the pattern is replaced by the name.
func refIn(pattern, prefix string) func(answer, name string) string {
	return func(answer, name string) string {
		expression, err := regexp.Compile(strings.ReplaceAll(pattern, "NAME", regexp.QuoteMeta(name)))
		if err != nil {
			return "" // the patterns are literals of this package
		}
		found := expression.FindStringSubmatch(answer)
		if found == nil {
			return ""
		}
		return prefix + found[1]
	}
}

// cursorPattern matches the cursor of a truncated domtap answer.
var cursorPattern = lazyregexp.New(`next: (c\d+)\)`)

// domtapEnv sets the browser of the comparison for the daemon, and a free port.
func domtapEnv(s *settings, env []string) []string {
	return append(env, "DOMTAP_CHROME="+s.browser, "DOMTAP_LISTEN=127.0.0.1:0")
}

func findDomtap(s *settings) error {
	_, err := exec.LookPath(s.domtap)
	return err
}

// domtapElements is the domtap tool that lists elements.
const domtapElements = "browser_get_elements_compact"

// moreOfDomtap returns the call that continues a truncated answer. It returns false if the answer is complete.
func moreOfDomtap(last call, answer string) (call, bool) {
	cut := cursorPattern().FindStringSubmatch(answer)
	if cut == nil {
		return call{}, false
	}
	next := call{tool: domtapElements, arguments: arguments{"cursor": cut[1]}}
	if all, ok := last.arguments["interactive_only"]; ok { // a cursor requires the same options
		next.arguments["interactive_only"] = all
	}
	if strings.Contains(answer, "# max_elements 0 and max_tokens 0 give the rest") {
		next.arguments["max_elements"], next.arguments["max_tokens"] = 0, 0
	}
	return next, true
}

// domtapServer is domtap, used as an MCP host does according to docs/mcp.md.
func domtapServer() spec {
	number := func(ref string) int {
		n, _ := strconv.Atoi(ref) // the pattern matches only digits
		return n
	}
	click := func(ref string) []call {
		return one("browser_interact", arguments{"steps": []arguments{{"action": "click", "ref": number(ref)}}})
	}
	const elements = domtapElements
	texts := arguments{"interactive_only": false, "incremental": true}
	return spec{
		Named: Named{Name: "domtap", How: "MCP over stdio (`domtap mcp`), default tools"},
		find:  findDomtap,
		start: func(ctx context.Context, s *settings, dir string, env []string) (channel, error) {
			env = domtapEnv(s, env)
			c, err := startServer(ctx, dir, env, s.domtap, "mcp")
			if err != nil {
				return nil, err
			}
			c.after = (&shell{dir: dir, env: env, program: s.domtap, leave: []string{"stop"}}).close
			return c, nil
		},
		open: func(url string) []call { return one("browser_navigate", arguments{"url": url}) },
		tab: func(url string) []call {
			return one("browser_tab", arguments{"action": "open", "url": url})
		},
		more:  moreOfDomtap,
		again: func() []call { return one(elements, arguments{"incremental": true}) },
		ref:   refIn(`\[(\d+)\] NAME\b`, ""),
		click: click,
		know:  func(ref string) []call { return append(click(ref), one(elements, texts)...) },
		prepare: func(alone bool) []call {
			if !alone {
				return nil
			}
			return one(elements, arguments{"interactive_only": false})
		},
		learn: func() []call {
			return append(one("browser_wait", arguments{"change": true, "timeout": 20}), one(elements, texts)...)
		},
		waits: true,
		wait:  func(text string) []call { return one("browser_wait", arguments{"text": text, "timeout": 20}) },
		look:  func() []call { return one(elements, arguments{}) },
	}
}

// domtapShell is domtap, used on the command line according to docs/commands.md.
func domtapShell() spec {
	// The first command has no limits. The second one also returns texts.
	snapshot, texts := command("domtap", "snapshot", "--max-elements", "0", "--max-tokens", "0"), command("domtap", "snapshot", "--full", "--all")
	click := func(ref string) []call { return []call{command("domtap", "click", ref)} }
	return spec{
		Named: Named{Name: "domtap (shell)", How: "commands, with the daemon that the first one starts"},
		find:  findDomtap,
		start: func(_ context.Context, s *settings, dir string, env []string) (channel, error) {
			return &shell{dir: dir, env: domtapEnv(s, env), program: s.domtap, leave: []string{"stop"}}, nil
		},
		first: func(url string) []call { return []call{command("domtap", "open", url), snapshot} },
		open:  func(url string) []call { return []call{command("domtap", "goto", url), snapshot} },
		tab:   func(url string) []call { return []call{command("domtap", "open", url)} },
		again: func() []call {
			return []call{command("domtap", "snapshot", "--format", "dense_diff", "--incremental", "--max-elements", "0", "--max-tokens", "0")}
		},
		ref:   refIn(`\[(\d+)\] NAME\b`, ""),
		click: click,
		know: func(ref string) []call {
			return append(click(ref), command("domtap", "snapshot", "--full", "--all", "--format", "dense_diff", "--incremental"))
		},
		prepare: func(alone bool) []call {
			if !alone {
				return nil
			}
			return []call{texts}
		},
		learn: func() []call {
			return []call{command("domtap", "watch", "--all", "--full", "--omit-initial", "--count", "1", "--timeout", "20s")}
		},
		waits:  true,
		wait:   func(text string) []call { return []call{command("domtap", "wait", "--text", text)} },
		manual: []string{"skill"},
		look:   func() []call { return []call{command("domtap", "snapshot")} },
	}
}

// agentBrowser is agent-browser, used according to its skill file "core": open, snapshot -i, click @e1. The first snapshot with --delta is
// complete; later ones contain only changes. Only the snapshot of the whole tree contains texts that are not controls, so the result of a
// click requires such a snapshot.
func agentBrowser() spec {
	run := func(words ...string) call { return command(append([]string{"agent-browser"}, words...)...) }
	controls, tree := run("snapshot", "-i", "--delta"), run("snapshot", "--delta")
	open := func(url string) []call { return []call{run("open", url), controls} }
	return spec{
		Named: Named{Name: "agent-browser", How: "commands, with its daemon; `snapshot -i --delta`, and after actions `snapshot --delta`"},
		find: func(s *settings) error {
			_, err := os.Stat(agentBrowserPath(s))
			return err
		},
		start: func(_ context.Context, s *settings, dir string, env []string) (channel, error) {
			env = append(env, "AGENT_BROWSER_EXECUTABLE_PATH="+s.browser, "AGENT_BROWSER_SESSION=peers", "AGENT_BROWSER_NO_VERSION_CHECK=1")
			if s.root {
				env = append(env, "AGENT_BROWSER_ARGS=--no-sandbox")
			}
			return &shell{dir: dir, env: env, program: agentBrowserPath(s), leave: []string{"close"}}, nil
		},
		open:    open,
		tab:     func(url string) []call { return []call{run("tab", "new", url)} },
		again:   func() []call { return []call{controls} },
		ref:     refIn(`"NAME".*?ref=(e\d+)`, "@"),
		click:   func(ref string) []call { return []call{run("click", ref)} },
		prepare: func(bool) []call { return []call{tree} },
		know:    func(ref string) []call { return []call{run("click", ref), tree} },
		learn:   func() []call { return []call{tree} },
		wait:    func(text string) []call { return []call{run("wait", "--text", text)} },
		manual:  []string{"skills", "get", "core"},
		look:    func() []call { return []call{controls} },
	}
}

// agentBrowserPath returns the package's native program for this machine, which a global installation would run without node.
func agentBrowserPath(s *settings) string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return filepath.Join(s.installed, "node_modules", "agent-browser", "bin", "agent-browser-"+runtime.GOOS+"-"+arch)
}

// playwright is Playwright MCP. Its answers to navigations and actions contain a snapshot in a file.
func playwright() spec {
	click := func(ref string) []call { return one("browser_click", arguments{"target": ref}) }
	snapshot := func() []call { return one("browser_snapshot", arguments{}) }
	script := func(s *settings) string {
		return filepath.Join(s.installed, "node_modules", "@playwright", "mcp", "cli.js")
	}
	return spec{
		Named: Named{Name: "Playwright MCP", How: "MCP over stdio, `--headless --isolated`; snapshots in files count as a part of the answer"},
		find:  findScript(script),
		start: func(ctx context.Context, s *settings, dir string, env []string) (channel, error) {
			words := []string{"node", script(s), "--headless", "--isolated", "--executable-path", s.browser, "--output-dir", dir, "--file-paths", "absolute"}
			if s.root {
				words = append(words, "--no-sandbox")
			}
			return started(startServer(ctx, dir, env, words...))
		},
		open:  func(url string) []call { return one("browser_navigate", arguments{"url": url}) },
		tab:   func(url string) []call { return one("browser_tabs", arguments{"action": "new", "url": url}) },
		again: snapshot,
		ref:   refIn(`"NAME".*?\[ref=(\w+)\]`, ""),
		click: click,
		know:  click,
		learn: snapshot,
		wait:  func(text string) []call { return one("browser_wait_for", arguments{"text": text}) },
		look:  snapshot,
	}
}

// chromeDevTools is chrome-devtools-mcp. Its answers to actions contain a snapshot on request.
func chromeDevTools() spec {
	const page = 1 // the initial page
	snapshot := func() []call { return one("take_snapshot", arguments{"pageId": page}) }
	script := func(s *settings) string {
		return filepath.Join(s.installed, "node_modules", "chrome-devtools-mcp", "build", "src", "bin", "chrome-devtools-mcp.js")
	}
	return spec{
		Named: Named{Name: "chrome-devtools-mcp", How: "MCP over stdio, `--headless --isolated`, no usage statistics, no update checks; actions with `includeSnapshot`"},
		find:  findScript(script),
		start: func(ctx context.Context, s *settings, dir string, env []string) (channel, error) {
			words := []string{"node", script(s), "--headless", "--isolated", "--executablePath", s.browser, "--no-usage-statistics"}
			if s.root {
				words = append(words, "--chromeArg=--no-sandbox")
			}
			return started(startServer(ctx, dir, append(env, "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1"), words...))
		},
		open: func(url string) []call {
			return append(one("navigate_page", arguments{"pageId": page, "type": "url", "url": url}), snapshot()...)
		},
		tab:   func(url string) []call { return one("new_page", arguments{"url": url}) },
		again: snapshot,
		ref:   refIn(`uid=(\S+) \S+ "NAME"`, ""),
		click: func(ref string) []call { return one("click", arguments{"pageId": page, "uid": ref}) },
		know: func(ref string) []call {
			return one("click", arguments{"pageId": page, "uid": ref, "includeSnapshot": true})
		},
		learn: snapshot,
		wait: func(text string) []call {
			return one("wait_for", arguments{"pageId": page, "text": []string{text}, "timeout": 20000})
		},
		look: snapshot,
	}
}

// started returns s as a channel, or nil with an error.
func started(s *server, err error) (channel, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// findScript returns a check for node and a script.
func findScript(path func(s *settings) string) func(s *settings) error {
	return func(s *settings) error {
		if _, err := os.Stat(path(s)); err != nil {
			return err
		}
		_, err := exec.LookPath("node")
		return err
	}
}

// packageOf maps programs to their npm packages.
var packageOf = map[string]string{"agent-browser": "agent-browser", "Playwright MCP": "@playwright/mcp", "chrome-devtools-mcp": "chrome-devtools-mcp"}

// version returns the version of a program that was found.
func version(ctx context.Context, s *settings, name string) (string, error) {
	npm, ok := packageOf[name]
	if !ok {
		out, err := exec.CommandContext(ctx, s.domtap, "version").Output()
		fields := strings.Fields(string(out))
		if err != nil || len(fields) < 2 {
			return "", fmt.Errorf("domtap version: %q: %w", out, err)
		}
		return fields[1], nil
	}
	text, err := os.ReadFile(filepath.Join(s.installed, "node_modules", filepath.FromSlash(npm), "package.json"))
	var about struct{ Version string }
	return about.Version, errors.Join(err, json.Unmarshal(text, &about))
}
