package main

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/search/searchtest"
	"github.com/domtap/domtap/internal/testenv"
)

// root is the root directory of the repository.
var root = filepath.Join("..", "..")

// block is a code fence marked sh, which a reader pastes into a shell.
type block struct {
	file string
	line int
	text string
	// output is the fence marked text directly after the block. It is empty if there is none.
	output string
}

// fence matches the first line of a fence marked sh or text.
var fence = regexp.MustCompile("^```(sh|text)$")

// readBlocks returns the blocks of a document with their outputs.
func readBlocks(t *testing.T, file string) []block {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var into *string
	inside, follows := false, false // inside any fence; directly after a block
	for i, line := range strings.Split(string(text), "\n") {
		switch match := fence.FindStringSubmatch(line); {
		case inside && line == "```":
			inside, into = false, nil
		case inside && into != nil:
			*into += line + "\n"
		case inside || line == "":
		case match != nil && match[1] == "sh":
			blocks = append(blocks, block{file: file, line: i + 2})
			inside, follows, into = true, true, &blocks[len(blocks)-1].text
		case match != nil && follows:
			inside, follows, into = true, false, &blocks[len(blocks)-1].output
		default:
			inside, follows = strings.HasPrefix(line, "```"), false
		}
	}
	if inside {
		t.Errorf("%s: the last fence does not end", file)
	}
	return blocks
}

// documents returns README.md and the files below docs.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestCommandsInTheDocumentsWork runs the blocks of each document in order, in one directory with a separate daemon, and compares the
// outputs that the document shows. As for a reader, the demo site is at http://127.0.0.1:8080. https://example.com is replaced by a page of
// the test, whose output no document shows, and https://search.example.org by a search provider. Ports are free ones. make test runs the
// blocks of README.md and docs/quickstart.md, and make test-long runs all documents.
func TestCommandsInTheDocumentsWork(t *testing.T) {
	path := needPlainProgram(t)
	run := 0
	for _, file := range documents(t) {
		blocks := readBlocks(t, file)
		if len(blocks) == 0 {
			continue
		}
		run += len(blocks)
		name := strings.TrimPrefix(filepath.ToSlash(file), filepath.ToSlash(root)+"/")
		if !testenv.Long() && name != "README.md" && name != "docs/quickstart.md" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			workspace := newWorkspace(t, path)
			for _, b := range blocks {
				workspace.paste(t, b)
			}
		})
	}
	if run < 5 {
		t.Errorf("only %d blocks were found: the documents or this test must have changed", run)
	}
}

// demoAddress is the address of the demo site in documents: go run ./cmd/demo -serve 127.0.0.1:8080.
const demoAddress = "http://127.0.0.1:8080"

// traced is the prefix of lines in which the shell prints its commands.
const traced = "@@ "

// workspace is the environment in which the blocks of one document run.
type workspace struct {
	dir string
	env []string
	// there replaces the addresses in documents by addresses of the test, and back does the reverse.
	there, back *strings.Replacer
}

func newWorkspace(t *testing.T, program string) *workspace {
	t.Helper()
	tools, err := grpcurl()
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(examplePage))
	demo := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(root, "cmd", "demo", "page"))))
	finder := searchtest.Start("searxng")
	t.Cleanup(finder.Close)
	state, dir := shortDir(t), t.TempDir()
	d := &workspace{
		dir: dir,
		// PS4 marks the lines in which the shell prints its commands.
		env: append(ownEnv(state), "PS4="+traced, "HOME="+dir, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=", "XDG_RUNTIME_DIR=",
			"PATH="+strings.Join([]string{filepath.Dir(program), tools, os.Getenv("PATH")}, string(filepath.ListSeparator))),
		back:  strings.NewReplacer(demo.URL, demoAddress),
		there: strings.NewReplacer("https://example.com", site.URL, demoAddress, demo.URL, "https://search.example.org", finder.URL, "127.0.0.1:7411", freeAddress(t), "127.0.0.1:7412", freeAddress(t)),
	}
	t.Cleanup(func() {
		stop := exec.Command(program, "stop")
		stop.Env = d.env
		if text, err := stop.CombinedOutput(); err != nil {
			t.Errorf("domtap stop: %v: %s", err, text)
		}
		for _, server := range []*httptest.Server{site, demo} {
			server.CloseClientConnections()
			server.Close()
		}
	})
	return d
}

// examplePage serves a page like that of example.com, but its link does not lead to another site.
func examplePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprint(w, `<!doctype html><title>Example Domain</title><h1>Example Domain</h1><a href="/more">More information...</a>`)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// grpcurl returns the directory of grpcurl. It is the one of the Makefile, or one into which grpcurl is built once for all documents.
var grpcurl = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs(filepath.Join(root, ".cache", "bin"))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "grpcurl")); err == nil {
		return dir, nil
	}
	return compiled(filepath.Join(root, "tools"), "github.com/fullstorydev/grpcurl/cmd/grpcurl")
})

// makeTarget matches a line that calls make. The targets are not run, because one of them runs the tests.
var makeTarget = regexp.MustCompile(`(?m)^make (\S+)$`)

// prepared matches lines that the test does not run, because the checkout and the demo site exist already.
var prepared = regexp.MustCompile(`(?m)^(git clone \S+ && cd domtap|go run \./cmd/demo -serve 127\.0\.0\.1:8080 &)$`)

// blockLimit limits the time of one block.
const blockLimit = 2 * time.Minute

// paste runs a block. Its output goes to a file, because a daemon that it starts may keep a pipe open.
func (d *workspace) paste(t *testing.T, b block) {
	t.Helper()
	for _, target := range makeTarget.FindAllStringSubmatch(b.text, -1) {
		checkTarget(t, b, target[1])
	}
	script := d.there.Replace(prepared.ReplaceAllString(makeTarget.ReplaceAllString(b.text, ":"), ":"))
	ctx, cancel := context.WithTimeout(t.Context(), blockLimit)
	defer cancel()
	out, err := os.Create(filepath.Join(d.dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(ctx, "sh", "-eux", "-c", script)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.env, out, out
	failed := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Errorf("%s:%d: %v\n%s", b.file, b.line, failed, text)
		return
	}
	t.Logf("%s:%d:\n%s", b.file, b.line, text)
	if err := shows(d.back.Replace(string(text)), b.output); err != nil {
		t.Errorf("%s:%d: %v", b.file, b.line, err)
	}
}

// shows checks that the lines of documented were printed one after the other. A line … matches any lines, and a run of spaces matches any
// other run of spaces.
func shows(printed, documented string) error {
	var lines []string
	for line := range strings.Lines(printed) {
		if !strings.HasPrefix(line, traced) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	gap := true
	for line := range strings.Lines(documented) {
		line = strings.Join(strings.Fields(line), " ")
		if line == "…" {
			gap = true
			continue
		}
		at := slices.Index(lines, line)
		if at < 0 || at > 0 && !gap {
			return fmt.Errorf("the document shows the line %q, which was not printed there; the output continues with\n%s", line, strings.Join(lines, "\n"))
		}
		lines, gap = lines[at+1:], false
	}
	return nil
}

// TestDocumentedOutputIsCompared checks the function shows.
func TestDocumentedOutputIsCompared(t *testing.T) {
	const printed = "@@ domtap compact\nURL: x | Title: y\n[0] a  (button)\n[1] b\n[2] c\n"
	for documented, want := range map[string]bool{
		"": true, "[0] a (button)\n[1] b\n": true, "URL: x | Title: y\n…\n[2] c\n": true,
		"[0] a (button)\n[2] c\n": false, "[3] d\n": false, "[1] b\n[0] a (button)\n": false, "@@ domtap compact\n": false,
	} {
		if err := shows(printed, documented); (err == nil) != want {
			t.Errorf("%q: %v", documented, err)
		}
	}
}

// README.md and CONTRIBUTING.md name the Go version of go.mod in their text.
func TestDocumentsNameTheGoVersion(t *testing.T) {
	match := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readDocument(t, filepath.Join(root, "go.mod")))
	if match == nil {
		t.Fatal("go.mod names no version of Go")
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md"} {
		if want := "Go " + match[1] + " or later"; !strings.Contains(readDocument(t, filepath.Join(root, name)), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

// checkTarget checks that a target exists in the Makefile. If the target is a tool, it must be in tools/go.mod.
func checkTarget(t *testing.T, b block, name string) {
	t.Helper()
	file, rule := "Makefile", `(?m)^`+regexp.QuoteMeta(name)+`:`
	if tool, isTool := strings.CutPrefix(name, ".cache/bin/"); isTool {
		file, rule = filepath.Join("tools", "go.mod"), `(?m)^\t\S+/`+regexp.QuoteMeta(tool)+`$`
	}
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(rule).Match(text) {
		t.Errorf("%s:%d: there is no target %s: %s has no line for it", b.file, b.line, name, file)
	}
}

// docs/commands.md lists the program's commands and exit codes.
func TestDocsListEveryCommandAndExitCode(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, cmd := range newRoot(newApp(nil, nil, nil, nil)).Commands() {
		name := cmd.Name()
		if !regexp.MustCompile("(?m)^\\|.*`" + name + "[ `]").MatchString(page) {
			t.Errorf("docs/commands.md does not list the command %s", name)
		}
	}
	codes := []int{exit.OK, exit.Failure, exit.Usage, exit.NotFound, exit.Precondition, exit.Timeout, exit.Unavailable, exit.Denied, exit.Interrupted}
	for _, code := range codes {
		if !strings.Contains(page, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("docs/commands.md does not list the exit code %d", code)
		}
	}
}

// consoleCommand matches a domtap command in a fence marked console. Its lines need what a test lacks: a display, a container engine, a
// service, or another machine.
var consoleCommand = regexp.MustCompile(`(?m)^\$ (?:[A-Za-z_]+=\S+ |[^\n]*\bdocker exec domtap |sudo )*domtap ([a-z][^\n|&;>)#]*)`)

// TestConsoleCommandsExist checks that the commands which documents show but no test runs exist, with their flags.
func TestConsoleCommandsExist(t *testing.T) {
	checked := 0
	for _, file := range documents(t) {
		for _, fence := range regexp.MustCompile("(?ms)^```console$.*?^```$").FindAllString(readDocument(t, file), -1) {
			for _, match := range consoleCommand.FindAllStringSubmatch(fence, -1) {
				checked++
				checkLine(t, file, strings.Fields(match[1]))
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d commands were found: the documents or this test must have changed", checked)
	}
}

// refPromise is the guarantee about refs, which all documents word the same.
const refPromise = "A ref names one node for the life of its tab; no other node gets that ref, except an equal one that the page put in its place."

func TestThePromiseOfARefIsTheSameEverywhere(t *testing.T) {
	for _, name := range []string{"README.md", "docs/concepts.md", "proto/domtap/v1/dom.proto"} {
		text := linkPattern.ReplaceAllString(strings.ReplaceAll(readDocument(t, filepath.Join(root, filepath.FromSlash(name))), "//", ""), "")
		text = strings.Join(strings.Fields(strings.ReplaceAll(text, "[", "")), " ")
		if !strings.Contains(text, refPromise) {
			t.Errorf("%s does not say %q", name, refPromise)
		}
	}
}
