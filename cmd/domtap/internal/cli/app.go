// Package cli is the base of every domtap command: flags, connection, output and errors.
//
// A command is a function that takes an App and returns a *cobra.Command. The command reaches the
// world outside (streams, environment, the start of a daemon) through the App only, so tests run
// commands in their own process. Commands return errors; App.Run prints the error and picks the
// exit code by the table of package exit.
//
// A command registers the flags it needs with ClientFlags.Register or App.TabCommand, and runs its
// work in WithClient, WithNavigation or WithoutDaemon. These three read the environment variables of
// the flags before the work begins.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/plural"
)

// Env is the world around a command.
type Env struct {
	// Lookup reads environment variables.
	Lookup endpoint.Lookup
	In     io.Reader
	// Out and Err clean all that is written to them: New puts a render.Writer in front of the streams.
	Out, Err io.Writer
	// Version is the version of the program.
	Version string
	// Launch starts a daemon on the socket of at, with more flags, and returns when the daemon is
	// ready.
	Launch func(ctx context.Context, at endpoint.Places, flags []string) error
	// TryBrowser starts a browser and stops it.
	TryBrowser func(context.Context, browser.Config) error
	// Terminal returns the key of the terminal that the command runs in.
	Terminal func() string
	// Columns returns the width of the terminal that Err is; 0, or nil: Err is no terminal.
	Columns func() int
	// Conns are connections that commands share; nil: each has its own.
	Conns *Conns
}

// ReadFile reads a file, or standard input for "-".
func (e *Env) ReadFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(e.In)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, exit.Errorf(exit.Usage, "check the name of the file", "%w", err)
	}
	return text, err
}

// Warn prints a problem of a command that did its work nevertheless.
func (e *Env) Warn(err error) {
	e.Note("domtap: warning: %s", render.Line(err.Error()))
}

// Note prints one line on standard error.
func (e *Env) Note(format string, args ...any) {
	_, _ = fmt.Fprintf(e.Err, format+"\n", args...)
}

// LaunchDaemon is the Launch of the real program: it starts a daemon that outlives the command.
func LaunchDaemon(ctx context.Context, at endpoint.Places, flags []string) error {
	args, err := endpoint.ServeArgs(at)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return endpoint.Launch(ctx, program, at, append(args, flags...))
}

// App is what commands are made with. One App runs one command line.
type App struct {
	Env
	// Flags are the values of the flags that the client commands share.
	Flags ClientFlags
	// Root makes the tree of commands anew, for the hints of wrong lines; nil: they need no other commands. With the words of a line it may
	// make the command that they name alone.
	Root func(words ...string) *cobra.Command
	// Followed says that another command of the same call comes next: what that can print, this one leaves out.
	Followed bool
	*Connector
	*Completer
}

// Command is a command of the program that is not made yet.
type Command struct {
	// Name is the first word of the command's usage.
	Name string
	Make func(*App) *cobra.Command
}

// New makes an App in an environment.
func New(env Env) *App {
	env.Out, env.Err = render.NewWriter(env.Out), render.NewWriter(env.Err)
	a := &App{Env: env}
	a.Connector = &Connector{env: &a.Env, flags: &a.Flags}
	a.Completer = &Completer{a.Connector}
	return a
}

// Run executes one command line and returns the exit code.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	if len(args) > 1 && args[0] == "help" { // --help refuses commands that do not exist
		args = append(slices.Clone(args[1:]), "--help")
	}
	root.SetArgs(withNumbers(root, args))
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	var refused error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		if refused = unknownIn(cmd, words); refused == nil { // else the help would be that of all commands
			help(cmd, words)
		}
	})
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = refused
	}
	if err == nil {
		return exit.OK
	}
	var known *exit.Error
	if !errors.As(err, &known) { // cobra found the error before any work began
		known = a.misuse(cmd, args, err)
	}
	if !errors.Is(known, exit.ErrReported) {
		a.report(known, a.wantsJSON(args))
	}
	return known.Code
}

// report prints an error as one line and a hint, or as JSON.
func (a *App) report(e *exit.Error, asJSON bool) {
	e.Err, e.Hint = errors.New(render.Line(e.Error())), render.Line(e.Hint)
	if asJSON {
		_ = json.NewEncoder(a.Err).Encode(e.Report()) // there is no stream left to report an error on
		return
	}
	a.Note("domtap: %s", e.Err)
	if e.Hint != "" {
		a.Note("hint: %s", e.Hint)
	}
}

// wantsJSON reports whether errors are printed as JSON. The arguments decide where the command line
// was not parsed to its end.
func (a *App) wantsJSON(args []string) bool {
	if a.Flags.wantJSON() {
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
	variable, _ := a.Lookup("DOMTAP_OUTPUT")
	return variable == outputJSON
}

// Printer makes the printer that the flags --output and --json ask for.
func (a *App) Printer() *Printer {
	return &Printer{w: a.Out, JSON: a.Flags.wantJSON(), colour: a.colour()}
}

// TabCommand makes a client command that works on the tab of --tab.
func (a *App) TabCommand(cmd *cobra.Command) *cobra.Command {
	a.Flags.Register(cmd)
	a.Flags.registerTab(cmd, a.CompleteTabs)
	return cmd
}

// EachFlag defines --each of a command that prints changes; see Printer.Brief.
func (a *App) EachFlag(cmd *cobra.Command, each *bool) {
	cmd.Flags().BoolVar(each, "each", false, "print each change by itself, also those that were asked for")
	MarkRare(cmd.Flags(), "each")
}

// SaveFile writes a file, or to standard output for "-", and prints the name and the size. Files and pipes have the data
// exactly; a terminal has it cleaned.
func (a *App) SaveFile(name string, data []byte, what string) error {
	return a.saveFile(name, data, what, 0o644)
}

// SaveSecret is SaveFile for what others on the machine must not read. The mode of a file that is there already is changed.
func (a *App) SaveSecret(name string, data []byte, what string) error {
	return a.saveFile(name, data, what, 0o600)
}

func (a *App) saveFile(name string, data []byte, what string, mode os.FileMode) error {
	if name == "-" {
		_, err := render.Exact(a.Out).Write(data)
		return err
	}
	err := os.WriteFile(name, nil, mode)
	if err == nil && mode == 0o600 {
		if info, failed := os.Stat(name); failed == nil && info.Mode().IsRegular() {
			err = os.Chmod(name, mode)
		}
	}
	if err == nil {
		err = os.WriteFile(name, data, mode)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	return a.Printer().ShowValue(saved{File: name, Bytes: len(data)}, fmt.Sprintf("%s: %s\n", name, plural.Of(len(data), "byte")))
}

// saved is the JSON form of what SaveFile prints.
type saved struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// Work wraps the work of a command. Errors of the work are classified by package exit; all other
// errors of a command line are errors of usage, which cobra finds.
func Work(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := do(cmd, args); err != nil {
			return exit.Classify(err, func(flag string) bool { return cmd.Flags().Lookup(flag) != nil })
		}
		return nil
	}
}
