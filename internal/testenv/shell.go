package testenv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Shell runs command lines of recorded sessions with sh. Lines that call domtap run the tested program against one daemon.
type Shell struct {
	// Env holds further variables, as "NAME=value".
	Env []string
	// Dir is the working directory.
	Dir string
}

// NewShell returns a Shell that runs the program (see Program) with an empty working directory and an empty state directory. It skips the test
// if there is no sh.
func NewShell(t testing.TB, d *Daemon, program string) *Shell {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh to run the commands with")
	}
	path := filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH")
	return &Shell{
		Env: []string{"DOMTAP_ADDR=unix://" + d.Socket, "DOMTAP_STATE_DIR=" + t.TempDir(), "PATH=" + path},
		Dir: t.TempDir(),
	}
}

// Run runs a command line and returns its standard output, its standard error, and the exit code unless it is 0.
func (s *Shell) Run(t testing.TB, line string) string {
	t.Helper()
	var answer, complaint strings.Builder
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = append(os.Environ(), s.Env...), s.Dir, &answer, &complaint
	err := cmd.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return fmt.Sprintf("%s%sexit code %d\n", answer.String(), complaint.String(), failed.ExitCode())
	case err != nil:
		t.Fatal(err)
	}
	return answer.String() + complaint.String()
}

// ShellCommands returns the command lines of a recorded session: lines that begin with "$ ", continued in lines that begin with "> ".
func ShellCommands(session string) (all []string) {
	for line := range strings.Lines(session) {
		line = strings.TrimSuffix(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command)
		} else if more, ok := strings.CutPrefix(line, "> "); ok && len(all) > 0 {
			all[len(all)-1] += "\n" + more
		}
	}
	return all
}
