package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/domtap/domtap/internal/tokens"
)

// diffs is the number of changes that the demo streams.
const diffs = "12"

// stage holds the state of the demo.
type stage struct {
	program string
	// env is the environment of the commands.
	env []string
	out io.Writer
	// tokens holds the number of tokens in the last output of each command.
	tokens map[string]int
}

// show plays the demo and prints the next steps.
func show(ctx context.Context, program string, out io.Writer) error {
	if err := onStage(ctx, program, out, func(s *stage, url string) error { return s.play(ctx, url) }); err != nil {
		return err
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nGo on by yourself:\n\n%s", strings.Join(next(program, "127.0.0.1:8080"), "\n")+"\n")
	return err
}

// next returns commands to try after the demo, each with its purpose.
func next(program, address string) []string {
	dir := filepath.Dir(program)
	return []string{
		`export PATH="` + dir + `:$PATH"`,
		"demo -serve " + address + " &          # this auction, to play with, until: kill %1",
		"domtap open http://" + address + "/    # starts a daemon, and Chromium",
		"domtap compact                        # the elements; then, for example: domtap click 6",
		"domtap watch                          # what changes, until Ctrl-C",
		"domtap mcp install claude             # tools for Claude Code; or claude-desktop, cursor, vscode, codex",
	}
}

// onStage serves the page, prepares a separate daemon for play, and cleans up after it.
func onStage(ctx context.Context, program string, out io.Writer, play func(*stage, string) error) (err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return err
	}
	site, err := serve(ctx, "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	defer func() { err = errors.Join(err, site.close()) }()
	state, err := os.MkdirTemp("", "domtap-demo")
	if err != nil {
		return err
	}
	s := &stage{program: program, env: environment(state), out: out, tokens: map[string]int{}}
	defer func() { err = errors.Join(err, s.clean(context.WithoutCancel(ctx), state)) }()
	return play(s, site.url)
}

// environment returns this process's environment with the demo's settings of domtap in place of the existing ones. The choice of the
// browser is kept.
func environment(state string) []string {
	env := []string{"DOMTAP_STATE_DIR=" + state}
	for _, setting := range os.Environ() {
		if !strings.HasPrefix(setting, "DOMTAP_") || strings.HasPrefix(setting, "DOMTAP_CHROME") {
			env = append(env, setting)
		}
	}
	return env
}

func (s *stage) play(ctx context.Context, url string) error {
	s.say("domtap: live browser tabs for programs. An auction page runs at %s", url)
	s.say("1. Open it. The first command starts the daemon, and the daemon starts Chromium.")
	if err := s.run(ctx, "open", url); err != nil {
		return err
	}
	s.say("2. Read it, in few tokens: one line per element, [ref] text (tag …).")
	if err := s.run(ctx, "compact"); err != nil {
		return err
	}
	s.say("3. Watch it. Nobody asks again and again: only what changed is sent, when it changes.")
	if err := s.run(ctx, "watch", "--count", diffs, "--timeout", "1m"); err != nil {
		return err
	}
	ref, name, err := s.button(ctx, "")
	if err != nil {
		return err
	}
	s.say("4. Act on it. [%d] is %q; a ref never becomes another element. The answer is what the click changed.", ref, name)
	if err := s.run(ctx, "click", strconv.FormatUint(uint64(ref), 10)); err != nil {
		return err
	}
	page, changes := s.tokens["compact"], s.tokens["watch"]
	s.say("5. What a model would have read, in tokens (o200k_base): the page %d, %s changes %d, the click %d.\n"+
		"   To see these changes by reading the page again each time takes %s times %d.", page, diffs, changes, s.tokens["click"], diffs, page)
	s.say("6. Clean up: the daemon, its browser and its files.")
	return nil
}

func (s *stage) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, "\n"+format+"\n", args...)
}

// run prints a command and its output.
func (s *stage) run(ctx context.Context, args ...string) error {
	_, _ = fmt.Fprintf(s.out, "\n$ domtap %s\n", strings.Join(args, " "))
	cmd := s.command(ctx, args...)
	var text strings.Builder
	both := io.MultiWriter(s.out, &text)
	cmd.Stdout, cmd.Stderr = both, both
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("domtap %s: %w", args[0], err)
	}
	s.tokens[args[0]] = tokens.Count(text.String())
	return nil
}

// command returns a command that is requested to end, rather than killed, when ctx ends.
func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = s.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// answer holds the fields of `domtap dom --json` that the demo reads.
type answer struct {
	Elements []struct {
		Ref      uint32
		Role     string
		Text     string
		Disabled bool
	}
}

// button returns an enabled button for a bid on a lot. It finds the button as a program would, by role and name. An empty lot matches any.
func (s *stage) button(ctx context.Context, lot string) (ref uint32, name string, err error) {
	text, err := s.command(ctx, "dom", "--json").Output()
	if err != nil {
		return 0, "", fmt.Errorf("domtap dom: %w", err)
	}
	var page answer
	if err := json.Unmarshal(text, &page); err != nil {
		return 0, "", fmt.Errorf("read what domtap dom printed: %w", err)
	}
	for _, e := range page.Elements {
		if e.Role == "button" && strings.HasPrefix(e.Text, "Bid ") && strings.HasSuffix(e.Text, lot) && !e.Disabled {
			return e.Ref, e.Text, nil
		}
	}
	return 0, "", errors.New("the page has no button to bid with")
}

// clean stops the daemon and removes its files, even after an error.
func (s *stage) clean(ctx context.Context, state string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return errors.Join(s.run(ctx, "stop"), os.RemoveAll(state))
}
