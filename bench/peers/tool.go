//go:build unix

// Package peers compares domtap with other programs that give agents a browser: agent-browser, Playwright MCP and
// chrome-devtools-mcp. All of them do the same operations on the same pages of a server in this process, with the same Chromium, in
// turns; what each operation costs is what an agent pays and waits for: the calls that the program's documentation recommends, their
// tokens and their time. Package cmd/benchpeers runs it, and docs/compared.md explains the figures.
package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/domtap/domtap/bench/peers/report"
	"github.com/domtap/domtap/internal/tokens"
)

// call is one call of an agent: of a tool over MCP, or of a command.
type call struct {
	tool      string
	arguments map[string]any
	words     []string
}

// command is a call of a command line.
func command(words ...string) call { return call{words: words} }

// String is what a model writes for the call.
func (c call) String() string {
	if c.words != nil {
		return strings.Join(c.words, " ")
	}
	var arguments strings.Builder
	encoder := json.NewEncoder(&arguments)
	encoder.SetEscapeHTML(false) // a model writes & as it is
	if encoder.Encode(c.arguments) != nil {
		return c.tool // the arguments are literals of this package, which can be written
	}
	return c.tool + " " + strings.TrimSpace(arguments.String())
}

// cost is how many tokens a model pays for the call itself.
func (c call) cost() int { return tokens.Count(c.String()) }

// channel is how calls reach a program.
type channel interface {
	// call makes one call. What the program refuses is an answer that failed; an error means that there was no answer.
	call(ctx context.Context, c call) (text string, failed bool, err error)
	// close ends the program in order, as its documentation says, within ctx.
	close(ctx context.Context) error
	// manual is what a model reads before the first call.
	manual(ctx context.Context, words []string) (string, error)
}

// spec is one of the compared programs: how it is started, and the calls that its documentation recommends for each operation.
type spec struct {
	report.Named
	// find returns why the program cannot be used, or nil.
	find func(s *settings) error
	// start starts it, in a directory of its own, without a browser where it starts that with the first call.
	start func(ctx context.Context, s *settings, dir string, env []string) (channel, error)
	// first opens the first page and shows it (nil: open), open loads a URL in the current tab and shows its page, tab opens one more
	// tab.
	first, open, tab func(url string) []call
	// more is the next call when the answer to a call is only a part of the page.
	more func(last call, answer string) (call, bool)
	// again asks what there is to know of a page that was shown before.
	again func() []call
	// ref finds the ref of a control in an answer by its name; empty: the answer does not show it.
	ref func(answer, name string) string
	// click clicks. know clicks and asks for what came of it, the next of its calls only if the last did not say it.
	click, know func(ref string) []call
	// prepare asks for the page with its texts, for programs that can tell what has changed in them only after that; alone: what the
	// page changes by itself. Its cost has a row of its own. Nil: nothing is needed.
	prepare func(alone bool) []call
	// learn asks for what the page has changed by itself, the next of its calls only if the last did not say it. Where the first waits
	// for a change (waits), it is made before the change.
	learn func() []call
	waits bool
	// wait waits for a text.
	wait func(text string) []call
	// manual is the command that prints what agents are to read before the first command. Programs that serve MCP have definitions of
	// tools instead.
	manual []string
	// look asks for the page after something went wrong.
	look func() []call
}

// settings is what a run is given.
type settings struct {
	domtap, browser, installed string
	root                       bool
}

// reply is what an operation gave, and what that cost.
type reply struct {
	text   string
	tokens int
	calls  int
	took   time.Duration
	failed bool
}

// tool is a program that runs.
type tool struct {
	spec
	index   int
	dir     string
	marker  string
	channel channel
	// limit is how long one call may take.
	limit time.Duration
}

// begin starts the program.
func (t *tool) begin(ctx context.Context, s *settings) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	t.dir = dir
	t.marker = markerPrefix + strings.ReplaceAll(dir, "/", "_")
	env := append(cleanEnviron(), t.marker, "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	t.channel, err = t.start(ctx, s, dir, env)
	return err
}

// end stops the program, and whatever it leaves behind.
func (t *tool) end(ctx context.Context) error {
	if t.dir == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	var err error
	if t.channel != nil {
		err = t.channel.close(ctx)
	}
	left := sweep(ctx, t.marker)
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("%s left %d processes behind, which were killed", t.Name, left))
	}
	if e := os.RemoveAll(t.dir); e != nil {
		err = errors.Join(err, e)
	}
	t.dir, t.channel = "", nil
	return err
}

// do makes calls one after the other, and adds up what they cost. It stops at the first that fails.
func (t *tool) do(ctx context.Context, calls ...call) (reply, error) {
	var r reply
	begun := time.Now()
	for _, c := range calls {
		limited, cancel := context.WithTimeout(ctx, t.limit)
		text, failed, err := t.channel.call(limited, c)
		cancel()
		r.took = time.Since(begun)
		if err != nil {
			return r, fmt.Errorf("%s: %w", c, err)
		}
		r.calls++
		r.tokens += c.cost() + tokens.Count(text)
		r.text += text + "\n"
		if failed {
			r.failed = true
			return r, nil
		}
	}
	return r, nil
}

// must is do, of calls that are not to be refused.
func (t *tool) must(ctx context.Context, calls ...call) (reply, error) {
	r, err := t.do(ctx, calls...)
	if err == nil && r.failed {
		err = fmt.Errorf("%s: %s", calls[0], firstLine(r.text))
	}
	return r, err
}

// read opens a page and reads all of it.
func (t *tool) read(ctx context.Context, url string) (reply, error) { return t.whole(ctx, t.open(url)) }

// whole makes calls, and reads on until the answer is whole.
func (t *tool) whole(ctx context.Context, calls []call) (reply, error) {
	r, err := t.must(ctx, calls...)
	if t.more == nil {
		return r, err
	}
	last, answer := calls[len(calls)-1], r.text
	for err == nil {
		next, ok := t.more(last, answer)
		if !ok {
			break
		}
		var part reply
		part, err = t.must(ctx, next)
		last, answer = next, part.text
		r.text += part.text
		r.tokens += part.tokens
		r.calls += part.calls
		r.took += part.took
	}
	return r, err
}

// firstLine is the first line that says something, for people.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, "#✗ "))
		if line != "" && !strings.HasPrefix(line, "<page") && line != "Error" {
			if len(line) > 160 {
				line = line[:160] + "…"
			}
			return line
		}
	}
	return "an empty answer"
}
