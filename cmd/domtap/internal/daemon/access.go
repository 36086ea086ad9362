package daemon

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/domtap/domtap/internal/server/identity"
)

// Access is who may call besides the operator. The zero value is nobody.
type Access struct {
	// ClientsFile lists named clients; empty: none. See identity.Parse.
	ClientsFile string
}

// clients are the clients that may call over TCP: the owner of the operator's token, and the clients in the file,
// which is read again from time to time and after SIGHUP. The caller calls unfollow at the end, which ends their rights. The end of ctx
// does not: calls that are under way when the daemon is told to stop may finish.
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

// quota limits each named client to so many tabs or sessions.
func quota(most int) func(session string) (string, int) {
	return func(session string) (string, int) {
		if !ofClient(session) {
			return "", 0
		}
		return identity.OwnerOf(session), most
	}
}
