// Command domtap provides the DOM of live browser tabs to programs: as compact text, as elements with stable refs, and
// as a stream of diffs.
//
// domtap serve runs the daemon. Every other command is a gRPC client of the daemon and starts it on demand. commands.go
// lists all commands. Package internal/cli provides their common base, and each package internal/…cmd provides one
// group of commands.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones must be known even if the system has no database

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
)

func main() { os.Exit(run()) }

// run passes the first signal to the command, which then shuts down cleanly. A second signal ends the process
// immediately, because the default signal handling has been restored.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := newApp(os.LookupEnv, os.Stdin, os.Stdout, os.Stderr)
	return a.Run(ctx, newRoot(a, os.Args[1:]...), os.Args[1:])
}

func newApp(lookup endpoint.Lookup, in io.Reader, out, errors io.Writer) *cli.App {
	return cli.New(cli.Env{
		Columns: func() int {
			term, _ := lookup("TERM")
			return cli.ColumnsOf(errors, term)
		},
		Lookup: lookup, In: in, Out: out, Err: errors, Version: programVersion(),
		Launch: cli.LaunchDaemon, TryBrowser: doctor.StartOnce, Running: discovery.ForThisMachine(os.Getenv), Terminal: terminal.Key,
	})
}
