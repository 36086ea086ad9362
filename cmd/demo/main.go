// Command demo shows domtap to a newcomer in twenty seconds. It serves a page that changes continuously, and runs the domtap commands that
// open it, read it, watch it and act on it.
//
//	demo -domtap bin/domtap     runs the demo with this program
//	demo -serve 127.0.0.1:8080  only serves the page, to play with
//
// It leaves nothing behind: the daemon has its own socket and state directory and no TCP port, and it is stopped at the end, even after
// Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := flag.String("domtap", "bin/domtap", "the domtap program to show")
	address := flag.String("serve", "", "only serve the page, at this address")
	flag.Parse()
	if err := start(ctx, *program, *address); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, program, address string) error {
	if address != "" {
		site, err := serve(ctx, address)
		if err != nil {
			return err
		}
		fmt.Printf("The page is at %s until Ctrl-C.\n", site.url)
		<-ctx.Done()
		return site.close()
	}
	return show(ctx, program, os.Stdout)
}
