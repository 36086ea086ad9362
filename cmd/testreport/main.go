// Command testreport runs go test and ends with what a reader wants of a long run: the tests that were skipped, with the reasons, those
// that failed, with what they said, and how many there were of each. The last line is such as
//
//	1204 passed, 2 failed, 3 skipped
//
// It prints a line for each package when its tests end, as go test does, and before it what the tests that failed printed.
//
//	testreport [ARGUMENT…]
//
// The arguments are those of go test. With -v, -bench, -list and their like it prints all that the tests print, and with -json the
// events as they are and the report on standard error. The exit code is that of go test.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	code, err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	os.Exit(code)
}

// run runs go test with the arguments, reports on it, and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	// A terminal interrupts go test as well, whose events then come to an end.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	var r *report
	if given(args, "json") {
		r = newReport(io.Discard, stdout, stderr)
	} else {
		r = newReport(stdout, io.Discard, stdout)
		args = append([]string{"-json"}, args...)
		r.all = slices.ContainsFunc([]string{"v", "bench", "list", "n", "x"}, func(name string) bool { return given(args, name) })
	}
	r.module = module()
	test := exec.CommandContext(ctx, "go", append([]string{"test"}, args...)...)
	test.Stderr = stderr
	test.Cancel = func() error { return test.Process.Signal(os.Interrupt) }
	out, err := test.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := test.Start(); err != nil {
		return 1, err
	}
	read := r.read(out)
	err = test.Wait()
	r.end()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), read
	}
	if err = errors.Join(read, err); err != nil {
		return 1, err
	}
	return 0, nil
}

// given tells whether the arguments of go test have a flag that is not off. What follows -args is for the tests.
func given(args []string, name string) bool {
	found := false
	for _, arg := range args {
		flag, value, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		switch {
		case !strings.HasPrefix(arg, "-"):
		case flag == "args":
			return found
		case strings.TrimPrefix(flag, "test.") == name:
			found = value != "false" && value != "0"
		}
	}
	return found
}

// module is the path of the module in this directory, which names of packages are shown without.
func module() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if path, found := strings.CutPrefix(line, "module "); found {
			return strings.TrimSpace(path)
		}
	}
	return ""
}
