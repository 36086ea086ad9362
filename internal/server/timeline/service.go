package timeline

import (
	"context"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/actor/apierr"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/server/rpc/authz"
	"github.com/domtap/domtap/internal/server/rpc/identity"
	"github.com/domtap/domtap/internal/server/rpc/streaming"
	"github.com/domtap/domtap/internal/timeline"
)

const (
	// defaultTimeline is the default number of entries that GetTimeline returns. maxMessage limits the entries in a message of
	// WatchTimeline.
	defaultTimeline = 100
	maxMessage      = 200
	// pace is the minimum time between two messages of WatchTimeline. It bounds the cost of a page that floods its console.
	pace = 50 * time.Millisecond
)

// Service implements TimelineService. Its fields must be set, unless they may be nil.
type Service struct {
	domtapv1.UnimplementedTimelineServiceServer
	// Access provides the only access to tabs and sessions.
	Access *authz.Access
	// Timelines holds the timelines of the tabs and the pauses of clients.
	Timelines *Timelines
	// Streams serves WatchTimeline.
	Streams *streaming.Streams
}

// GetTimeline returns entries of a tab's timeline.
func (s *Service) GetTimeline(ctx context.Context, r *domtapv1.GetTimelineRequest) (*domtapv1.GetTimelineResponse, error) {
	who := identity.From(ctx)
	tab, err := s.Timelines.Of(who, r.GetTabId())
	if err != nil {
		return nil, err
	}
	closed := tab.Closed()
	tab.Sync()
	query := timeline.Query{AfterID: r.GetAfterId(), BeforeID: r.GetBeforeId(), Max: defaultTimeline, Only: selected(r)}
	if r.Limit != nil {
		query.Max = int(r.GetLimit())
	}
	got := tab.Read(query)
	return &domtapv1.GetTimelineResponse{
		Entries: ownEntries(who, got.Entries), Version: got.Version, More: got.More, Dropped: got.Dropped, Closed: closed,
		Clients: s.clients(tab, got.Users), TakenOverBy: s.Timelines.TakenOverBy(tab),
	}, nil
}

// selected returns a filter for the entries that a request selects. Nil selects all entries.
func selected(r interface {
	GetKinds() []domtapv1.TimelineKind
	GetClient() string
}) func(*timeline.Entry) bool {
	if len(r.GetKinds()) == 0 && r.GetClient() == "" {
		return nil
	}
	return func(e *timeline.Entry) bool {
		return (len(r.GetKinds()) == 0 || slices.Contains(r.GetKinds(), timeline.KindOf(e))) && (r.GetClient() == "" || e.GetClient() == r.GetClient())
	}
}

// ownEntries copies the entries for a client with a name prefix, because the answer's session names are rewritten in place.
func ownEntries(who identity.Principal, entries []*timeline.Entry) []*timeline.Entry {
	if who.Prefix() == "" {
		return entries
	}
	out := make([]*timeline.Entry, len(entries))
	for i, e := range entries {
		out[i] = timeline.Copy(e)
	}
	return out
}

// clients returns the clients of a tab and marks the paused ones.
func (s *Service) clients(tab *Tab, users []*domtapv1.TimelineClient) []*domtapv1.TimelineClient {
	for i, u := range users {
		if u.GetClient() != "" && s.Timelines.Holds(tab, u.GetClient()) {
			users[i] = proto.CloneOf(u)
			users[i].Paused = true
		}
	}
	return users
}

// WatchTimeline streams entries as they are added or changed.
func (s *Service) WatchTimeline(r *domtapv1.WatchTimelineRequest, stream grpc.ServerStreamingServer[domtapv1.WatchTimelineResponse]) error {
	tab, err := s.Timelines.Of(identity.From(stream.Context()), r.GetTabId())
	if err != nil {
		return err
	}
	out := s.Streams.Sender(stream)
	return out.Run(func() error { return s.follow(stream.Context(), tab, r, out) })
}

// follow sends new entries until the tab or the stream ends.
func (s *Service) follow(ctx context.Context, tab *Tab, r *domtapv1.WatchTimelineRequest, out *streaming.Sender) error {
	who, query := identity.From(ctx), timeline.Query{AfterVersion: r.GetAfterVersion(), Only: selected(r)}
	if err := out.Accept(); err != nil {
		return err
	}
	for first := true; ; first = false {
		changed, closed := tab.Changed(), tab.Closed()
		tab.Sync()
		got := tab.Read(query)
		reset := first && query.AfterVersion > got.Version
		if reset {
			query.AfterVersion = 0
			got = tab.Read(query)
		}
		for part := range slices.Chunk(ownEntries(who, got.Entries), maxMessage) {
			m := &domtapv1.WatchTimelineResponse{Entries: part, Version: query.AfterVersion, Reset_: reset, Dropped: got.Dropped}
			if got.Entries = got.Entries[len(part):]; len(got.Entries) == 0 {
				m.Version = got.Version
			}
			m.Clients, m.TakenOverBy = s.clients(tab, slices.Clone(got.Users)), s.Timelines.TakenOverBy(tab)
			if err := out.Send(m); err != nil {
				return err
			}
			reset = false
		}
		query.AfterVersion = got.Version
		if closed {
			return apierr.Errorf(apierr.Closed, "the tab was closed: GetTimeline returns its timeline for 10 minutes")
		}
		if err := next(ctx, changed); err != nil {
			return err
		}
	}
}

// next waits for a change, and then for pace, so that one message can carry several changes.
func next(ctx context.Context, changed <-chan struct{}) error {
	select {
	case <-changed:
	case <-ctx.Done():
		return ctx.Err()
	}
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// place is implemented by requests that name a tab or a session.
type place interface {
	GetTabId() string
	GetSessionId() string
}

// at resolves a request's tab or session. For a tab it returns the tab's timeline, otherwise the daemon's name for the session.
func (s *Service) at(ctx context.Context, r place) (tab *Tab, session string, err error) {
	if r.GetTabId() == "" {
		session, err = s.Access.Session(ctx, r.GetSessionId())
		return nil, session, err
	}
	if tab, err = s.Timelines.Of(identity.From(ctx), r.GetTabId()); err == nil && tab.Closed() {
		err = apierr.Errorf(apierr.Closed, "the tab was closed: pause the client in another tab, or in the session")
	}
	return tab, "", err
}

// PauseClient pauses a client.
func (s *Service) PauseClient(ctx context.Context, r *domtapv1.PauseClientRequest) (*domtapv1.PauseClientResponse, error) {
	_, session, err := s.at(ctx, r)
	if err != nil {
		return nil, err
	}
	one := &domtapv1.Pause{
		TabId: r.GetTabId(), SessionId: session, Client: r.GetClient(), Reason: r.GetReason(), Mode: r.GetMode(), By: Client(ctx, r),
	}
	if err := s.Timelines.Pause(identity.From(ctx), one); err != nil {
		return nil, err
	}
	return &domtapv1.PauseClientResponse{Pause: proto.CloneOf(one)}, nil
}

// ResumeClient ends the pause of a client.
func (s *Service) ResumeClient(ctx context.Context, r *domtapv1.ResumeClientRequest) (*domtapv1.ResumeClientResponse, error) {
	_, session, err := s.at(ctx, r)
	if err != nil {
		return nil, err
	}
	ended, err := s.Timelines.Resume(identity.From(ctx), r.GetTabId(), session, r.GetClient(), Client(ctx, r))
	if err != nil {
		return nil, err
	}
	return &domtapv1.ResumeClientResponse{Pause: proto.CloneOf(ended)}, nil
}

// TakeOver pauses all clients of a tab except the caller.
func (s *Service) TakeOver(ctx context.Context, r *domtapv1.TakeOverRequest) (*domtapv1.TakeOverResponse, error) {
	if _, err := s.Access.Tab(ctx, r.GetTabId()); err != nil {
		return nil, err
	}
	one := &domtapv1.Pause{TabId: r.GetTabId(), Reason: r.GetReason(), Mode: r.GetMode(), By: Client(ctx, r)}
	if err := s.Timelines.Pause(identity.From(ctx), one); err != nil {
		return nil, err
	}
	return &domtapv1.TakeOverResponse{Pause: proto.CloneOf(one)}, nil
}

// HandBack ends a TakeOver.
func (s *Service) HandBack(ctx context.Context, r *domtapv1.HandBackRequest) (*domtapv1.HandBackResponse, error) {
	if _, err := s.Access.Tab(ctx, r.GetTabId()); err != nil {
		return nil, err
	}
	ended, err := s.Timelines.Resume(identity.From(ctx), r.GetTabId(), "", "", Client(ctx, r))
	if err != nil {
		return nil, err
	}
	return &domtapv1.HandBackResponse{Pause: proto.CloneOf(ended)}, nil
}

// ListPauses lists the pauses in effect.
func (s *Service) ListPauses(ctx context.Context, r *domtapv1.ListPausesRequest) (*domtapv1.ListPausesResponse, error) {
	tab, session, err := s.at(ctx, r)
	if err != nil {
		return nil, err
	}
	return &domtapv1.ListPausesResponse{Pauses: s.Timelines.Pauses(tab, session)}, nil
}
