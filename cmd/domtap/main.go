// Command domtap gives programs the DOM of live browser tabs: as compact text, as elements with
// stable refs, and as a stream of diffs.
//
// `domtap serve` is the daemon; every other command is a gRPC client of it, and starts one on demand.
// The commands stand in one table (table.go), each in a file of its own. What a command may touch of
// the world outside (streams, environment, the start of a daemon) it gets through an app, so that
// tests run commands in their own process.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones are checked also where the system has none
)

func main() { os.Exit(run()) }

// run gives the first signal to the command, which ends in good order; a second one ends the process
// at once, because the signals have their default effect again by then.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return newApp(os.LookupEnv, os.Stdin, os.Stdout, os.Stderr).run(ctx, os.Args[1:])
}
