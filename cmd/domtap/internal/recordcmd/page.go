package recordcmd

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// pageFlags holds the flags that add a live page to a replay and open it in a browser.
type pageFlags struct {
	ui, open bool
	secret   string
}

func (p *pageFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&p.ui, "ui", false, "also serve the live page of the recording, and print its address")
	cmd.Flags().BoolVar(&p.open, "open", false, "serve the live page, and open it in this desktop's browser")
}

// on reports whether the live page is on.
func (p *pageFlags) on() bool { return p.ui || p.open }

// token creates the token of the page, which is valid until the command ends. Without a page it returns an empty string.
func (p *pageFlags) token() (_ string, err error) {
	if p.on() {
		p.secret, err = listen.NewToken()
	}
	return p.secret, err
}

// serve serves a replay with its page until ctx ends.
func (p *pageFlags) serve(ctx context.Context, a *cli.App, replay *server.Server, socket net.Listener, said string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l, err := listen.Page(ctx)
	if err != nil {
		return errors.Join(err, socket.Close())
	}
	front, err := gateway.New(replay, gateway.Config{Listener: l, Page: ui.Handler(a.Version), Methods: ui.Methods()})
	if err != nil {
		return errors.Join(err, l.Close(), socket.Close())
	}
	replay.AddFront(front)
	page := cli.PageURL("http://"+l.Addr().String()+"/", p.secret)
	if err := a.Printer().Text(said + "live page: " + page + "\n"); err != nil {
		return errors.Join(err, l.Close(), socket.Close())
	}
	var opening sync.WaitGroup
	if p.open {
		opening.Go(func() {
			file := filepath.Join(filepath.Dir(socket.Addr().String()), "replay.html")
			if err := cli.OpenPage(ctx, file, page); err != nil { // the user can open the address
				a.Warn(err)
			}
			<-ctx.Done()
			_ = os.Remove(file) // the file may not exist
		})
	}
	err = replay.Serve(ctx, socket)
	stop()
	opening.Wait()
	return err
}
