package mcphost

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var domtap = Server{Name: "domtap", Command: "/usr/bin/domtap", Args: []string{"mcp"}}

func host(t testing.TB, name string) Host {
	t.Helper()
	h, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// write creates a file with a text and returns its name.
func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each case has the file of a host and the file after the installation. Removing the server restores the original file.
func TestServersAreAddedAndRemoved(t *testing.T) {
	const typed = `{"type":"stdio","command":"/usr/bin/domtap","args":["mcp"]}`
	const plain = `{"command":"/usr/bin/domtap","args":["mcp"]}`
	for _, c := range []struct{ what, host, before, after, removed string }{
		{"an empty file", "claude", "", "{\n  \"mcpServers\": {\n    \"domtap\": " + typed + "\n  }\n}\n", "{\n  \"mcpServers\": {\n  }\n}\n"},
		{"an empty object", "cursor", "{}", "{\n  \"mcpServers\": {\n    \"domtap\": " + plain + "\n  }\n}", "{\n  \"mcpServers\": {\n  }\n}"},
		{"other settings", "claude", "{\n  \"numStartups\": 12,\n  \"projects\": {\"/a\": {\"mcpServers\": {}}}\n}\n",
			"{\n  \"numStartups\": 12,\n  \"projects\": {\"/a\": {\"mcpServers\": {}}},\n  \"mcpServers\": {\n    \"domtap\": " + typed + "\n  }\n}\n",
			"{\n  \"numStartups\": 12,\n  \"projects\": {\"/a\": {\"mcpServers\": {}}},\n  \"mcpServers\": {\n  }\n}\n"},
		{"another server", "cursor", "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"unknown\": [1, 2.50]\n}\n",
			"{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    },\n    \"domtap\": " + plain + "\n  },\n  \"unknown\": [1, 2.50]\n}\n",
			"{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"unknown\": [1, 2.50]\n}\n"},
		{"comments and a trailing comma", "vscode", "// mine\n{\n\t\"servers\": {\n\t\t/* a } */ \"other\": {\"command\": \"x // y\"}, // last\n\t},\n\t\"inputs\": [],\n}\n",
			"// mine\n{\n\t\"servers\": {\n\t\t/* a } */ \"other\": {\"command\": \"x // y\"}, // last\n\"domtap\": " + typed + "\n\t},\n\t\"inputs\": [],\n}\n", ""},
		{"in one line", "cursor", `{"mcpServers":{"a":{}},"z":1}`, "{\"mcpServers\":{\"a\":{},\n\"domtap\": " + plain + "},\"z\":1}", "{\"mcpServers\":{\"a\":{}\n},\"z\":1}"},
		{"Windows' line breaks", "cursor", "{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"domtap\": " + plain + "\r\n  }\r\n}\r\n", ""},
		{"an older entry with settings", "claude", "{\"mcpServers\": {\"domtap\": {\"command\": \"old\", \"env\": {\"A\": \"b\"}, \"args\": []}}}",
			"{\"mcpServers\": {\"domtap\": {\"command\": \"/usr/bin/domtap\", \"env\": {\"A\": \"b\"}, \"args\": [\"mcp\"],\n\"type\": \"stdio\"}}}", ""},
		{"an empty TOML file", "codex", "", "[mcp_servers.domtap]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n", ""},
		{"TOML", "codex", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = 'y'\n", "model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = 'y'\n\n[mcp_servers.domtap]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n",
			"model = \"x\" # mine\n\n[mcp_servers.other]\ncommand = 'y'\n"},
		{"TOML with an older entry", "codex", "[mcp_servers.\"domtap\"]\n# mine\ncommand = \"old\"\nargs = [\n  \"a]\", # b\n]\nstartup_timeout_sec = 20\n\n[mcp_servers.domtap.env]\nA = \"b\"\n\n[z]\nq = 1\n",
			"[mcp_servers.\"domtap\"]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n# mine\nstartup_timeout_sec = 20\n\n[mcp_servers.domtap.env]\nA = \"b\"\n\n[z]\nq = 1\n", "[z]\nq = 1\n"},
		{"TOML with text that looks like a table", "codex", "a = \"\"\"\n[mcp_servers.domtap]\n\"\"\"\nb = [\n[1, 2],\n]\n", "a = \"\"\"\n[mcp_servers.domtap]\n\"\"\"\nb = [\n[1, 2],\n]\n\n[mcp_servers.domtap]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n",
			"a = \"\"\"\n[mcp_servers.domtap]\n\"\"\"\nb = [\n[1, 2],\n]\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			h, file := host(t, c.host), write(t, c.before)
			e, err := h.Install(file, domtap)
			if err != nil || e.After != c.after {
				t.Fatalf("%v, got\n%s\nwant\n%s", err, e.After, c.after)
			}
			backup, err := e.Write()
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(backup); err != nil || string(kept) != c.before {
				t.Errorf("the copy: %q, %v", kept, err)
			}
			info, err := os.Stat(file)
			if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
			if again, err := h.Install(file, domtap); err != nil || again.Changed() {
				t.Errorf("again: %v\n%s", err, again.After)
			}
			gone, err := h.Uninstall(file, "domtap")
			if err != nil || strings.Contains(gone.After, "/usr/bin/domtap") || c.removed != "" && gone.After != c.removed {
				t.Errorf("removed: %v, got\n%s\nwant\n%s", err, gone.After, c.removed)
			}
			if _, err := gone.Write(); err != nil {
				t.Fatal(err)
			}
			if again, err := h.Uninstall(file, "domtap"); err != nil || again.Changed() {
				t.Errorf("removed again: %v\n%s", err, again.After)
			}
		})
	}
}

// A file that cannot be parsed is not modified.
func TestBrokenFilesAreLeftAlone(t *testing.T) {
	for _, c := range []struct{ host, text string }{
		{"claude", "{"}, {"claude", "[]"}, {"claude", `{"a": }`}, {"claude", `{"a" 1}`}, {"claude", `{"a": 1 "b": 2}`}, {"claude", `{"mcpServers": []}`}, {"claude", `{"mcpServers": null}`},
		{"claude", `{} {}`}, {"claude", `{"a": "x`}, {"claude", "{/* "}, {"claude", strings.Repeat(`{"a":`, 5000)}, {"claude", "not json"}, {"claude", `{"a": [1, 2}`},
		{"codex", `mcp_servers = { domtap = {} }`}, {"codex", `mcp_servers.other.command = "x"`}, {"codex", "a = '''\nnever ends\n"},
	} {
		file := write(t, c.text)
		for what, do := range map[string]func() (Edit, error){
			"install":   func() (Edit, error) { return host(t, c.host).Install(file, domtap) },
			"uninstall": func() (Edit, error) { return host(t, c.host).Uninstall(file, "domtap") },
		} {
			if e, err := do(); err == nil || !strings.Contains(err.Error(), file) {
				t.Errorf("%s %q: %v\n%s", what, c.text, err, e.After)
			}
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != c.text {
			t.Errorf("%q became %q, %v", c.text, now, err)
		}
	}
}

func TestFilesOfHosts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the directories are those of Linux")
	}
	env := func(name string) string { return map[string]string{"HOME": "/home/ada"}[name] }
	for name, want := range map[string][2]string{
		"claude": {"/home/ada/.claude.json", ".mcp.json"}, "claude-desktop": {"/home/ada/.config/Claude/claude_desktop_config.json", ""}, "cursor": {"/home/ada/.cursor/mcp.json", ".cursor/mcp.json"},
		"vscode": {"/home/ada/.config/Code/User/mcp.json", ".vscode/mcp.json"}, "codex": {"/home/ada/.codex/config.toml", ".codex/config.toml"},
	} {
		for i, project := range []bool{false, true} {
			if got, err := host(t, name).File(env, project); got != want[i] || (err == nil) != (want[i] != "") {
				t.Errorf("%s, project %v: %s, %v", name, project, got, err)
			}
		}
	}
	if _, err := host(t, "claude").File(func(string) string { return "" }, false); err == nil {
		t.Error("there is a file without a home")
	}
	if _, err := Find("emacs"); err == nil || !strings.Contains(err.Error(), "claude, claude-desktop, cursor, vscode, codex") {
		t.Error(err)
	}
}

// A file is created together with its directories. A link stays a link. A concurrent change by another program is not lost.
func TestFilesThatAreMadeLinkedOrChanged(t *testing.T) {
	dir := t.TempDir()
	h := host(t, "cursor")
	missing := filepath.Join(dir, "a", "b", "mcp.json")
	e, err := h.Install(missing, domtap)
	if err == nil {
		_, err = e.Write()
	}
	if text, readErr := os.ReadFile(missing); err != nil || readErr != nil || !json.Valid(text) {
		t.Errorf("%s, %v, %v", text, err, readErr)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(missing, link); err != nil {
		t.Skip(err)
	}
	if e, err = h.Uninstall(link, "domtap"); err == nil {
		_, err = e.Write()
	}
	if info, statErr := os.Lstat(link); err != nil || statErr != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v, %v", info, err, statErr)
	}
	e, err = h.Install(missing, domtap)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(missing, []byte(`{"new": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("%v", err)
	}
	if e, err := h.Install(dir, domtap); err == nil {
		t.Errorf("a directory became %+v", e)
	}
}

// After an edit, any file can be parsed again, and the same edit changes nothing the second time.
func FuzzInstallIsIdempotent(f *testing.F) {
	for _, text := range []string{"", "{}", `{"mcpServers":{"a":1,},}`, "// x\n{\"a\":[1]}", "[mcp_servers.domtap]\nargs=[\n]\n", "a=\"\"\"\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range Names() {
			h := host(t, name)
			file := write(t, text)
			e, err := h.Install(file, domtap)
			if err != nil {
				continue
			}
			if err := os.WriteFile(file, []byte(e.After), 0o600); err != nil {
				t.Fatal(err)
			}
			again, err := h.Install(file, domtap)
			if err != nil || again.Changed() {
				t.Fatalf("%s: %q became %q and then %q, %v", name, text, e.After, again.After, err)
			}
			if _, err := h.Uninstall(file, "domtap"); err != nil && !errors.Is(err, errInline) {
				t.Fatalf("%s: %q: %v", name, e.After, err)
			}
		}
	})
}
