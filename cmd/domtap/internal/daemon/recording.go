package daemon

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/recorder"
)

// Recording is which tabs are recorded, and where.
type Recording struct {
	// Dir is the directory of recordings; with it all tabs are recorded. Empty: those that clients want, in the state directory.
	Dir string
	// KeepBytes and KeepAge bound what is kept in Dir. 0: no bound.
	KeepBytes int64
	KeepAge   time.Duration
}

// record sets up the recordings of a server.
func (cfg Config) record(calls *server.Config) {
	r := cfg.Recording
	calls.Recording = recorder.Config{Dir: cmp.Or(r.Dir, filepath.Join(cfg.Browser.StateDir, "recordings")), Program: cfg.Version}
	if r.Dir == "" {
		return
	}
	calls.Recording.KeepBytes, calls.Recording.KeepAge = r.KeepBytes, r.KeepAge
	calls.RecordAll = &recorder.Options{Renew: true}
	if r.KeepBytes > 0 { // several files fit, so that removing one leaves others
		calls.RecordAll.MaxBytes = min(recorder.DefaultBytes, max(r.KeepBytes/4, 1<<20))
	}
}
