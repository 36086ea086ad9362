package readcmd

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const (
	// longestWait is the longest timeout that the daemon accepts for one call.
	longestWait = 5 * time.Minute
	// lastChanges is how long a watch continues after its condition is met, to print the changes that met it.
	lastChanges = 250 * time.Millisecond
)

// runUntil prints the changes of a page until the page meets the conditions of --until.
func (w *watcher) runUntil(ctx context.Context, c *cli.Client, view *viewFlags, limit time.Duration) error {
	until, err := parseUntil(w.until)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	stream, err := w.open(watching, c, view)
	if err != nil {
		stop()
		return err
	}
	changes, met := make(chan received), make(chan error, 1)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { receive(watching, stream, changes) })
	running.Go(func() { met <- waitUntil(watching, c, until, limit) })
	return w.printUntil(ctx, changes, met)
}

// received is one message of a stream, or its end.
type received struct {
	message *domtapv1.WatchDomResponse
	err     error
}

func receive(ctx context.Context, stream domtapv1.DomService_WatchDomClient, out chan<- received) {
	defer close(out)
	for {
		m, err := stream.Recv()
		select {
		case out <- received{m, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// waitUntil waits for a condition. It makes several calls if the limit exceeds the timeout of one call.
func waitUntil(ctx context.Context, c *cli.Client, until *domtapv1.WaitCondition, limit time.Duration) error {
	timeout := longestWait
	if limit > 0 {
		timeout = min(limit, longestWait)
	}
	for {
		_, err := c.DOM.WaitFor(ctx, &domtapv1.WaitForRequest{TabId: c.Tab, Until: until, Timeout: durationpb.New(timeout)})
		if err == nil || timeout == limit || !isWaitTimeout(err) {
			return err
		}
	}
}

// isWaitTimeout reports whether a wait timed out.
func isWaitTimeout(err error) bool {
	for _, detail := range status.Convert(err).Details() {
		if i, ok := detail.(*errdetails.ErrorInfo); ok && i.GetReason() == "WAIT_TIMEOUT" {
			return true
		}
	}
	return false
}

// printUntil prints changes until the condition is met, --count is reached, or the stream or the wait ends with an error.
func (w *watcher) printUntil(ctx context.Context, changes <-chan received, met <-chan error) error {
	var over <-chan time.Time
	for w.count == 0 || w.seen < w.count {
		select {
		case err := <-met:
			switch {
			case err == nil:
				over = time.After(lastChanges)
			case errors.Is(ctx.Err(), context.Canceled): // Ctrl-C
				return nil
			case status.Code(err) == codes.Aborted || status.Code(err) == codes.Unavailable:
				met = nil // the end of the stream has the reason
			default:
				return err
			}
		case r, ok := <-changes:
			switch {
			case !ok:
				return w.endedBefore(ctx, ctx.Err())
			case r.err != nil && over != nil:
				return nil
			case r.err != nil:
				return w.endedBefore(ctx, r.err)
			}
			if err := w.print(r.message); err != nil {
				return err
			}
		case <-over:
			return nil
		}
	}
	return nil
}

// endedBefore returns the error of a stream that ended before the condition was met.
func (w *watcher) endedBefore(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil
	case errors.Is(err, io.EOF):
		return exit.Errorf(exit.NotFound, "", "the tab was closed before the condition of --until held")
	case exit.IsTimeUp(ctx, err):
		return exit.Errorf(exit.Timeout, "use a longer --timeout", "timed out before the condition of --until held")
	}
	return err
}
