package daemon

import (
	"cmp"
	"path/filepath"
	"time"

	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/server/recording"
)

// Recording configures which tabs are recorded, and where.
type Recording struct {
	// Dir is the directory of recordings. If set, all tabs are recorded. If empty, only tabs that clients choose are recorded, in the state
	// directory.
	Dir string
	// KeepBytes and KeepAge limit what is kept in Dir. Zero means no limit.
	KeepBytes int64
	KeepAge   time.Duration
}

// record configures the recordings of a server.
func (cfg Config) record(calls *server.Config) {
	r := cfg.Recording
	calls.Recording = recording.Config{Dir: cmp.Or(r.Dir, filepath.Join(cfg.Browser.StateDir, "recordings")), Program: cfg.Version}
	if r.Dir == "" {
		return
	}
	calls.Recording.KeepBytes, calls.Recording.KeepAge = r.KeepBytes, r.KeepAge
	calls.RecordAll = &recording.Options{Renew: true}
	if r.KeepBytes > 0 { // several files fit, so removing one leaves others
		calls.RecordAll.MaxBytes = min(recording.DefaultBytes, max(r.KeepBytes/4, 1<<20))
	}
}
