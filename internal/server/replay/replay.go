// Package replay implements ReplayService. It serves recordings read-only, as if their tabs were live, at any moment of the recording.
//
// A Player has one track for each recording. Its tabs are created by actor.NewRecorded, so that all views, budgets, diffs and formats work
// on them as on live tabs. Each stream plays its own copy (actor.Replica). Callers must call Close.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/domtap/domtap/actor"
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/tabpool"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/recording"
	"github.com/domtap/domtap/internal/server/messages"
)

// Player holds recordings, and the position: the time for calls that name none. Its methods are safe for concurrent use.
type Player struct {
	domtapv1.UnimplementedReplayServiceServer

	tracks       []*track
	start, until time.Time

	mu       sync.Mutex
	position time.Duration
}

// Open opens recordings of different tabs, until ctx ends. The position is set to the end, which shows the last states.
func Open(ctx context.Context, paths ...string) (*Player, error) {
	p := new(Player)
	for _, path := range paths {
		t, err := openTrack(ctx, path)
		if err != nil {
			p.Close()
			return nil, err
		}
		p.tracks = append(p.tracks, t)
	}
	slices.SortStableFunc(p.tracks, func(a, b *track) int { return a.start.Compare(b.start) })
	for i, t := range p.tracks {
		for _, other := range p.tracks[:i] {
			if other.tab == t.tab {
				p.Close()
				return nil, fmt.Errorf("%s and %s both record tab %s: replay one of them at a time", other.path, t.path, t.tab)
			}
		}
		if end := t.start.Add(t.file.Duration()); end.After(p.until) {
			p.until = end
		}
	}
	if len(p.tracks) > 0 {
		p.start = p.tracks[0].start
	}
	p.position = p.until.Sub(p.start)
	return p, nil
}

// Close closes the files.
func (p *Player) Close() {
	for _, t := range p.tracks {
		_ = t.file.Close() // the file was only read
	}
}

// Attach adds the tabs of the recordings to a pool. A recording without a state, which was cut off at its start, has no tab.
func (p *Player) Attach(pool *tabpool.Pool) error {
	for _, t := range p.tracks {
		first, err := t.State(actor.Moment{Time: p.until})
		if apierr.Is(err, apierr.NotFound) {
			continue
		}
		if err == nil {
			t.control, err = tabpool.NewRecorded(pool, first, t)
		}
		if err != nil {
			return fmt.Errorf("replay %s: %w", t.path, err)
		}
	}
	return nil
}

// Timelines calls take with the timeline of each tab. The timeline has the newest version of each entry, ordered by ID.
func (p *Player) Timelines(take func(tab string, entries []*domtapv1.TimelineEntry)) {
	for _, t := range p.tracks {
		take(t.tab, t.entries)
	}
}

// Moment converts the moment of a request. It returns the zero Moment if the request names none.
func (p *Player) Moment(at *domtapv1.Moment) actor.Moment {
	switch when := at.GetWhen().(type) {
	case *domtapv1.Moment_Time:
		return actor.Moment{Time: when.Time.AsTime()}
	case *domtapv1.Moment_Offset:
		return actor.Moment{Time: p.start.Add(when.Offset.AsDuration())}
	case *domtapv1.Moment_Revision:
		return actor.Moment{Revision: when.Revision, Epoch: at.GetEpoch()}
	}
	return actor.Moment{}
}

// track finds the track of a tab.
func (p *Player) track(tab string) (*track, error) {
	for _, t := range p.tracks {
		if t.tab == tab {
			return t, nil
		}
	}
	return nil, tabpool.NoTab(tab)
}

// when returns the time of a moment on a track. The zero Moment means the position.
func (p *Player) when(t *track, at actor.Moment) (time.Duration, error) {
	if at == (actor.Moment{}) {
		p.mu.Lock()
		at.Time = p.start.Add(p.position)
		p.mu.Unlock()
	}
	return t.offset(at)
}

// GetReplay describes the replayed recordings.
func (p *Player) GetReplay(context.Context, *domtapv1.GetReplayRequest) (*domtapv1.GetReplayResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	resp := &domtapv1.GetReplayResponse{Started: timestamppb.New(p.start), Ended: timestamppb.New(p.until), Position: durationpb.New(p.position)}
	for _, t := range p.tracks {
		shift := t.start.Sub(p.start)
		one := &domtapv1.ReplayedTab{Recording: t.message(), First: durationpb.New(shift), Last: durationpb.New(shift + t.file.Duration())}
		for _, gap := range t.file.Missing() {
			one.Missing = append(one.Missing, fmt.Sprintf("%s (after %v)", gap.Why, gap.After.Round(time.Millisecond)))
		}
		for _, at := range t.pictures {
			one.Pictures = append(one.Pictures, durationpb.New(shift+at))
		}
		resp.Tabs = append(resp.Tabs, one)
	}
	return resp, nil
}

// Seek sets the position.
func (p *Player) Seek(_ context.Context, r *domtapv1.SeekRequest) (*domtapv1.SeekResponse, error) {
	at := p.Moment(r.GetAt())
	if at.Revision > 0 {
		t, err := p.track(r.GetTabId())
		if err != nil {
			return nil, err
		}
		d, err := t.offset(at)
		if err != nil {
			return nil, err
		}
		at = actor.Moment{Time: t.start.Add(d)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.position = min(max(0, at.Time.Sub(p.start)), p.until.Sub(p.start))
	now := p.start.Add(p.position)
	for _, t := range p.tracks {
		if t.control == nil {
			continue
		}
		state, err := t.State(actor.Moment{Time: now})
		if apierr.Is(err, apierr.NotFound) {
			state, err = t.State(actor.Moment{Time: t.start.Add(t.states[0].at)})
		}
		if err != nil {
			return nil, err
		}
		t.control.SetCurrent(state)
	}
	return &domtapv1.SeekResponse{Position: durationpb.New(p.position), Time: timestamppb.New(now)}, nil
}

// Recordings describes the recordings, newest first. If tab or session is set, only matching recordings are returned.
func (p *Player) Recordings(tab, session string) []*domtapv1.Recording {
	var out []*domtapv1.Recording
	for _, t := range slices.Backward(p.tracks) {
		if m := t.message(); (tab == "" || m.GetTabId() == tab) && (session == "" || m.GetSessionId() == session) {
			out = append(out, m)
		}
	}
	return out
}

// Picture returns the last picture of a tab before a moment, or else the first one after it. If there is none, it returns an *apierr.Error
// of kind NotFound.
func (p *Player) Picture(tab string, at *domtapv1.Moment) (*recording.Picture, error) {
	t, err := p.track(tab)
	if err != nil {
		return nil, err
	}
	d, err := p.when(t, p.Moment(at))
	if err != nil {
		return nil, err
	}
	if picture := t.file.PictureAt(d); picture != nil {
		return picture, nil
	}
	return nil, apierr.Unknown("picture", "the recording of tab %s has no pictures: read the page as text", tab)
}

// message describes the recording of a track.
func (t *track) message() *domtapv1.Recording {
	h := t.file.Header()
	info := recording.Info{
		ID: h.ID, Tab: h.Tab, Session: h.Session, File: t.path, Started: h.Started, Bytes: t.file.Size(), States: int64(len(t.states)), Pictures: int64(len(t.pictures)),
	}
	info.Ended = t.start.Add(t.file.Duration())
	info.Reason, info.Detail, _ = t.file.Ended()
	return messages.Recording(info)
}

// mark identifies a state of a track and the time at which it was first shown.
type mark struct {
	at       time.Duration
	revision uint64
	epoch    string
}

// compare orders marks by time.
func (m mark) compare(at time.Duration) int { return cmp.Compare(m.at, at) }
