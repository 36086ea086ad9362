package recorder

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/dom"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/server/convert"
	"github.com/domtap/domtap/internal/server/masks"
	"github.com/domtap/domtap/internal/server/timelines"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
	"github.com/domtap/domtap/internal/timeline"
)

const (
	// flushEvery is how long something may wait to be written: a daemon that is killed loses as much.
	flushEvery = time.Second
	// maxBehind is how many revisions are looked up that were missed.
	maxBehind = 256
	// reserve is what a recording may still need when it reaches its bound: its end.
	reserve = 1 << 10
	// beforehand is how old entries of the timeline may be when a recording begins.
	beforehand = 2 * time.Second
)

// take is the recording of one tab.
type take struct {
	tab      *actor.Tab
	options  Options
	timeline *timelines.Tab
	log      *slog.Logger
	file     *os.File
	// begun is closed when the first state is written, or the recording failed; ended when the file is complete.
	begun, ended chan struct{}
	// stopped is closed by stop.
	stopped  chan struct{}
	stopOnce sync.Once

	// writer, last, notice, version and logged are those of run: the newest state, notice, version of the timeline and entry of the
	// log that are written.
	writer          *recording.Writer
	last            actor.Published
	notice          uint64
	version, logged uint64
	// shots delivers pictures; shooting says that one is being taken, shotAt when the last one was begun, and wanted that
	// another one is.
	shots            chan *recording.Picture
	shooting, wanted bool
	shotAt           time.Time
	// pictured is the newest state when the last picture was begun.
	pictured *dom.Snapshot

	mu    sync.Mutex
	known Info
}

// info describes the recording.
func (t *take) info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// note changes what is known of the recording.
func (t *take) note(change func(i *Info)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.known)
	t.known.Bytes = t.writer.Bytes()
}

// stop ends the recording on request.
func (t *take) stop() { t.stopOnce.Do(func() { close(t.stopped) }) }

// end is why a recording ends.
type end struct {
	reason recording.Reason
	detail string
}

// run records until the recording ends, and completes the file.
func (t *take) run(ctx context.Context) {
	working, cancel := context.WithCancel(ctx)
	var shots sync.WaitGroup
	why := t.follow(working, &shots)
	cancel()
	shots.Wait()
	now := time.Now()
	err := errors.Join(t.writer.End(now, why.reason, why.detail), t.file.Sync(), t.file.Close())
	if err != nil && why.reason != recording.ReasonWriteFailed {
		why = end{recording.ReasonWriteFailed, err.Error()}
	}
	t.note(func(i *Info) { i.Ended, i.Reason, i.Detail = now, why.reason, why.detail })
	t.begin()
}

// begin says that the first state is written, or never will be.
func (t *take) begin() {
	select {
	case <-t.begun:
	default:
		close(t.begun)
	}
}

// follow writes what happens until the recording ends.
func (t *take) follow(ctx context.Context, shots *sync.WaitGroup) end {
	following, err := t.tab.Follow(actor.WatchOptions{Structural: true, Notices: true})
	if err != nil {
		return end{recording.ReasonWriteFailed, err.Error()}
	}
	defer following.Release()
	t.notice = t.tab.Head().Notices().Last() // what was noticed before is no news
	t.wanted = true
	age := time.NewTimer(t.options.MaxAge)
	defer age.Stop()
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		head := t.tab.Head()
		more, err := t.take(head)
		if err == nil && first {
			err = t.writer.Flush()
			t.begin()
		}
		switch {
		case err != nil:
			return end{recording.ReasonWriteFailed, err.Error()}
		case head.Info.Status == actor.StatusClosed:
			return t.gone(ctx)
		case t.writer.Bytes() >= t.options.MaxBytes-reserve:
			return end{recording.ReasonLimit, "it has as many bytes as it may"}
		}
		t.shoot(ctx, shots)
		select {
		case <-head.Next():
		case <-more:
		case picture := <-t.shots:
			err = t.picture(picture)
		case <-tick.C:
			err = errors.Join(t.readLog(), t.writer.Flush())
			t.note(func(*Info) {})
		case <-age.C:
			return end{recording.ReasonLimit, "it is as old as it may get"}
		case <-t.stopped:
			if err = t.takeLast(ctx); err == nil {
				return end{recording.ReasonStopped, ""}
			}
		case <-ctx.Done():
			return t.gone(ctx)
		}
		if err != nil {
			return end{recording.ReasonWriteFailed, err.Error()}
		}
	}
}

// takeLast records what is there when the recording is stopped.
func (t *take) takeLast(ctx context.Context) error {
	_, err := t.take(t.tab.Head())
	return errors.Join(err, t.readLog(), t.lastPicture(ctx))
}

// lastPicture adds what was shown when the recording was stopped, unless nothing has changed since the last picture. While a dialog is open, or the page does not
// answer for pictureLimit, there is none.
func (t *take) lastPicture(ctx context.Context) error {
	if t.options.OmitPictures {
		return nil
	}
	if t.shooting {
		if err := t.picture(<-t.shots); err != nil {
			return err
		}
	}
	if t.pictured == t.last.Snapshot {
		return nil
	}
	picture, err := shot(ctx, t.tab)
	if err != nil {
		t.log.Debug("no last picture of a tab that was recorded", "tab", t.tab.ID(), "error", err)
		return nil
	}
	return t.picture(picture)
}

// gone is the end of a recording whose tab or daemon ends.
func (t *take) gone(ctx context.Context) end {
	if ctx.Err() != nil {
		return end{recording.ReasonDaemonStopped, ""}
	}
	<-t.tab.Done() // follows at once on the head that says so
	if err := t.tab.Err(); err != nil {
		return end{recording.ReasonTabGone, masks.Text(err.Error())}
	}
	return end{recording.ReasonTabGone, "the tab was closed"}
}

// take writes a head and what happened; more is closed when more happens.
func (t *take) take(head *actor.Head) (more <-chan struct{}, err error) {
	if err := t.state(head); err != nil {
		return nil, err
	}
	more = t.timeline.Changed()
	t.timeline.Sync()
	news := t.timeline.Read(timeline.Query{AfterVersion: t.version, Only: t.isNews})
	for _, e := range news.Entries {
		if err := t.writer.Timeline(time.Now(), masks.Message(e)); err != nil {
			return nil, err
		}
		t.wanted = t.wanted || shown(e)
	}
	t.version = news.Version
	if t.timeline.Closed() {
		return nil, nil
	}
	return more, nil
}

// isNews reports whether an entry is part of the recording: it began since, or just before, as the call did that opened the tab.
func (t *take) isNews(e *timeline.Entry) bool {
	return e.GetTime().AsTime().After(t.known.Started.Add(-beforehand))
}

// shown reports whether an entry changed what the page shows, so that a picture is due.
func shown(e *domtapv1.TimelineEntry) bool {
	switch e.GetEvent().(type) {
	case *domtapv1.TimelineEntry_Turn:
		return e.GetState() >= domtapv1.TimelineState_TIMELINE_STATE_DONE
	case *domtapv1.TimelineEntry_Navigation:
		return true
	}
	return false
}

// state writes a head, and the revisions before it that were missed.
func (t *take) state(head *actor.Head) error {
	now, was := head.Published(t.notice), t.last.Snapshot
	if was == now.Snapshot && t.last.Info == now.Info && len(now.Noticed) == 0 {
		return nil
	}
	if was != nil && was.Epoch == now.Snapshot.Epoch && now.Snapshot.Revision > was.Revision+1 {
		for r := max(was.Revision+1, now.Snapshot.Revision-min(now.Snapshot.Revision, maxBehind)); r < now.Snapshot.Revision; r++ {
			missed := head.At(r)
			if missed == nil {
				continue
			}
			between := actor.Published{Snapshot: missed, Info: now.Info, Refs: now.Refs}
			between.Info.URL, between.Info.Title, between.Info.Revision = missed.URL, missed.Title, r
			if err := t.write(missed.ObservedAt, between); err != nil {
				return err
			}
		}
	}
	at := now.Snapshot.ObservedAt
	if was == now.Snapshot || was == nil {
		at = time.Now()
	}
	t.notice = head.Notices().Last()
	return t.write(at, now)
}

// write writes a state.
func (t *take) write(at time.Time, now actor.Published) error {
	if err := t.writer.State(at, masks.State(now)); err != nil {
		return err
	}
	t.last = now
	t.note(func(i *Info) { i.States++ })
	return nil
}

// readLog writes what the page has logged since, requests included.
func (t *take) readLog() error {
	for {
		news := t.tab.Log().Read(pagelog.Query{After: t.logged, Max: 1000})
		for _, e := range convert.Log(news).GetEntries() {
			if err := t.writer.Log(time.Now(), masks.Message(e)); err != nil {
				return err
			}
		}
		more := news.Next > t.logged && len(news.Entries) == 1000
		t.logged = news.Next
		if !more {
			return nil
		}
	}
}

// shoot takes a picture beside, if one is wanted and the last one is old enough.
func (t *take) shoot(ctx context.Context, shots *sync.WaitGroup) {
	if t.options.OmitPictures || !t.wanted || t.shooting || time.Since(t.shotAt) < pictureEvery {
		return
	}
	t.wanted, t.shooting, t.shotAt, t.pictured = false, true, time.Now(), t.last.Snapshot
	shots.Go(func() {
		picture, err := shot(ctx, t.tab)
		if err != nil && ctx.Err() == nil && !apierr.Is(err, apierr.DialogOpen) {
			t.log.Debug("no picture of a tab that is recorded", "tab", t.tab.ID(), "error", err)
		}
		t.shots <- picture
	})
}

// picture writes a picture; nil: none could be taken.
func (t *take) picture(p *recording.Picture) error {
	t.shooting = false
	if p == nil {
		return nil
	}
	t.note(func(i *Info) { i.Pictures++ })
	return t.writer.Picture(time.Now(), p)
}
