package daemon

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/domtap/domtap/internal/server/rpc/identity"
)

// Access configures which clients may call, in addition to the operator. The zero value admits only the operator.
type Access struct {
	// ClientsFile is a file that lists named clients. If empty, there are none. See identity.Parse.
	ClientsFile string
}

// clients returns the clients that may call over TCP: the owner of the operator's token, and the clients in the file. The file is reread
// periodically and after SIGHUP. Calling unfollow ends the clients' rights. The end of ctx does not, so that calls in flight can finish
// when the daemon is told to stop.
func (cfg Config) clients(ctx context.Context, token string) (clients *identity.Clients, unfollow func(), err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	clients = identity.New(ctx, token)
	if cfg.Access.ClientsFile == "" {
		return clients, cancel, nil
	}
	file, err := identity.Load(cfg.Access.ClientsFile, clients, cfg.Logger)
	if err != nil {
		cancel()
		return nil, nil, err
	}
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

// ofClient reports whether a session belongs to a named client.
func ofClient(session string) bool { return identity.OwnerOf(session) != identity.OperatorName }

// quota limits the number of tabs or sessions of each named client.
func quota(most int) func(session string) (string, int) {
	return func(session string) (string, int) {
		if !ofClient(session) {
			return "", 0
		}
		return identity.OwnerOf(session), most
	}
}
