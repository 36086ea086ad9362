package idle

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"
)

// What counts as idle. A daemon that drops memory and is called again reads some of its program from the page
// cache, which takes about a millisecond, so it does that seldom.
const (
	footprintPoll = 5 * time.Second
	// quiet is the processor time that an idle daemon stays below in the time of a poll.
	quiet = 10 * time.Millisecond
	// worth is the processor time after which there is something to drop again.
	worth = 30 * time.Millisecond
)

// footprint gives memory of an idle daemon back to the system: the heap's free memory, and the pages of the
// program's file, which the kernel maps around each address that was ever used and never takes away by itself.
type footprint struct {
	// used returns the processor time of this process.
	used func() (time.Duration, error)
	// drop gives the memory back.
	drop func() error
	log  *slog.Logger
}

// KeepSmall gives memory of this process back to the system whenever the process has worked and is idle again, until ctx ends. It ends early
// where the system cannot say what the process has used, or gives no pages back.
func KeepSmall(ctx context.Context, log *slog.Logger) {
	footprint{used: processorTime, log: log, drop: func() error {
		debug.FreeOSMemory()
		return dropProgramPages()
	}}.keep(ctx)
}

// keep is KeepSmall.
func (f footprint) keep(ctx context.Context) {
	tick := time.NewTicker(footprintPoll)
	defer tick.Stop()
	last, dropped := time.Duration(0), -worth // the start alone is worth it, however little it took
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now, err := f.used()
		if err == nil && now-last < quiet && now-dropped >= worth {
			err = f.drop()
			if err == nil {
				now, err = f.used() // without what dropping took
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
