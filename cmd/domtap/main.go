// Command domtap gives programs the DOM of live browser tabs: as compact text, as elements with stable
// refs, and as a stream of diffs.
//
// domtap serve is the daemon. Every other command is a gRPC client of the daemon, and starts it on
// demand. commands.go lists all commands; package internal/cli is their base, and the packages
// internal/…cmd hold one group of commands each.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones are checked, even where the system has no database of them

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/terminal"
	"github.com/domtap/domtap/internal/endpoint"
)

func main() { os.Exit(run()) }

// run passes the first signal to the command, which ends in good order. A second signal ends the process
// at once, because the signals have their default effect again by then.
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
		Launch: cli.LaunchDaemon, TryBrowser: doctor.StartOnce, Terminal: terminal.Key,
	})
}
