package daemon

import "sync"

// readiness tracks whether the daemon accepts calls about tabs: a browser runs, and this node accepts sessions of the cluster, if there is
// one.
type readiness struct {
	// tell is called with each new state.
	tell func(ready bool)

	mu              sync.Mutex
	browser, member bool
}

// setBrowser records whether a browser runs.
func (r *readiness) setBrowser(up bool) { r.set(&r.browser, func() bool { return up }) }

func (r *readiness) set(part *bool, now func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*part = now()
	r.tell(r.browser && r.member)
}
