package tabpool

import (
	"slices"
	"sync"
)

// maxNoPopups bounds how many pages are remembered whose popups are closed. The browser reports a
// popup within moments, also when the page that opened it is gone by then.
const maxNoPopups = 1000

// noPopups are the browser's names of the pages whose popups are closed at once, the newest last. It
// has a lock of its own, because pages are added while the pool's lock is free.
type noPopups struct {
	mu    sync.Mutex
	pages []string
}

func (n *noPopups) add(page string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pages = append(n.pages[max(0, len(n.pages)-maxNoPopups+1):], page)
}

func (n *noPopups) has(page string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.pages, page)
}
