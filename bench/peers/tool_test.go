//go:build unix

// Package peers compares domtap with other programs that give agents a browser: agent-browser, Playwright MCP and chrome-devtools-mcp. All
// of them perform the same operations on the same pages of a server in this process, with the same Chromium, in turns. The cost of an
// operation is the cost for an agent: the tokens and the time of the calls that the program's documentation recommends. make
// bench-peers runs the comparison, and docs/compared.md explains the figures.
package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/tokens"
)

// call is one call of an agent: of an MCP tool or of a command.
type call struct {
	tool      string
	arguments map[string]any
	words     []string
}

// command returns a call of a command.
func command(words ...string) call { return call{words: words} }

// String returns the text that a model writes for the call.
func (c call) String() string {
	if c.words != nil {
		return strings.Join(c.words, " ")
	}
	var arguments strings.Builder
	encoder := json.NewEncoder(&arguments)
	encoder.SetEscapeHTML(false) // a model writes & unescaped
	if encoder.Encode(c.arguments) != nil {
		return c.tool // marshaling cannot fail, because the arguments are literals of this package
	}
	return c.tool + " " + strings.TrimSpace(arguments.String())
}

// cost returns the number of tokens of the call itself.
func (c call) cost() int { return tokens.Count(c.String()) }

// channel passes calls to a program.
type channel interface {
	// call makes one call. failed reports that the program answered with a failure. An error means that there was no answer.
	call(ctx context.Context, c call) (text string, failed bool, err error)
	// close ends the program in order, as its documentation recommends, before ctx ends.
	close(ctx context.Context) error
	// manual returns the text that a model reads before the first call.
	manual(ctx context.Context, words []string) (string, error)
}

// spec describes a compared program: how to start it, and the calls that its documentation recommends for each operation.
type spec struct {
	Named
	// find returns why the program is unusable, or nil.
	find func(s *settings) error
	// start starts the program in its own directory. If the program starts its browser with the first call, start does not start the
	// browser.
	start func(ctx context.Context, s *settings, dir string, env []string) (channel, error)
	// first opens the first page and shows it. If nil, open is used. open loads a URL in the current tab and shows the page. tab opens
	// another tab.
	first, open, tab func(url string) []call
	// more returns the next call if an answer contains only a part of the page.
	more func(last call, answer string) (call, bool)
	// again reads a page a second time.
	again func() []call
	// ref returns the ref of a control in an answer by its name. It returns an empty string if the answer does not contain the control.
	ref func(answer, name string) string
	// click clicks. know clicks and requests the result; each further call is made only if the previous answers did not contain it.
	click, know func(ref string) []call
	// prepare reads the page with its texts, for programs that can report changes of texts only after that. alone selects changes that the
	// page makes without an action. The cost of prepare has a separate row. If nil, no preparation is needed.
	prepare func(alone bool) []call
	// learn requests the changes that the page made without an action. Each further call is made only if the previous answers did not
	// contain them. If waits is set, the first call waits for a change and is made before it.
	learn func() []call
	waits bool
	// wait waits for a text.
	wait func(text string) []call
	// manual is the command that prints the text that agents should read before the first command. MCP servers have tool definitions
	// instead.
	manual []string
	// look reads the page after a failure.
	look func() []call
}

// settings holds the settings of a run.
type settings struct {
	domtap, browser, installed string
	root                       bool
}

// reply is the result of an operation and its cost.
type reply struct {
	text   string
	tokens int
	calls  int
	took   time.Duration
	failed bool
}

// tool is a running program.
type tool struct {
	spec
	index   int
	dir     string
	marker  string
	channel channel
	// limit limits the duration of one call.
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

// end stops the program and the processes that it leaves behind.
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

// do makes calls one after the other and sums their costs. It stops at the first failure.
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

// must makes calls like do, and returns an error if the program refuses one.
func (t *tool) must(ctx context.Context, calls ...call) (reply, error) {
	r, err := t.do(ctx, calls...)
	if err == nil && r.failed {
		err = fmt.Errorf("%s: %s", calls[0], firstLine(r.text))
	}
	return r, err
}

// read opens a page and reads all of it.
func (t *tool) read(ctx context.Context, url string) (reply, error) { return t.whole(ctx, t.open(url)) }

// whole makes calls and continues reading until the answer is complete.
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

// firstLine returns the first line with readable content.
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
