package idle

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// Thresholds of an idle daemon. After memory was dropped, the next call reads part of the program from the page cache, which takes about a
// millisecond. Therefore memory is dropped rarely.
const (
	footprintPoll = 5 * time.Second
	// idleUse is the maximum processor time that an idle daemon uses between two polls.
	idleUse = 10 * time.Millisecond
	// minUse is the processor time after which dropping memory is worthwhile again.
	minUse = 30 * time.Millisecond
)

// releaser returns memory of an idle daemon to the system: the heap's free memory, and the pages of the program's file. The kernel maps
// these pages around each address used, and never unmaps them by itself.
type releaser struct {
	// used returns the processor time of this process.
	used func() (time.Duration, error)
	// drop returns the memory to the system.
	drop func() error
	log  *slog.Logger
}

// ReleaseMemory returns memory of this process to the system whenever the process has worked and is idle again, until ctx ends. It returns
// early if the system does not report processor time or cannot drop pages.
func ReleaseMemory(ctx context.Context, log *slog.Logger) {
	releaser{used: processorTime, log: log, drop: func() error {
		debug.FreeOSMemory()
		return dropProgramPages()
	}}.keep(ctx)
}

// keep implements ReleaseMemory.
func (f releaser) keep(ctx context.Context) {
	tick := time.NewTicker(footprintPoll)
	defer tick.Stop()
	last, dropped := time.Duration(0), -minUse // always drop after the start, however little time it took
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now, err := f.used()
		if err == nil && now-last < idleUse && now-dropped >= minUse {
			err = f.drop()
			if err == nil {
				now, err = f.used() // excludes the time of dropping
			}
			dropped = now
		}
		if err != nil {
			f.log.Debug("the memory of the idle daemon stays", "error", err)
			return
		}
		last = now
	}
}
