package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/testenv"
)

// exchange is a command of a transcript and what it answers.
type exchange struct {
	line            int
	command, answer string
}

// consoleDoc is a document whose fences marked console are a conversation: a line that starts with $ is a command, also
// over several lines that end in a backslash, and what follows is its answer. In an answer, … stands for whatever is
// there within a line, and a line of … alone for any lines.
type consoleDoc struct {
	file  string
	lines []string
	// page is the fence marked html: the page that the conversation is about.
	page      string
	exchanges []exchange
}

func readTranscript(t *testing.T, file string) *consoleDoc {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := &consoleDoc{file: file, lines: strings.Split(string(text), "\n")}
	fence, more := "", false
	for i, line := range d.lines {
		last := len(d.exchanges) - 1
		switch {
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimPrefix(line, "```")
		case fence == "html":
			d.page += line + "\n"
		case fence != "console":
		case strings.HasPrefix(line, "$ "):
			d.exchanges = append(d.exchanges, exchange{line: i + 1, command: line[2:]})
			more = strings.HasSuffix(line, `\`)
		case more:
			d.exchanges[last].command += "\n" + line
			more = strings.HasSuffix(line, `\`)
		case last < 0:
			t.Fatalf("%s:%d: an answer without a command", file, i+1)
		default:
			d.exchanges[last].answer += line + "\n"
		}
	}
	return d
}

// TestTheTranscriptsAreReal has the conversations of the documents with a daemon. UPDATE_TRANSCRIPTS=1 puts what it
// answers in the place of what it does not; what changes from run to run is then to be replaced by … by hand.
func TestTheTranscriptsAreReal(t *testing.T) {
	path := needPlainProgram(t)
	d := readTranscript(t, filepath.Join(root, "docs", "grpcurl.md"))
	if len(d.exchanges) < 10 || d.page == "" {
		t.Fatalf("only %d commands were found", len(d.exchanges))
	}
	site := httptest.NewServer(testenv.HTML(d.page))
	defer site.Close()
	defer site.CloseClientConnections()
	workspace := newWorkspace(t, path)
	workspace.there = strings.NewReplacer("https://shop.example", site.URL)
	var assignments string
	for i, e := range d.exchanges {
		if name := assignment.FindStringSubmatch(e.command); name != nil {
			value := workspace.ask(t, assignments+workspace.there.Replace(e.command)+"\nprintf %s \"$"+name[1]+"\"")
			assignments += fmt.Sprintf("%s='%s'\n", name[1], value)
			continue
		}
		text := workspace.ask(t, assignments+workspace.there.Replace(e.command))
		text = strings.ReplaceAll(text, site.URL, "https://shop.example")
		if !likeness(e.answer).MatchString(text) {
			t.Errorf("%s:%d: $ %s\nanswers\n%s\nand is to answer\n%s", d.file, e.line, e.command, text, e.answer)
			d.exchanges[i].answer = text
		}
	}
	if t.Failed() && os.Getenv("UPDATE_TRANSCRIPTS") != "" {
		d.write(t)
	}
}

// assignment is a command that sets a variable, for all commands after it.
var assignment = regexp.MustCompile(`^([A-Z]+)=`)

// ask runs a command and returns what it prints. It may fail: then the answer says so.
func (d *workspace) ask(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), blockLimit)
	defer cancel()
	out, err := os.Create(filepath.Join(d.dir, "answer")) // a daemon that it starts may keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = d.dir, d.env, out, out
	failed := cmd.Run()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if failed != nil && !strings.Contains(string(text), "ERROR:") {
		t.Fatalf("$ %s\n%v\n%s", command, failed, text)
	}
	return string(text)
}

// likeness makes a pattern of an answer. How much white space there is does not count: JSON is printed with more or less.
func likeness(answer string) *regexp.Regexp {
	var pattern strings.Builder
	for line := range strings.Lines(answer) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		parts := strings.Split(line, "…")
		for i, part := range parts {
			parts[i] = spaces.ReplaceAllString(regexp.QuoteMeta(strings.TrimRight(part, "\n")), `\s+`)
		}
		pattern.WriteString(strings.Join(parts, ".*") + `[ \t]*\n`)
	}
	return regexp.MustCompile(`^` + pattern.String() + `$`)
}

var spaces = regexp.MustCompile(`[ \t]+`)

// write writes the document with its new answers.
func (d *consoleDoc) write(t *testing.T) {
	t.Helper()
	var out strings.Builder
	fence := ""
	next := 0
	for _, line := range d.lines {
		if strings.HasPrefix(line, "```") {
			fence = strings.TrimPrefix(line, "```")
		}
		inside := fence == "console" && !strings.HasPrefix(line, "```")
		switch {
		case inside && strings.HasPrefix(line, "$ "):
			fmt.Fprintf(&out, "$ %s\n%s", d.exchanges[next].command, d.exchanges[next].answer)
			next++
		case !inside:
			out.WriteString(line + "\n")
		}
	}
	if err := os.WriteFile(d.file, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLikenessOfAnswers(t *testing.T) {
	for _, test := range []struct {
		answer, text string
		want         bool
	}{
		{"a: b\n", "a:   b\n", true},
		{"a: b\n", "a: c\n", false},
		{"a: …,\n", "a: 12,\n", true},
		{"a: …,\n", "a: 12\n", false},
		{"{\n…\n}\n", "{\n  a\n  b\n}\n", true},
		{"{\n…\n}\n", "{\n  a\n  b\n", false},
		{"a.c\n", "abc\n", false},
		{"", "more\n", false},
		{"a\n", "a\nmore\n", false},
	} {
		if got := likeness(test.answer).MatchString(test.text); got != test.want {
			t.Errorf("%q and %q: %v", test.answer, test.text, got)
		}
	}
}
