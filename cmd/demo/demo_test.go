package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// temp sets an empty directory for the demo's files, with a path short enough for a socket.
func temp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

// changed matches the lines of changes.
var changed = regexp.MustCompile(`(?m)^[-+~] \[`)

func TestDemoShowsRealDiffsAndLeavesNothing(t *testing.T) {
	testenv.NeedBrowser(t)
	program, dir := testenv.Program(t), temp(t)
	var out bytes.Buffer
	if err := show(t.Context(), program, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
	before, after, found := strings.Cut(out.String(), "$ domtap click ")
	if !found {
		t.Fatal("nothing was clicked")
	}
	if n := len(changed.FindAllString(before, -1)); n < 12 {
		t.Errorf("%d changes were streamed, want at least 12", n)
	}
	for _, want := range []string{"\n+ [", "Withdraw from ", " in tokens (o200k_base): the page ", "stopped the daemon", "\ndomtap mcp install claude"} {
		if !strings.Contains(after, want) {
			t.Errorf("after the click there is no %q", want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

func TestAnInterruptedDemoLeavesNothing(t *testing.T) {
	testenv.NeedBrowser(t)
	program, dir := testenv.Program(t), temp(t)
	ctx, interrupt := context.WithCancel(t.Context())
	out := &trigger{word: "Watching: ", pull: interrupt}
	if err := show(ctx, program, out); err == nil {
		t.Error("an interrupted demo is not an error")
	}
	if !strings.Contains(out.text.String(), "stopped the daemon") {
		t.Errorf("the daemon was not stopped:\n%s", out.text.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// The commands that the demo suggests work as printed.
func TestWhatIsSaidToTypeWorks(t *testing.T) {
	testenv.NeedBrowser(t)
	program, _ := testenv.Program(t), temp(t)
	err := onStage(t.Context(), program, io.Discard, func(s *stage, url string) error {
		home := t.TempDir()
		for _, line := range next(program, strings.Trim(strings.TrimPrefix(url, "http:"), "/")) {
			line, _, _ = strings.Cut(line, " #")
			if strings.HasPrefix(line, "demo -serve ") { // tested by TestThePageIsServed
				continue
			}
			if strings.HasPrefix(line, "domtap watch") {
				line = strings.TrimSpace(line) + " --count 1 --timeout 1m" // the command would not end
			}
			typed := exec.CommandContext(t.Context(), "sh", "-c", line)
			typed.Env = append(s.env, "HOME="+home, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
			if text, err := typed.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", line, err, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// trigger calls a function when a word is written.
type trigger struct {
	text bytes.Buffer
	word string
	pull func()
}

func (t *trigger) Write(p []byte) (int, error) {
	n, err := t.text.Write(p)
	if strings.Contains(t.text.String(), t.word) {
		t.pull()
	}
	return n, err
}

func TestThePageIsServed(t *testing.T) {
	site, err := serve(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "style.css", "auction.js"} {
		response, err := http.Get(site.url + name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK || len(text) == 0 {
			t.Errorf("%q: %s, %d bytes, %v", name, response.Status, len(text), err)
		}
		_ = response.Body.Close()
	}
	if err := site.close(); err != nil {
		t.Error(err)
	}
}

func TestTheDemoKeepsTheUsersDaemonOut(t *testing.T) {
	t.Setenv("DOMTAP_ADDR", "unix:///mine")
	t.Setenv("DOMTAP_CHROME", "/my/chrome")
	got := strings.Join(environment("/state"), "\n")
	if strings.Contains(got, "DOMTAP_ADDR") || !strings.Contains(got, "DOMTAP_CHROME=/my/chrome") || !strings.Contains(got, "DOMTAP_STATE_DIR=/state") {
		t.Errorf("got %s", got)
	}
}
