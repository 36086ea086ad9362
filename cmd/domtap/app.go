package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
	return a.report(cmd, args, err)
}

// report prints a command's error, if any, as one line and a hint, or as JSON, and returns the exit code for it.
func (a *app) report(cmd *cobra.Command, args []string, err error) int {
	if err == nil {
		return exit.OK
	}
	var known *exit.Error
	if !errors.As(err, &known) { // cobra found it before any work began
		known = misuse(cmd, args, err)
	}
	if a.wantsJSON(args) {
		// The stream is the last one that could be told of an error.
		known.Err, known.Hint = errors.New(render.Line(known.Error())), render.Line(known.Hint)
		_ = json.NewEncoder(a.complaints).Encode(known.Report())
		return known.Code
	}
	_, _ = fmt.Fprintf(a.complaints, "domtap: %s\n", render.Line(known.Error()))
	if known.Hint != "" {
		_, _ = fmt.Fprintf(a.complaints, "hint: %s\n", render.Line(known.Hint))
	}
	return known.Code
}

// wantsJSON says whether errors are to be JSON, also when the command line was not read to its end.
func (a *app) wantsJSON(args []string) bool {
	if a.common.output.value == outputJSON {
		return true
	}
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--json", arg == "-ojson", arg == "-o=json", arg == "--output=json":
			return true
		case arg == "-o" || arg == "--output":
			return i+1 < len(args) && args[i+1] == outputJSON
		case strings.HasPrefix(arg, "-o"), strings.HasPrefix(arg, "--output="):
			return false
		}
	}
	variable, _ := a.env("DOMTAP_OUTPUT")
	return variable == outputJSON
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
			return exit.Classify(err, func(flag string) bool { return cmd.Flags().Lookup(flag) != nil })
		}
		return nil
	}
}
