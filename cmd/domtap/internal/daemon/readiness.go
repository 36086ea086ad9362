package daemon

import "sync"

// readiness is whether the daemon takes calls about tabs: a browser runs, and the cluster, if there is one, gives this node sessions.
type readiness struct {
	// tell is told each change.
	tell func(ready bool)

	mu              sync.Mutex
	browser, member bool
}

// setBrowser says whether a browser runs.
func (r *readiness) setBrowser(up bool) { r.set(&r.browser, func() bool { return up }) }

func (r *readiness) set(part *bool, now func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*part = now()
	r.tell(r.browser && r.member)
}
