// Command testreport runs go test and ends with a summary for long runs: the skipped tests with their reasons, the failed tests with their
// output, and the number of each. The last line is, for example,
//
//	1204 passed, 2 failed, 3 skipped
//
// When the tests of a package end, it prints the output of failed tests and then a line for the package, as go test does.
//
//	testreport [ARGUMENT…]
//
// The arguments are passed to go test. With -v, -bench, -list and similar flags it prints all output of the tests. With -json it prints the
// events unchanged, and the report on standard error. The exit code is the exit code of go test.
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
	// A terminal also interrupts go test, whose events then end.
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

// given reports whether the arguments of go test contain a flag that is not off. Arguments after -args are for the tests.
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

// module returns the path of the module in this directory. Package names are shown without it.
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
