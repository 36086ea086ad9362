// Package mcphost edits the configuration files of MCP hosts: it adds and removes a server. The rest of a file stays unchanged, including
// comments, order and white space. A file that cannot be parsed is not modified.
package mcphost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// Host is a program that starts MCP servers.
type Host struct {
	// Name is the host's name in commands, Title its name in messages.
	Name, Title string
	// key is the member of the file that contains the servers. It is empty for a TOML file.
	key string
	// typed reports that a server entry has a type.
	typed bool
	// path returns the user's file for the home directory and the system's settings directory.
	path func(env func(string) string, home, settings string) string
	// project is the file in a project, or empty if there is none.
	project string
}

// hosts lists the known hosts, in the order in which errors list them.
var hosts = []Host{
	{Name: "claude", Title: "Claude Code", key: "mcpServers", typed: true, project: ".mcp.json",
		path: func(_ func(string) string, home, _ string) string { return filepath.Join(home, ".claude.json") }},
	{Name: "claude-desktop", Title: "Claude Desktop", key: "mcpServers",
		path: func(_ func(string) string, _, settings string) string {
			return filepath.Join(settings, "Claude", "claude_desktop_config.json")
		}},
	{Name: "cursor", Title: "Cursor", key: "mcpServers", project: filepath.Join(".cursor", "mcp.json"),
		path: func(_ func(string) string, home, _ string) string { return filepath.Join(home, ".cursor", "mcp.json") }},
	{Name: "vscode", Title: "VS Code", key: "servers", typed: true, project: filepath.Join(".vscode", "mcp.json"),
		path: func(_ func(string) string, _, settings string) string {
			return filepath.Join(settings, "Code", "User", "mcp.json")
		}},
	{Name: "codex", Title: "Codex", project: filepath.Join(".codex", "config.toml"),
		path: func(env func(string) string, home, _ string) string {
			if dir := env("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return filepath.Join(home, ".codex", "config.toml")
		}},
}

// Names lists the names of the hosts.
func Names() []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.Name)
	}
	return names
}

// Find returns a host by its name.
func Find(name string) (Host, error) {
	for _, h := range hosts {
		if h.Name == name {
			return h, nil
		}
	}
	return Host{}, fmt.Errorf("unknown MCP host %q: use one of %s", name, strings.Join(Names(), ", "))
}

// File returns the configuration file of the user, or of the project in the working directory.
func (h Host) File(env func(string) string, project bool) (string, error) {
	if project {
		if h.project == "" {
			return "", fmt.Errorf("%s has no file for a project", h.Title)
		}
		return h.project, nil
	}
	home := env("HOME")
	settings := env("XDG_CONFIG_HOME")
	switch runtime.GOOS {
	case "windows":
		home, settings = env("USERPROFILE"), env("APPDATA")
	case "darwin":
		settings = filepath.Join(home, "Library", "Application Support")
	}
	if home == "" {
		return "", errors.New("no home directory: set HOME, or name the file with --file")
	}
	if settings == "" {
		settings = filepath.Join(home, ".config")
	}
	return h.path(env, home, settings), nil
}

// Server describes how a host starts a server.
type Server struct {
	Name, Command string
	Args          []string
}

// Edit is a pending change of a file.
type Edit struct {
	File string
	// Before and After are the old and new text of the file. They are equal if nothing changes.
	Before, After string
	// Exists reports that the file exists.
	Exists bool
}

// Install adds a server to a file, or replaces a server of the same name. It does not write the file.
func (h Host) Install(file string, s Server) (Edit, error) {
	return h.edit(file, func(text string) (string, error) {
		if h.key == "" {
			return tomlSet(text, s)
		}
		return h.setJSON(text, s)
	})
}

// Uninstall removes a server from a file. It does not write the file.
func (h Host) Uninstall(file, name string) (Edit, error) {
	return h.edit(file, func(text string) (string, error) {
		if h.key == "" {
			return tomlRemove(text, name)
		}
		return h.removeJSON(text, name)
	})
}

// most limits the size of a configuration file.
const most = 16 << 20

func (h Host) edit(file string, change func(string) (string, error)) (Edit, error) {
	e := Edit{File: file}
	if resolved, err := filepath.EvalSymlinks(file); err == nil { // keeps a symbolic link
		e.File = resolved
	} else if to, err := os.Readlink(file); err == nil {
		return e, fmt.Errorf("%s is a link to %s, which is not there: make that file, or name one with --file", file, to)
	}
	info, err := os.Stat(e.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return e, err
	case !info.Mode().IsRegular():
		return e, fmt.Errorf("%s is not a file", e.File)
	case info.Size() > most:
		return e, fmt.Errorf("%s has more than %d MiB", e.File, most>>20)
	default:
		raw, err := os.ReadFile(e.File)
		if err != nil {
			return e, err
		}
		e.Before, e.Exists = string(raw), true
	}
	text, mark, ends := plain(e.Before)
	if text, err = change(text); err != nil {
		return e, fmt.Errorf("%s: %w", e.File, err)
	}
	e.After = mark + strings.ReplaceAll(text, "\n", ends)
	return e, nil
}

// plain returns a text without its byte order mark and with \n line ends, and the original mark and line ends. If line ends are mixed, they
// stay unchanged.
func plain(text string) (lines, mark, ends string) {
	if lines = strings.TrimPrefix(text, byteOrderMark); lines != text {
		mark = byteOrderMark
	}
	if n := strings.Count(lines, "\r\n"); n > 0 && n == strings.Count(lines, "\n") {
		return strings.ReplaceAll(lines, "\r\n", "\n"), mark, "\r\n"
	}
	return lines, mark, "\n"
}

const byteOrderMark = "\ufeff"

// Changed reports whether there is a change to write.
func (e Edit) Changed() bool { return e.Before != e.After }

// Write writes the file. Before that it copies the old file and returns the name of the copy. The file is replaced atomically and keeps its
// mode.
func (e Edit) Write() (backup string, err error) {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(e.File); err == nil {
		if mode = info.Mode().Perm(); mode&0o200 == 0 { // a rename would succeed even though the file is read-only
			return "", fmt.Errorf("%s may not be written: allow it, as with chmod u+w, or edit it yourself", e.File)
		}
		if !e.Exists {
			return "", fmt.Errorf("%s was made meanwhile: try again", e.File)
		}
	}
	if err := os.MkdirAll(filepath.Dir(e.File), 0o755); err != nil {
		return "", err
	}
	if e.Exists {
		now, err := os.ReadFile(e.File)
		if err != nil {
			return "", err
		}
		if string(now) != e.Before {
			return "", fmt.Errorf("%s was changed meanwhile: try again", e.File)
		}
		backup = e.File + ".before-domtap"
		if err := replace(backup, e.Before, mode); err != nil {
			return "", err
		}
	}
	return backup, replace(e.File, e.After, mode)
}

// replace writes a temporary file next to the target and renames it.
func replace(file, text string, mode fs.FileMode) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".domtap-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // after a rename the file no longer exists
	_, err = temporary.WriteString(text)
	if err == nil {
		err = temporary.Chmod(mode)
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), file)
}

// server is a server in JSON.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (h Host) setJSON(text string, s Server) (string, error) {
	d, err := parse(text)
	if err != nil {
		return "", err
	}
	one := server{Command: s.Command, Args: s.Args}
	if h.typed {
		one.Type = "stdio"
	}
	value, err := json.Marshal(one)
	if err != nil {
		return "", err
	}
	outer := "  "
	if len(d.members) > 0 {
		outer = indentOf(d.text, d.members[0].key)
	}
	all := find(d.members, h.key)
	if all == nil {
		name, _ := json.Marshal(s.Name) // a string cannot cause an error
		return setIn(d.text, d.begin, d.members, h.key, "{\n"+outer+outer+string(name)+": "+string(value)+"\n"+outer+"}", outer), nil
	}
	servers := &scanner{text: d.text, at: all.value}
	members, err := servers.object(1)
	if err != nil {
		return "", fmt.Errorf("%s: %w", h.key, err)
	}
	if old := find(members, s.Name); old != nil && d.text[old.value] == '{' {
		return updateJSON(d.text, old.value, one)
	}
	inner := outer + "  "
	if len(members) > 0 {
		inner = indentOf(d.text, members[0].key)
	}
	return setIn(d.text, all.value, members, s.Name, string(value), inner), nil
}

// updateJSON updates an existing server in the object that starts at begin. Other members of the object stay unchanged.
func updateJSON(text string, begin int, s server) (string, error) {
	args, err := json.Marshal(s.Args)
	if err != nil {
		return "", err
	}
	command, err := json.Marshal(s.Command)
	if err != nil {
		return "", err
	}
	fields := [][2]string{{"command", string(command)}, {"args", string(args)}}
	if s.Type != "" {
		fields = append(fields, [2]string{"type", `"` + s.Type + `"`})
	}
	for _, f := range fields {
		members, err := (&scanner{text: text, at: begin}).object(2)
		if err != nil {
			return "", err
		}
		if old := find(members, f[0]); old != nil && equalJSON(text[old.value:old.end], f[1]) {
			continue
		}
		indent := "  "
		if len(members) > 0 {
			indent = indentOf(text, members[0].key)
		}
		text = setIn(text, begin, members, f[0], f[1], indent)
	}
	return text, nil
}

// equalJSON reports whether two JSON texts have equal values.
func equalJSON(a, b string) bool {
	var one, two any
	return json.Unmarshal([]byte(a), &one) == nil && json.Unmarshal([]byte(b), &two) == nil && reflect.DeepEqual(one, two)
}

func (h Host) removeJSON(text, name string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return text, nil
	}
	d, err := parse(text)
	if err != nil {
		return "", err
	}
	all := find(d.members, h.key)
	if all == nil {
		return text, nil
	}
	servers := &scanner{text: d.text, at: all.value}
	members, err := servers.object(1)
	if err != nil {
		return "", fmt.Errorf("%s: %w", h.key, err)
	}
	return removeFrom(d.text, members, name), nil
}
