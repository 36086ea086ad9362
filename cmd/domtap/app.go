package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/daemon"
	"github.com/domtap/domtap/cmd/domtap/internal/endpoint"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
)

// app is what every command works with.
type app struct {
	env        endpoint.Lookup
	in         io.Reader
	out        io.Writer
	complaints io.Writer
	// launch starts a daemon that serves the socket and returns when it is ready.
	launch func(ctx context.Context, at endpoint.Places) error

	common commonFlags
}

func newApp(env endpoint.Lookup, in io.Reader, out, complaints io.Writer) *app {
	a := &app{env: env, in: in, out: out, complaints: complaints}
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

// launchDaemon starts a daemon that outlives this command. It opens no TCP port that nobody asked for:
// DOMTAP_LISTEN asks for one. Other settings reach it through the environment.
func (a *app) launchDaemon(ctx context.Context, at endpoint.Places) error {
	args, err := a.daemonArgs(at)
	if err != nil {
		return err
	}
	return daemon.Launch(ctx, at, args)
}

func (a *app) daemonArgs(at endpoint.Places) ([]string, error) {
	args := []string{"serve", "--on-demand"}
	for flag, path := range map[string]string{"--state-dir": at.State, "--socket": at.Socket, "--token-file": at.Token} {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find the working directory: %w", err)
		}
		args = append(args, flag, absolute)
	}
	if _, set := a.env("DOMTAP_LISTEN"); !set {
		args = append(args, "--listen=")
	}
	return args, nil
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
