package tools

import (
	"slices"
	"sync"

	"google.golang.org/grpc"

	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

// Daemon are the services that tools call.
type Daemon struct {
	Tabs    domtapv1.TabServiceClient
	Dom     domtapv1.DomServiceClient
	Actions domtapv1.ActionServiceClient
	Pages   domtapv1.PageServiceClient
}

// NewDaemon makes clients on a connection.
func NewDaemon(conn grpc.ClientConnInterface) *Daemon {
	return &Daemon{
		Tabs:    domtapv1.NewTabServiceClient(conn),
		Dom:     domtapv1.NewDomServiceClient(conn),
		Actions: domtapv1.NewActionServiceClient(conn),
		Pages:   domtapv1.NewPageServiceClient(conn),
	}
}

// Desk is what a session of a model works at: its current tab, the tabs that it opened, and what it was
// shown of them. It may be used from any goroutine.
type Desk struct {
	// ClientID names the session to the daemon, at most 100 characters: what it was shown last is kept under this name.
	ClientID string
	// Session is the browser session that tabs are opened in; empty: the default one.
	Session string

	mu      sync.Mutex
	current string
	opened  []string
	// seen is, for each tab, the newest state that the model was shown in full.
	seen map[string]point
}

// point is a state of a tab.
type point struct {
	epoch    string
	revision uint64
}

// saw notes that the model knows a tab as it was at a revision.
func (d *Desk) saw(id string, at point) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen == nil {
		d.seen = map[string]point{}
	}
	d.seen[id] = at
}

// knows is the newest state of a tab that the model knows, if there is one.
func (d *Desk) knows(id string) (point, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, known := d.seen[id]
	return at, known
}

// learned moves what the model knows of a tab on by a diff that it was told whole.
func (d *Desk) learned(id string, from, to uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, known := d.seen[id]; known && at.revision == from && to > from {
		d.seen[id] = point{at.epoch, to}
	}
}

// Current is the tab that is meant when a call names none; empty: there is none yet.
func (d *Desk) Current() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current
}

// selects makes a tab the current one.
func (d *Desk) selects(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.current = id
}

// opens notes a tab as the session's own.
func (d *Desk) opens(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, id)
}

// lose forgets a tab that is gone. The newest of those that are left is the current one then.
func (d *Desk) lose(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = slices.DeleteFunc(d.opened, func(one string) bool { return one == id })
	delete(d.seen, id)
	if d.current != id {
		return
	}
	d.current = ""
	if n := len(d.opened); n > 0 {
		d.current = d.opened[n-1]
	}
}

// Clear forgets everything and returns the tabs that the session opened.
func (d *Desk) Clear() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	opened := d.opened
	d.opened, d.current, d.seen = nil, "", nil
	return opened
}
