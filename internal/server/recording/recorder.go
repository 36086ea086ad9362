// Package recording implements RecordingService, and records tabs to files.
//
// A Recorder knows which tabs to record, and runs one goroutine for each recorded tab. Like a stream, that goroutine is a cursor on the
// heads of the tab, so it never delays the tab. If it falls behind, it reads the revisions that the tab still has. An error of a file ends
// only its own recording.
//
// Callers must call Close, which ends all recordings and waits for them.
package recording

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/timeline"
)

const (
	// Extension is the file name extension of recordings.
	Extension = ".domtap"
	// maxRunning limits the concurrent recordings.
	maxRunning = 500
	// maxEnded limits the ended recordings that are remembered.
	maxEnded = 200
	// DefaultBytes and DefaultAge are the default limits of a tab's recording.
	DefaultBytes = 256 << 20
	DefaultAge   = 24 * time.Hour
)

// Config configures a Recorder.
type Config struct {
	// Dir is the directory of the files. It is created when needed.
	Dir string
	// KeepBytes and KeepAge limit the ended recordings kept in Dir. If all files together are larger than KeepBytes, the oldest ended
	// recordings are removed; recordings that ended longer than KeepAge ago are removed too. Zero means no limit.
	KeepBytes int64
	KeepAge   time.Duration
	// Program is the version of domtap.
	Program string
	// Timelines holds the timelines of the tabs.
	Timelines *timeline.Timelines
	Logger    *slog.Logger
}

// Options configure a recording.
type Options struct {
	// MaxBytes and MaxAge end the recording of a tab when reached. Zero means DefaultBytes and DefaultAge.
	MaxBytes int64
	MaxAge   time.Duration
	// OmitPictures disables pictures.
	OmitPictures bool
	// Renew starts another recording of a tab when one has reached a limit.
	Renew bool
}

// Scope selects tabs or recordings. It is limited to sessions for which Owns returns true.
type Scope struct {
	// ID selects a recording, Tab and Session select tabs. At most one may be set. If none is set, everything is selected.
	ID, Tab, Session string
	Owns             func(session string) bool
}

// AllTabs returns the scope of all tabs of all owners.
func AllTabs() Scope { return Scope{Owns: func(string) bool { return true }} }

// has reports whether the scope contains a tab.
func (s Scope) has(tab, session string) bool {
	return s.Owns(session) && (s.Tab == "" || s.Tab == tab) && (s.Session == "" || s.Session == session)
}

// Info describes a recording.
type Info = recording.Info

// rule selects tabs to record when they are opened.
type rule struct {
	scope   Scope
	owner   string
	options Options
}

// Recorder records tabs. Its methods are safe for concurrent use.
type Recorder struct {
	cfg  Config
	pool *tabpool.Pool
	ctx  context.Context
	end  context.CancelFunc
	// work counts the goroutines.
	work  sync.WaitGroup
	watch sync.Once

	mu      sync.Mutex
	closed  bool
	rules   []rule
	running map[string]*tabRecording // keyed by tab
	ended   []Info                   // oldest first
}

// New returns a Recorder for the tabs of a pool. It runs until ctx ends or Close is called.
func New(ctx context.Context, pool *tabpool.Pool, cfg Config) *Recorder {
	r := &Recorder{cfg: cfg, pool: pool, running: map[string]*tabRecording{}}
	r.ctx, r.end = context.WithCancel(ctx)
	return r
}

// Close ends all recordings. It returns when their files are complete.
func (r *Recorder) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.end()
	r.work.Wait()
}

// Record records the open tabs of a scope for an owner, and tabs of the scope that are opened later. It returns the recordings of the open
// tabs after their first states were written. It returns an *apierr.Error of kind Exhausted if there are too many recordings, and of kind
// Recording if a file cannot be created.
func (r *Recorder) Record(ctx context.Context, s Scope, owner string, o Options) ([]Info, error) {
	o.MaxBytes, o.MaxAge = cmp.Or(o.MaxBytes, DefaultBytes), cmp.Or(o.MaxAge, DefaultAge)
	if s.Tab == "" {
		r.mu.Lock()
		r.rules = slices.DeleteFunc(r.rules, func(other rule) bool { return other.owner == owner && other.scope.Session == s.Session })
		r.rules = append(r.rules, rule{s, owner, o})
		r.mu.Unlock()
		r.watch.Do(func() { r.work.Go(r.watchTabs) })
	}
	var out []Info
	for _, tab := range r.pool.Tabs() {
		if !s.has(tab.ID(), tab.Session()) {
			continue
		}
		t, err := r.start(tab, o)
		if err != nil {
			return out, err
		}
		select {
		case <-t.begun:
			out = append(out, t.info())
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
	return out, nil
}

// watchTabs records newly opened tabs until the Recorder ends.
func (r *Recorder) watchTabs() {
	for r.ctx.Err() == nil {
		watch := r.pool.Watch()
		for {
			event, err := watch.Next(r.ctx)
			if err != nil {
				if apierr.Is(err, apierr.Lost) {
					watch.Stop()
					return
				}
				break // the watch fell too far behind; a new one starts with all tabs
			}
			if event.Kind == actor.TabOpened {
				r.opened(event.Info)
			}
		}
		watch.Stop()
	}
}

// opened records a tab if a rule selects it.
func (r *Recorder) opened(info actor.Info) {
	r.mu.Lock()
	i := slices.IndexFunc(r.rules, func(one rule) bool { return one.scope.has(info.ID, info.Session) })
	if i < 0 {
		r.mu.Unlock()
		return
	}
	o := r.rules[i].options
	r.mu.Unlock()
	tab, err := r.pool.Tab(info.ID)
	if err == nil {
		_, err = r.start(tab, o)
	}
	if err != nil && r.ctx.Err() == nil {
		r.cfg.Logger.Warn("a tab is not recorded", "tab", info.ID, "error", err)
	}
}

// start starts the recording of a tab, or returns the running one.
func (r *Recorder) start(tab *actor.Tab, o Options) (*tabRecording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, apierr.Errorf(apierr.Lost, "the daemon is stopping: connect again later")
	}
	if t := r.running[tab.ID()]; t != nil {
		return t, nil
	}
	if len(r.running) >= maxRunning {
		return nil, apierr.Exceeded("recordings", maxRunning, "%d tabs are being recorded: stop a recording first", maxRunning)
	}
	t, err := r.create(tab, o)
	if err != nil {
		return nil, &apierr.Error{Kind: apierr.Recording, Message: "the tab cannot be recorded: check that the daemon can write to the directory of recordings and that its disk has space", Err: err}
	}
	r.running[tab.ID()] = t
	r.work.Go(func() { r.run(t) })
	return t, nil
}

// create creates the file of a recording.
func (r *Recorder) create(tab *actor.Tab, o Options) (*tabRecording, error) {
	if err := os.MkdirAll(r.cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	t := &tabRecording{
		tab: tab, options: o, log: r.cfg.Logger, begun: make(chan struct{}), ended: make(chan struct{}), stopped: make(chan struct{}),
		shots: make(chan *recording.Picture, 1),
	}
	var err error
	if t.timeline, err = r.cfg.Timelines.Of(identity.Operator(), tab.ID()); err != nil {
		return nil, err
	}
	t.known = Info{ID: strings.ToLower(rand.Text()[:10]), Tab: tab.ID(), Session: tab.Session(), Started: time.Now()}
	name := t.known.Started.UTC().Format("20060102-150405") + "-" + t.known.Tab + "-" + t.known.ID + Extension
	t.known.File = filepath.Join(r.cfg.Dir, name)
	file, err := os.OpenFile(t.known.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	t.file = file
	t.writer, err = recording.NewWriter(file, recording.Header{
		ID: t.known.ID, Tab: t.known.Tab, Session: t.known.Session, Started: t.known.Started, Program: r.cfg.Program,
	})
	if err != nil {
		_ = file.Close() // the error of the writer is more helpful
		_ = os.Remove(t.known.File)
		return nil, err
	}
	return t, nil
}

// run is the goroutine of a recording.
func (r *Recorder) run(t *tabRecording) {
	t.run(r.ctx)
	info := t.info()
	r.mu.Lock()
	delete(r.running, info.Tab)
	r.ended = append(r.ended, info)
	if len(r.ended) > maxEnded {
		r.ended = slices.Delete(r.ended, 0, len(r.ended)-maxEnded)
	}
	r.mu.Unlock()
	close(t.ended)
	level := slog.LevelInfo
	if info.Reason == recording.ReasonWriteFailed {
		level = slog.LevelWarn
	}
	r.cfg.Logger.Log(r.ctx, level, "a recording ended", "tab", info.Tab, "file", info.File, "bytes", info.Bytes, "reason", info.Reason, "detail", info.Detail)
	r.prune()
	if t.options.Renew && info.Reason == recording.ReasonLimit {
		if _, err := r.start(t.tab, t.options); err != nil && r.ctx.Err() == nil {
			r.cfg.Logger.Warn("a tab is no longer recorded", "tab", info.Tab, "error", err)
		}
	}
}

// Stop ends the recordings of a scope. It returns them when their files are complete.
func (r *Recorder) Stop(ctx context.Context, s Scope, owner string) ([]Info, error) {
	r.mu.Lock()
	if s.ID == "" && s.Tab == "" {
		r.rules = slices.DeleteFunc(r.rules, func(one rule) bool {
			return one.owner == owner && (s.Session == "" || one.scope.Session == s.Session)
		})
	}
	var ending []*tabRecording
	for tab, t := range r.running {
		if s.has(tab, t.known.Session) && (s.ID == "" || s.ID == t.known.ID) {
			ending = append(ending, t)
		}
	}
	r.mu.Unlock()
	var out []Info
	for _, t := range ending {
		t.stop() // all concurrently, because each may take a last picture
	}
	for _, t := range ending {
		select {
		case <-t.ended:
			out = append(out, t.info())
		case <-ctx.Done():
			return out, context.Cause(ctx)
		}
	}
	if len(out) == 0 && (s.ID != "" || s.Tab != "") {
		return nil, apierr.Unknown("recording", "nothing is being recorded under that name: list the recordings (domtap record list)")
	}
	newestFirst(out)
	return out, nil
}

// List lists the recordings of a scope, newest first.
func (r *Recorder) List(s Scope) []Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Info
	for _, t := range r.running {
		out = append(out, t.info())
	}
	for _, one := range slices.Backward(r.ended) {
		out = append(out, one)
	}
	out = slices.DeleteFunc(out, func(i Info) bool { return !s.has(i.Tab, i.Session) })
	newestFirst(out)
	return out
}

func newestFirst(all []Info) {
	slices.SortStableFunc(all, func(a, b Info) int { return b.Started.Compare(a.Started) })
}

// prune removes ended recordings as configured by KeepBytes and KeepAge.
func (r *Recorder) prune() {
	if r.cfg.KeepBytes == 0 && r.cfg.KeepAge == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	busy := map[string]bool{}
	for _, t := range r.running {
		busy[t.known.File] = true
	}
	entries, err := os.ReadDir(r.cfg.Dir)
	if err != nil {
		r.cfg.Logger.Warn("recordings cannot be removed", "error", err)
		return
	}
	var kept int64
	for _, e := range slices.Backward(entries) { // their names start with the start time
		info, err := e.Info()
		path := filepath.Join(r.cfg.Dir, e.Name())
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(path) != Extension {
			continue
		}
		kept += info.Size()
		old := r.cfg.KeepAge > 0 && time.Since(info.ModTime()) > r.cfg.KeepAge
		if busy[path] || !old && (r.cfg.KeepBytes == 0 || kept <= r.cfg.KeepBytes) {
			continue
		}
		if err := os.Remove(path); err != nil {
			r.cfg.Logger.Warn("a recording cannot be removed", "file", path, "error", err)
			continue
		}
		kept -= info.Size()
	}
}
