package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// written maps the files that domtap writes below a home directory to the words by which docs/files.md names them. A * stands for one or
// more letters. Files below a directory belong to it.
var written = map[string]string{
	".local/state/domtap/daemon.log": "`daemon.log`",
	".local/state/domtap/browsers":   "`browsers/`",
	".local/state/domtap/terminals":  "`terminals/`",
	".local/state/domtap/tabs-*":     "`tabs-*`",
	".local/state/domtap/profiles":   "`profiles/`",
	".local/state/domtap/recordings": "`recordings/`",
	".config/domtap/token":           "`domtap/token`",
	"run/domtap":                     "`$XDG_RUNTIME_DIR/domtap/`",
	"tmp/domtap-browser-*":           "`/tmp/domtap-browser-*`",
	"tmp/domtap-doctor*":             "`/tmp/domtap-doctor*`",
	".claude.json":                   "configuration files of MCP hosts",
	".claude.json.before-domtap":     "`*.before-domtap`",
}

// TestFilesAreThoseThatTheDocumentsName runs the program in an empty home directory and checks the files that it creates, while it runs and
// after it has ended.
func TestFilesAreThoseThatTheDocumentsName(t *testing.T) {
	program := needPlainProgram(t)
	page := readDocument(t, filepath.Join(root, "docs", "files.md"))
	for path, words := range written {
		if !strings.Contains(page, words) {
			t.Errorf("docs/files.md does not say %s, for %s", words, path)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(examplePage))
	defer site.Close()
	defer site.CloseClientConnections()
	home := shortDir(t)
	for _, dir := range []string{"run", "tmp"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + filepath.Join(home, "run"), "TMPDIR=" + filepath.Join(home, "tmp"), "DOMTAP_LISTEN=127.0.0.1:0", "DOMTAP_PROFILE_PASSPHRASE=a passphrase of a test"}
	for _, setting := range os.Environ() {
		if name, _, _ := strings.Cut(setting, "="); name == "PATH" || strings.HasPrefix(name, "DOMTAP_CHROME") {
			env = append(env, setting)
		}
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Env, cmd.Dir = env, home
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("domtap %s: %v: %s", strings.Join(args, " "), err, text)
		}
	}
	defer run("stop")
	for _, line := range []string{
		"open --restore " + site.URL, "record start", "compact", "click 0", "record stop", "profile save me --session default", "doctor", "ui",
		"mcp install claude --program /bin/domtap",
	} {
		run(strings.Fields(line)...)
	}
	checkFiles(t, home)
	run("stop")
	checkFiles(t, home)
}

// checkFiles checks that all files are listed in written.
func checkFiles(t *testing.T, home string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // the browser removes its files when it ends
		}
		name, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		for known := range written {
			before, star := strings.CutSuffix(known, "*")
			if name == known || strings.HasPrefix(name, known+"/") || star && strings.HasPrefix(name, before) {
				return nil
			}
		}
		t.Errorf("%s was written, which docs/files.md does not name", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
