package daemon

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/domtap/domtap/internal/server/identity"
)

// Access says who may call besides the operator. The zero value: nobody.
type Access struct {
	// ClientsFile lists named clients; empty: there are none. See identity.Parse.
	ClientsFile string
}

// clients are who may call over TCP: who has the operator's token, and who the file lists, as it is from time to time and at
// once after SIGHUP. What unfollow does is owed in the end.
func (cfg Config) clients(ctx context.Context, token string) (clients *identity.Clients, unfollow func(), err error) {
	clients = identity.New(ctx, token)
	if cfg.Access.ClientsFile == "" {
		return clients, func() {}, nil
	}
	file, err := identity.Load(cfg.Access.ClientsFile, clients, cfg.Logger)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	wake := make(chan os.Signal, 1)
	signal.Notify(wake, syscall.SIGHUP)
	var following sync.WaitGroup
	following.Go(func() { file.Follow(ctx, wake) })
	return clients, func() {
		signal.Stop(wake)
		cancel()
		following.Wait()
	}, nil
}

// ofClient reports whether a session is a named client's.
func ofClient(session string) bool { return identity.OwnerOf(session) != identity.OperatorName }

// quota lets each named client have so many of what is in sessions, or of these.
func quota(most int) func(session string) (string, int) {
	return func(session string) (string, int) {
		if !ofClient(session) {
			return "", 0
		}
		return identity.OwnerOf(session), most
	}
}
