package daemon

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
	"github.com/domtap/domtap/internal/search"
)

// MaxBrowsers is the most browsers of a daemon.
const MaxBrowsers = 16

// Browsers is how many browsers a daemon has. The zero value is one that the daemon starts.
type Browsers struct {
	// Count is how many browsers the daemon starts; 0: 1.
	Count int
	// Remotes are running browsers to attach to, as in browser.Config.Remote, instead of starting any.
	Remotes []string
	// RemoteHeaderFile has the headers that are sent to them, one "Name: value" in each line; empty: RemoteHeaders has them, in the same form.
	RemoteHeaderFile string
	RemoteHeaders    search.Secret
}

// Check returns an error for an invalid number. A user cannot ask for a Count of 0.
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

// starters start the browsers. The first browser has the default session, and so the profile; the others have
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

// starter starts one browser, as often as it is called.
func starter(cfg browser.Config) browserpool.Starter {
	start := browser.Starter(cfg)
	return func(ctx context.Context) (browserpool.Engine, error) {
		b, err := start(ctx)
		if err != nil {
			return nil, err // without an Engine that holds a nil pointer
		}
		return b, nil
	}
}
