package recording

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
	"github.com/domtap/domtap/internal/server/messages"
	timelines "github.com/domtap/domtap/internal/server/timeline"
	"github.com/domtap/domtap/internal/server/timeline/masks"
	"github.com/domtap/domtap/internal/telemetry/pagelog"
	"github.com/domtap/domtap/internal/timeline"
)

const (
	// flushEvery is the interval between two flushes. A daemon that is killed loses at most that much.
	flushEvery = time.Second
	// maxBehind limits how many missed revisions are looked up.
	maxBehind = 256
	// reserve is the space in bytes that a recording keeps for its end record.
	reserve = 1 << 10
	// beforehand is the maximum age of timeline entries at the start of a recording.
	beforehand = 2 * time.Second
)

// tabRecording is the recording of one tab.
type tabRecording struct {
	tab      *actor.Tab
	options  Options
	timeline *timelines.Tab
	log      *slog.Logger
	file     *os.File
	// begun is closed when the first state was written or the recording has failed. ended is closed when the file is complete.
	begun, ended chan struct{}
	// stopped is closed by stop.
	stopped  chan struct{}
	stopOnce sync.Once

	// These fields belong to run. They hold the newest state, notice, timeline version and log entry that were written.
	writer          *recording.Writer
	last            actor.Published
	notice          uint64
	version, logged uint64
	// shots delivers pictures. shooting reports that one is being taken. shotAt is when the last one was started. wanted reports that
	// another one is due.
	shots            chan *recording.Picture
	shooting, wanted bool
	shotAt           time.Time
	// pictured is the newest state at the start of the last picture.
	pictured *dom.Snapshot

	mu    sync.Mutex
	known Info
}

// info describes the recording.
func (t *tabRecording) info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// note changes the description of the recording.
func (t *tabRecording) note(change func(i *Info)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.known)
	t.known.Bytes = t.writer.Bytes()
}

// stop ends the recording on request.
func (t *tabRecording) stop() { t.stopOnce.Do(func() { close(t.stopped) }) }

// end is the reason why a recording ends.
type end struct {
	reason recording.Reason
	detail string
}

// run records until the recording ends, and completes the file.
func (t *tabRecording) run(ctx context.Context) {
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

// begin closes begun, because the first state was written or never will be.
func (t *tabRecording) begin() {
	select {
	case <-t.begun:
	default:
		close(t.begun)
	}
}

// follow writes the tab's changes until the recording ends.
func (t *tabRecording) follow(ctx context.Context, shots *sync.WaitGroup) end {
	following, err := t.tab.Follow(actor.WatchOptions{Structural: true, Notices: true})
	if err != nil {
		return end{recording.ReasonWriteFailed, err.Error()}
	}
	defer following.Release()
	t.notice = t.tab.Head().Notices().Last() // earlier notices are not part of the recording
	t.wanted = true
	age := time.NewTimer(t.options.MaxAge)
	defer age.Stop()
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		head := t.tab.Head()
		more, err := t.writeHead(head)
		if err == nil && first {
			err = t.writer.Flush()
			t.begin()
		}
		switch {
		case err != nil:
			return end{recording.ReasonWriteFailed, err.Error()}
		case head.Info.Status == actor.StatusClosed:
			return t.endReason(ctx)
		case t.writer.Bytes() >= t.options.MaxBytes-reserve:
			return end{recording.ReasonLimit, "it has reached its maximum size"}
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
			return end{recording.ReasonLimit, "it has reached its maximum age"}
		case <-t.stopped:
			if err = t.takeLast(ctx); err == nil {
				return end{recording.ReasonStopped, ""}
			}
		case <-ctx.Done():
			return t.endReason(ctx)
		}
		if err != nil {
			return end{recording.ReasonWriteFailed, err.Error()}
		}
	}
}

// takeLast records the final state when the recording is stopped.
func (t *tabRecording) takeLast(ctx context.Context) error {
	_, err := t.writeHead(t.tab.Head())
	return errors.Join(err, t.readLog(), t.lastPicture(ctx))
}

// lastPicture adds a picture of the final state, unless nothing has changed since the last picture. It adds none while a dialog is open, or
// if the page does not answer within pictureLimit.
func (t *tabRecording) lastPicture(ctx context.Context) error {
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

// endReason returns the end of a recording whose tab or daemon ends.
func (t *tabRecording) endReason(ctx context.Context) end {
	if ctx.Err() != nil {
		return end{recording.ReasonDaemonStopped, ""}
	}
	<-t.tab.Done() // closes immediately after that head
	if err := t.tab.Err(); err != nil {
		return end{recording.ReasonTabGone, masks.Text(err.Error())}
	}
	return end{recording.ReasonTabGone, "the tab was closed"}
}

// writeHead writes a head and new timeline entries. more is closed when there are further entries.
func (t *tabRecording) writeHead(head *actor.Head) (more <-chan struct{}, err error) {
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

// isNews reports whether an entry belongs to the recording. Its time is after the start, or just before it, like the call that opened the
// tab.
func (t *tabRecording) isNews(e *timeline.Entry) bool {
	return e.GetTime().AsTime().After(t.known.Started.Add(-beforehand))
}

// shown reports whether an entry changed what the page shows and thus requires a picture.
func shown(e *domtapv1.TimelineEntry) bool {
	switch e.GetEvent().(type) {
	case *domtapv1.TimelineEntry_Turn:
		return e.GetState() >= domtapv1.TimelineState_TIMELINE_STATE_DONE
	case *domtapv1.TimelineEntry_Navigation:
		return true
	}
	return false
}

// state writes a head, and earlier revisions that were missed.
func (t *tabRecording) state(head *actor.Head) error {
	now, was := head.Published(t.notice), t.last.Snapshot
	if was == now.Snapshot && t.last.Info == now.Info && len(now.Notices) == 0 {
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
func (t *tabRecording) write(at time.Time, now actor.Published) error {
	if err := t.writer.State(at, masks.State(now)); err != nil {
		return err
	}
	t.last = now
	t.note(func(i *Info) { i.States++ })
	return nil
}

// readLog writes new log entries of the page, including requests.
func (t *tabRecording) readLog() error {
	for {
		news := t.tab.Log().Read(pagelog.Query{After: t.logged, Max: 1000})
		for _, e := range messages.Log(news).GetEntries() {
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

// shoot takes a picture concurrently, if one is due and the last one is old enough.
func (t *tabRecording) shoot(ctx context.Context, shots *sync.WaitGroup) {
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

// picture writes a picture. p is nil if the picture failed.
func (t *tabRecording) picture(p *recording.Picture) error {
	t.shooting = false
	if p == nil {
		return nil
	}
	t.note(func(i *Info) { i.Pictures++ })
	return t.writer.Picture(time.Now(), p)
}
