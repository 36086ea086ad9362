package mcphost

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files as left by editors and people. Everything except domtap's own entry stays unchanged, byte for byte.
func TestFilesAsPeopleLeaveThem(t *testing.T) {
	const entry, table = `"domtap": {"type":"stdio","command":"/usr/bin/domtap","args":["mcp"]}`, "[mcp_servers.domtap]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n"
	for _, c := range []struct{ name, host, text, want string }{
		{"lines end in CRLF", "vscode", "{\r\n  \"servers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n", "{\r\n  \"servers\": {\r\n    \"a\": {},\r\n    " + entry + "\r\n  }\r\n}\r\n"},
		{"byte order mark", "vscode", "\ufeff{\"servers\": {}}", "\ufeff{\"servers\": {\n  " + entry + "\n}}"},
		{"comment behind the last", "vscode", "{\n  \"servers\": {\n    \"a\": {} // ada's\n  }\n}\n", "{\n  \"servers\": {\n    \"a\": {}, // ada's\n    " + entry + "\n  }\n}\n"},
		{"comment behind a comma", "vscode", "{\n  \"servers\": {\n    \"a\": {}, /* ada's */ \n  }\n}\n", "{\n  \"servers\": {\n    \"a\": {}, /* ada's */\n    " + entry + " \n  }\n}\n"},
		{"TOML in CRLF", "codex", "model = \"x\"\r\n", "model = \"x\"\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		{"TOML with a mark", "codex", "\ufeff" + table, "\ufeff" + table},
		{"quotes in a comment", "codex", "# say \"\"\" and '''\n" + table, "# say \"\"\" and '''\n" + table},
		{"quotes in a string", "codex", "a = \"'''\"\nb = '\"\"\"'\n" + table, "a = \"'''\"\nb = '\"\"\"'\n" + table},
		{"five quotes", "codex", "a = \"\"\"x\"\"\"\"\"\n" + table, "a = \"\"\"x\"\"\"\"\"\n" + table},
		{"table in a string", "codex", "a = '''\n[mcp_servers.domtap]\ncommand = \"old\"\n'''\n", "a = '''\n[mcp_servers.domtap]\ncommand = \"old\"\n'''\n\n" + table},
		{"in a comment", "codex", "[mcp_servers.domtap]\n# command = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n", table + "# command = \"/usr/bin/domtap\"\n"},
		{"a name with a dot", "codex", "[\"mcp_servers.domtap\"]\na = 1\n", "[\"mcp_servers.domtap\"]\na = 1\n\n" + table},
		{"a quoted name", "codex", "[ mcp_servers . \"domtap\" ]\ncommand = \"old\"\n", "[ mcp_servers . \"domtap\" ]\ncommand = \"/usr/bin/domtap\"\nargs = [\"mcp\"]\n"},
	} {
		e, err := host(t, c.host).Install(write(t, c.text), domtap)
		if err != nil || e.After != c.want {
			t.Errorf("%s: %q, %v, want\n%q", c.name, e.After, err, c.want)
			continue
		}
		again, err := host(t, c.host).Install(write(t, e.After), domtap)
		if err != nil || again.Changed() {
			t.Errorf("%s, again: %q, %v", c.name, again.After, err)
		}
	}
	for _, text := range []string{"[mcp_servers]\ndomtap = { command = \"x\" }\n", "[mcp_servers]\n\"domtap\".command = \"x\"\n"} {
		for _, do := range []func(string) (Edit, error){
			func(file string) (Edit, error) { return host(t, "codex").Install(file, domtap) },
			func(file string) (Edit, error) { return host(t, "codex").Uninstall(file, "domtap") },
		} {
			if e, err := do(write(t, text)); err == nil {
				t.Errorf("%q became %q: the server is there twice", text, e.After)
			}
		}
	}
}

func TestFilesThatAreNotToBeWritten(t *testing.T) {
	dir := t.TempDir()
	h := host(t, "cursor")
	locked := filepath.Join(dir, "locked.json")
	if err := os.WriteFile(locked, []byte("{}"), 0o400); err != nil {
		t.Fatal(err)
	}
	if e, err := h.Install(locked, domtap); err != nil {
		t.Error(err)
	} else if _, err := e.Write(); err == nil || !strings.Contains(err.Error(), "may not be written") {
		t.Errorf("a file that is only to be read: %v", err)
	}
	late := filepath.Join(dir, "late.json")
	e, err := h.Install(late, domtap)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(late, []byte(`{"mine": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Write(); err == nil || !strings.Contains(err.Error(), "made meanwhile") {
		t.Errorf("a file that was made meanwhile: %v", err)
	}
	dangling := filepath.Join(dir, "dangling.json")
	if err := os.Symlink(filepath.Join(dir, "nowhere.json"), dangling); err != nil {
		t.Skip(err)
	}
	if _, err := h.Install(dangling, domtap); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link to nothing: %v", err)
	}
	shared := filepath.Join(dir, "shared.json")
	if err := os.WriteFile(shared, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o664); err != nil {
		t.Fatal(err)
	}
	if e, err = h.Install(shared, domtap); err == nil {
		_, err = e.Write()
	}
	if info, statErr := os.Stat(shared); err != nil || statErr != nil || info.Mode().Perm() != 0o664 {
		t.Errorf("the mode became %v, %v, %v", info, err, statErr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".domtap-*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// TestNamesThatAreNoBareKeys installs and removes servers whose names must be quoted.
func TestNamesThatAreNoBareKeys(t *testing.T) {
	for _, name := range []string{"my.domtap", "my domtap", "dömtap"} {
		one := domtap
		one.Name = name
		e, err := host(t, "codex").Install(write(t, "a = 1\n"), one)
		if err != nil || !strings.Contains(e.After, "[mcp_servers.\""+name+"\"]\n") {
			t.Fatalf("%s: %q, %v", name, e.After, err)
		}
		if again, err := host(t, "codex").Install(write(t, e.After), one); err != nil || again.Changed() {
			t.Errorf("%s, again: %q, %v", name, again.After, err)
		}
		if gone, err := host(t, "codex").Uninstall(write(t, e.After), name); err != nil || gone.After != "a = 1\n" {
			t.Errorf("%s, removed: %q, %v", name, gone.After, err)
		}
	}
}
