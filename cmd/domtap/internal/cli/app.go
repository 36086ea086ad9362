// Package cli provides the base of every domtap command: flags, connection, output and errors.
//
// A command is a function that takes an App and returns a *cobra.Command. The command accesses streams, the environment and the start of a
// daemon only through the App, so tests run commands in their own process. Commands return errors. App.Run prints the error and selects the
// exit code from the table of package exit.
//
// A command registers its flags with ClientFlags.Register or App.TabCommand, and runs its work in WithClient, WithNavigation or
// WithoutDaemon. These three apply the environment variables of the flags before the work starts.
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
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/plural"
)

// Env provides streams, environment variables and other access to the system to a command.
type Env struct {
	// Lookup reads environment variables.
	Lookup endpoint.Lookup
	In     io.Reader
	// Out and Err clean all text that is written to them: New wraps the streams in a render.Writer.
	Out, Err io.Writer
	// Version is the version of the program.
	Version string
	// Launch starts a daemon on the socket of at, with additional flags, and returns when the daemon is ready.
	Launch func(ctx context.Context, at endpoint.Places, flags []string) error
	// TryBrowser starts a browser and stops it.
	TryBrowser func(context.Context, browser.Config) error
	// Running finds running browsers of this machine.
	Running *discovery.Finder
	// Terminal returns the key of the terminal in which the command runs.
	Terminal func() string
	// Columns returns the width of the terminal behind Err. If Columns is nil or returns 0, Err is not a terminal.
	Columns func() int
	// Conns holds connections that commands share. If nil, each command opens its own.
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

// Warn prints a problem of a command that nevertheless succeeded.
func (e *Env) Warn(err error) {
	e.Note("domtap: warning: %s", render.Line(err.Error()))
}

// Note prints one line on standard error.
func (e *Env) Note(format string, args ...any) {
	_, _ = fmt.Fprintf(e.Err, format+"\n", args...)
}

// LaunchDaemon is the production implementation of Env.Launch. It starts a daemon that outlives the command.
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

// App holds what commands share. One App runs one command line.
type App struct {
	Env
	// Flags holds the values of the flags that the client commands share.
	Flags ClientFlags
	// Root returns a new tree of commands, for the hints of wrong command lines. Given the words of a line, it may create only the command
	// that they name. If nil, hints suggest no other commands.
	Root func(words ...string) *cobra.Command
	// Followed means that another command of the same call follows. This command omits what that command can print.
	Followed bool
	// PageFollows means that the page is printed if this command fails because of the page. The error then has no hint to read the page.
	PageFollows bool
	// Header is the page header that earlier commands of the same call printed last. If nil, there are no earlier commands.
	Header *string
	*Connector
	*Completer
}

// Command describes a command before it is created.
type Command struct {
	// Name is the first word of the command's usage.
	Name string
	Make func(*App) *cobra.Command
}

// New returns an App that runs in the given environment.
func New(env Env) *App {
	env.Out, env.Err = render.NewWriter(env.Out), render.NewWriter(env.Err)
	a := &App{Env: env}
	a.Connector = &Connector{env: &a.Env, flags: &a.Flags}
	a.Completer = &Completer{a.Connector}
	return a
}

// WithoutHeader removes the first line of a text, the page header, if an earlier command of the same call has printed it.
func (a *App) WithoutHeader(text string) string {
	header, rest, found := strings.Cut(text, "\n")
	switch {
	case a.Header == nil || !found || a.Printer().JSON:
		return text
	case *a.Header == header:
		return rest
	}
	*a.Header = header
	return text
}

// Run executes one command line and returns the exit code.
func (a *App) Run(ctx context.Context, root *cobra.Command, args []string) int {
	if len(args) > 1 && args[0] == "help" { // --help rejects commands that do not exist
		args = append(slices.Clone(args[1:]), "--help")
	}
	root.SetArgs(append([]string{}, withNumbers(root, args)...)) // not nil, which cobra replaces by the arguments of the process
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	var refused error
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, words []string) {
		if refused = unknownIn(cmd, words); refused == nil { // otherwise the help of the root would be shown
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
	if !errors.As(err, &known) { // cobra found the error before any work started
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
	if a.PageFollows && e.HintsAtPage() {
		e.Hint = ""
	}
	if asJSON {
		_ = json.NewEncoder(a.Err).Encode(e.Report()) // there is no other stream for an error
		return
	}
	a.Note("domtap: %s", e.Err)
	if e.Hint != "" {
		a.Note("hint: %s", e.Hint)
	}
}

// wantsJSON reports whether errors are printed as JSON. It also looks at the arguments, in case parsing of the command line stopped early.
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

// Printer returns the printer that the flags --output and --json select.
func (a *App) Printer() *Printer {
	return &Printer{w: a.Out, JSON: a.Flags.wantJSON(), colour: a.colour()}
}

// TabCommand turns cmd into a client command that works on the tab of --tab.
func (a *App) TabCommand(cmd *cobra.Command) *cobra.Command {
	a.Flags.Register(cmd)
	a.Flags.registerTab(cmd, a.CompleteTabs)
	return cmd
}

// EachFlag defines the flag --each of a command that prints changes. See Printer.Brief.
func (a *App) EachFlag(cmd *cobra.Command, each *bool) {
	cmd.Flags().BoolVar(each, "each", false, "print each change separately, including the change that was requested")
	MarkRare(cmd.Flags(), "each")
}

// SaveFile writes a file, or to standard output for "-", and prints the name and the size. Files and pipes receive the data unchanged.
// Output to a terminal is cleaned.
func (a *App) SaveFile(name string, data []byte, what string) error {
	return a.saveFile(name, data, what, 0o644)
}

// SaveSecret writes a file as SaveFile does, readable only by the current user. It also changes the mode of an existing file.
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

// saved is the JSON form of SaveFile's output.
type saved struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

// Work wraps the work of a command. Package exit classifies the errors of the work. All other errors of a command line are usage errors,
// which cobra detects.
func Work(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := do(cmd, args); err != nil {
			return exit.Classify(err, func(flag string) bool { return cmd.Flags().Lookup(flag) != nil })
		}
		return nil
	}
}
