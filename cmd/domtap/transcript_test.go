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

// exchange is a command of a transcript and its answer.
type exchange struct {
	line            int
	command, answer string
}

// consoleDoc is a document with transcripts in fences marked console. A line that starts with $ is a command, which a backslash continues
// on the next line. The following lines are its answer. In an answer, … within a line matches any text, and a line with only … matches any
// lines.
type consoleDoc struct {
	file  string
	lines []string
	// page is the fence marked html: the page of the transcript.
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

// TestTheTranscriptsAreReal runs the transcripts of the documents against a daemon. UPDATE_TRANSCRIPTS=1 replaces answers that differ.
// Parts that vary between runs must then be replaced by … manually.
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
			t.Errorf("%s:%d: $ %s\nprinted\n%s\nwant\n%s", d.file, e.line, e.command, text, e.answer)
			d.exchanges[i].answer = text
		}
	}
	if t.Failed() && os.Getenv("UPDATE_TRANSCRIPTS") != "" {
		d.write(t)
	}
}

// assignment matches a command that sets a variable for all later commands.
var assignment = regexp.MustCompile(`^([A-Z]+)=`)

// ask runs a command and returns its output. If the command fails, the output contains the error.
func (d *workspace) ask(t *testing.T, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), blockLimit)
	defer cancel()
	out, err := os.Create(filepath.Join(d.dir, "answer")) // a daemon started by the command may keep a pipe open
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

// likeness returns a pattern for an answer. The amount of white space is ignored, because it varies in JSON.
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

// write writes the document with the new answers.
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
