package tools

import (
	"slices"
	"sync"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Daemon has the services that tools call.
type Daemon struct {
	Tabs     domtapv1.TabServiceClient
	Dom      domtapv1.DomServiceClient
	Actions  domtapv1.ActionServiceClient
	Pages    domtapv1.PageServiceClient
	Storage  domtapv1.StorageServiceClient
	Search   domtapv1.SearchServiceClient
	Network  domtapv1.NetworkServiceClient
	Timeline domtapv1.TimelineServiceClient
}

// NewDaemon makes clients on a connection.
func NewDaemon(conn grpc.ClientConnInterface) *Daemon {
	return &Daemon{
		Tabs:     domtapv1.NewTabServiceClient(conn),
		Dom:      domtapv1.NewDomServiceClient(conn),
		Actions:  domtapv1.NewActionServiceClient(conn),
		Pages:    domtapv1.NewPageServiceClient(conn),
		Storage:  domtapv1.NewStorageServiceClient(conn),
		Search:   domtapv1.NewSearchServiceClient(conn),
		Network:  domtapv1.NewNetworkServiceClient(conn),
		Timeline: domtapv1.NewTimelineServiceClient(conn),
	}
}

// Session is the state of a model's session: its current tab, the tabs that it opened, and what it has seen of
// them. It may be used from any goroutine.
type Session struct {
	// ClientID names the session to the daemon, at most 100 characters. The daemon keeps the baseline of diffs
	// under this name.
	ClientID string
	// Browser is the browser session in which tabs are opened; empty: the default one.
	Browser string

	mu      sync.Mutex
	current string
	opened  []string
	// seen has, for each tab, the newest state that the model looked at as lines or in detail. What it was shown as
	// DENSE and by actions, the daemon knows.
	seen map[string]point
	// logged has, for each tab, the sequence of the log after which entries are new to the model.
	logged map[string]uint64
}

// point is a state of a tab.
type point struct {
	epoch    string
	revision uint64
}

// setSeen records that the model has seen a tab at a revision.
func (s *Session) setSeen(id string, at point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]point{}
	}
	s.seen[id] = at
}

// lastSeen returns the newest state of a tab that the model has seen.
func (s *Session) lastSeen(id string) (point, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.seen[id]
	return at, known
}

// readLog returns the sequence after which the log of a tab is new to the model.
func (s *Session) readLog(id string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged[id]
}

// setReadLog records up to which sequence the model was shown the log of a tab.
func (s *Session) setReadLog(id string, next uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logged == nil {
		s.logged = map[string]uint64{}
	}
	s.logged[id] = next
}

// Current returns the tab of calls that name none; empty: no tab is open.
func (s *Session) Current() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// setCurrent makes a tab the current one.
func (s *Session) setCurrent(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = id
}

// addOpened records a tab that the session opened.
func (s *Session) addOpened(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = append(s.opened, id)
}

// remove forgets a closed tab. The newest remaining tab of the session becomes the current one.
func (s *Session) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = slices.DeleteFunc(s.opened, func(one string) bool { return one == id })
	delete(s.seen, id)
	delete(s.logged, id)
	if s.current != id {
		return
	}
	s.current = ""
	if n := len(s.opened); n > 0 {
		s.current = s.opened[n-1]
	}
}

// Clear resets the session and returns the tabs that it opened.
func (s *Session) Clear() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	opened := s.opened
	s.opened, s.current, s.seen, s.logged = nil, "", nil, nil
	return opened
}
