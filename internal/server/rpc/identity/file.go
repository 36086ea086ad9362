package identity

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// checkInterval is the interval at which the file is checked for changes. A revoked token stays valid for at most that long.
const checkInterval = 2 * time.Second

// File keeps Clients in sync with a file.
type File struct {
	path    string
	clients *Clients
	logger  *slog.Logger

	mu sync.Mutex
	// seen identifies the version of the file that was read last.
	seen stamp
}

type stamp struct {
	changed time.Time
	size    int64
}

// Load reads a list of clients into Clients. It refuses a file that other users may read or write.
func Load(path string, clients *Clients, logger *slog.Logger) (*File, error) {
	f := &File{path: path, clients: clients, logger: logger}
	_, err := f.reloadIfChanged(true)
	return f, err
}

// reloadIfChanged reads the file if it has changed, or in any case if anyway is set.
func (f *File) reloadIfChanged(anyway bool) (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil {
		return false, fmt.Errorf("read the list of clients: %w", err)
	}
	now := stamp{info.ModTime(), info.Size()}
	if now == f.seen && !anyway {
		return false, nil
	}
	f.seen = now // even if the file is invalid, so that the error is logged only once
	data, err := listen.ReadPrivate(f.path)
	if err != nil {
		return false, fmt.Errorf("read the list of clients: %w", err)
	}
	list, err := Parse(data)
	if err != nil {
		return false, fmt.Errorf("the list of clients %s: %w", f.path, err)
	}
	f.clients.Set(list)
	return true, nil
}

// Reload reads the file now. If the file is invalid, the previous list stays in force and the error is logged.
func (f *File) Reload(ctx context.Context) { f.renew(ctx, true) }

func (f *File) renew(ctx context.Context, anyway bool) {
	switch changed, err := f.reloadIfChanged(anyway); {
	case err != nil:
		f.logger.ErrorContext(ctx, "the list of clients could not be read; the previous list stays in force", "err", err)
	case changed:
		f.logger.InfoContext(ctx, "read the list of clients", "file", f.path)
	}
}

// Follow reads the file whenever it changes or a signal arrives on wake, until ctx ends.
func (f *File) Follow(ctx context.Context, wake <-chan os.Signal) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.renew(ctx, false)
		case <-wake:
			f.renew(ctx, true)
		case <-ctx.Done():
			return
		}
	}
}
