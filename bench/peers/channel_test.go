//go:build unix

package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domtap/domtap/internal/lazyregexp"
)

const (
	// startLimit limits the start of a program. endLimit limits its end.
	startLimit = time.Minute
	endLimit   = 20 * time.Second
	// leaveLimit limits the time in which a program must end after a request to do so.
	leaveLimit = 8 * time.Second
)

// server is a program that serves MCP on its standard input and output.
type server struct {
	session *mcp.ClientSession
	program *exec.Cmd
	log     *os.File
	// after is a command that ends processes that the program leaves running. It may be nil.
	after func(ctx context.Context) error
}

// startServer starts a server in its own process group, with its log in dir.
func startServer(ctx context.Context, dir string, env []string, words ...string) (*server, error) {
	log, err := os.Create(dir + "/log")
	if err != nil {
		return nil, err
	}
	program := exec.Command(words[0], words[1:]...) // close ends it in order
	program.Dir, program.Env, program.Stderr = dir, env, log
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	client := mcp.NewClient(&mcp.Implementation{Name: "benchpeers", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: program}, nil)
	if err != nil {
		said, _ := os.ReadFile(log.Name()) // without the log the error has less detail
		return nil, errors.Join(fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, firstLine(string(said))), log.Close())
	}
	return &server{session: session, program: program, log: log}, nil
}

// filePattern matches the line in an answer of Playwright MCP that refers to a snapshot file.
var filePattern = lazyregexp.New(`(?m)^- \[Snapshot\]\((.*)\)$`)

// call implements channel. If the answer refers to a snapshot file, the file counts as part of the answer, because an agent reads it. That
// costs the agent one more call of its own tools.
func (s *server) call(ctx context.Context, c call) (string, bool, error) {
	r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	for _, part := range r.Content {
		if part, ok := part.(*mcp.TextContent); ok {
			b.WriteString(part.Text)
		}
	}
	text := filePattern().ReplaceAllStringFunc(b.String(), func(line string) string {
		snapshot, e := os.ReadFile(filePattern().FindStringSubmatch(line)[1])
		err = errors.Join(err, e)
		return string(snapshot)
	})
	return text, r.IsError, err
}

// manual implements channel. It returns the definitions of the tools, which a model reads in each turn.
func (s *server) manual(ctx context.Context, _ []string) (string, error) {
	var all []*mcp.Tool
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return "", err
		}
		all = append(all, tool)
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// close implements channel.
func (s *server) close(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- s.session.Close() }() // Close waits and then sends signals itself
	var err error
	select {
	case <-closed: // a server that ended by a signal is not an error
	case <-time.After(leaveLimit):
		err = errors.Join(s.program.Process.Kill(), <-closed)
	}
	if s.after != nil {
		err = errors.Join(err, s.after(ctx))
	}
	return errors.Join(err, s.log.Close())
}

// shell is a program that is called as a command and starts its own daemon.
type shell struct {
	dir     string
	env     []string
	program string
	// leave contains the arguments that end the daemon.
	leave []string
}

// command returns one of the program's commands.
func (s *shell) command(ctx context.Context, words []string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.program, words...)
	c.Dir, c.Env = s.dir, s.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// call implements channel. The first word is the user-visible name of the program and is not passed to it.
func (s *shell) call(ctx context.Context, c call) (string, bool, error) {
	run := s.command(ctx, c.words[1:])
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	err := run.Run()
	if ctx.Err() != nil {
		return "", false, ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), true, nil
	}
	if errors.Is(err, exec.ErrWaitDelay) { // the daemon that the command started holds the pipe
		err = nil
	}
	return out.String(), false, err
}

// manual implements channel.
func (s *shell) manual(ctx context.Context, words []string) (string, error) {
	text, err := s.command(ctx, words).Output()
	return string(text), err
}

// close implements channel.
func (s *shell) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	if text, err := s.command(ctx, s.leave).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(s.leave, " "), err, firstLine(string(text)))
	}
	return nil
}
