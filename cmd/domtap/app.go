package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/browser"
	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	"github.com/domtap/domtap/internal/endpoint"
)

// app is what every command works with.
type app struct {
	env        endpoint.Lookup
	in         io.Reader
	out        io.Writer
	complaints io.Writer
	// launch starts a daemon that serves the socket and returns when it is ready.
	launch func(ctx context.Context, at endpoint.Places) error
	// tryBrowser starts a browser and ends it.
	tryBrowser func(context.Context, browser.Config) error
	// terminal names the terminal that the command runs in.
	terminal func() string
	// daemonFlags are more flags for a daemon that a command starts.
	daemonFlags []string

	common commonFlags
}

func newApp(env endpoint.Lookup, in io.Reader, out, complaints io.Writer) *app {
	a := &app{env: env, in: in, out: out, complaints: complaints, tryBrowser: doctor.StartOnce, terminal: terminal.Key}
	a.launch = a.launchDaemon
	return a
}

// run executes one command line and returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.complaints)
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(cmd.CommandPath(), err)
}

// report prints a command's error, if any, as one line and a hint, and returns the exit code for it.
func (a *app) report(command string, err error) int {
	if err == nil {
		return exit.OK
	}
	var known *exit.Error
	if !errors.As(err, &known) { // cobra found it before any work began
		known = &exit.Error{Code: exit.Usage, Err: err, Hint: command + " --help shows how it is used"}
	}
	_, _ = fmt.Fprintf(a.complaints, "domtap: %s\n", render.Line(known.Error()))
	if known.Hint != "" {
		_, _ = fmt.Fprintf(a.complaints, "hint: %s\n", render.Line(known.Hint))
	}
	return known.Code
}

// warn prints what went wrong beside a command that did its work.
func (a *app) warn(err error) {
	_, _ = fmt.Fprintf(a.complaints, "domtap: warning: %s\n", render.Line(err.Error()))
}

// launchDaemon starts a daemon that outlives this command.
func (a *app) launchDaemon(ctx context.Context, at endpoint.Places) error {
	args, err := endpoint.ServeArgs(at)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return endpoint.Launch(ctx, program, at, append(args, a.daemonFlags...))
}

// colour says whether coloured output is wanted: on a terminal, unless NO_COLOR is set.
func (a *app) colour() bool {
	if value, _ := a.env("NO_COLOR"); value != "" {
		return false
	}
	if term, _ := a.env("TERM"); term == "dumb" {
		return false
	}
	return isTerminal(a.out)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printer makes the printer that the -o flag asks for.
func (a *app) printer() *printer {
	return &printer{w: a.out, json: a.common.output.value == outputJSON, colour: a.colour()}
}

// doing wraps a command's work so that its errors are told apart from errors of usage, which are
// those that cobra finds itself.
func doing(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := work(cmd, args); err != nil {
			return exit.Classify(err)
		}
		return nil
	}
}
