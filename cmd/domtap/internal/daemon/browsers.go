package daemon

import (
	"context"
	"fmt"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browserpool"
)

// MaxBrowsers is how many browsers of its own a daemon may have.
const MaxBrowsers = 16

// Browsers is how many browsers there are. The zero value is one of the daemon's own.
type Browsers struct {
	// Count is how many the daemon starts; 0: 1.
	Count int
	// Remotes are running browsers to attach to, as in browser.Config.Remote; none is started then.
	Remotes []string
}

// Check returns an error for what cannot be. A Count of 0 is none that a person may ask for.
func (b Browsers) Check() error {
	switch {
	case b.Count < 1 || b.Count > MaxBrowsers:
		return fmt.Errorf("--browsers %d is not 1 to %d", b.Count, MaxBrowsers)
	case b.Count > 1 && len(b.Remotes) > 0:
		return fmt.Errorf("--browsers %d starts browsers, and --remote none: give --remote once for each browser", b.Count)
	case len(b.Remotes) > MaxBrowsers:
		return fmt.Errorf("--remote is given %d times: %d browsers are the most", len(b.Remotes), MaxBrowsers)
	}
	return nil
}

// starters start the browsers. The first has the default session, and so the profile that is kept, and keeps its
// places; the others are beside it.
func (b Browsers) starters(base browser.Config) []browserpool.Starter {
	all := make([]browserpool.Starter, max(b.Count, 1))
	if len(b.Remotes) > 0 {
		all = make([]browserpool.Starter, len(b.Remotes))
	}
	for i := range all {
		cfg := base
		if len(b.Remotes) > 0 {
			cfg.Remote = b.Remotes[i]
		}
		if i > 0 {
			cfg.UserDataDir, cfg.Beside = "", true
		}
		all[i] = starter(cfg)
	}
	return all
}

// starter starts one browser, again and again.
func starter(cfg browser.Config) browserpool.Starter {
	start := browser.Starter(cfg)
	return func(ctx context.Context) (browserpool.Engine, error) {
		b, err := start(ctx)
		if err != nil {
			return nil, err // and no Engine that holds a nil
		}
		return b, nil
	}
}
