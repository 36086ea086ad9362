package daemon

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/search"
)

// MaxBrowsers limits the number of browsers of a daemon.
const MaxBrowsers = 16

// Browsers configures the browsers of a daemon. The zero value selects one browser that the daemon starts.
type Browsers struct {
	// Count is the number of browsers to start. Zero means one.
	Count int
	// Remotes lists running browsers to attach to, as in browser.Config.Remote, instead of starting any.
	Remotes []string
	// RemoteHeaderFile is a file with the headers for remote browsers, one "Name: value" per line. If empty, RemoteHeaders holds the
	// headers, in the same form.
	RemoteHeaderFile string
	RemoteHeaders    search.Secret
}

// Check returns an error for an invalid number. It rejects a Count of 0, because a user cannot ask for that.
func (b Browsers) Check() error {
	switch {
	case b.Count < 1 || b.Count > MaxBrowsers:
		return fmt.Errorf("--browsers %d is not 1 to %d", b.Count, MaxBrowsers)
	case b.Count > 1 && len(b.Remotes) > 0:
		return fmt.Errorf("--browsers %d excludes --remote: give --remote once for each browser", b.Count)
	case len(b.Remotes) > MaxBrowsers:
		return fmt.Errorf("too many --remote: %d of at most %d", len(b.Remotes), MaxBrowsers)
	}
	return nil
}

// starters returns functions that start the browsers. The first browser has the default session and therefore the profile. The others have
// temporary profiles.
func (b Browsers) starters(base browser.Config) ([]browserpool.Starter, error) {
	header, err := b.Header()
	if err != nil {
		return nil, err
	}
	all := make([]browserpool.Starter, max(b.Count, 1))
	if len(b.Remotes) > 0 {
		all = make([]browserpool.Starter, len(b.Remotes))
	}
	for i := range all {
		cfg := base
		if len(b.Remotes) > 0 {
			cfg.Remote, cfg.RemoteHeader = b.Remotes[i], header
		}
		if i > 0 {
			cfg.UserDataDir, cfg.Secondary = "", true
		}
		all[i] = starter(cfg)
	}
	return all, nil
}

// starter returns a function that starts a browser each time it is called.
func starter(cfg browser.Config) browserpool.Starter {
	start := browser.Starter(cfg)
	return func(ctx context.Context) (browserpool.Engine, error) {
		b, err := start(ctx)
		if err != nil {
			return nil, err // the interface must not hold a nil pointer
		}
		return b, nil
	}
}
