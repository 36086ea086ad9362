package tabpool

import (
	"slices"
	"sync"
)

// maxBlocked limits how many pages are remembered whose popups are closed. The browser reports a popup soon, even if the page that opened
// it is gone.
const maxBlocked = 1000

// popupBlocklist holds the browser's IDs of the pages whose popups are closed immediately, newest last. It has its own lock, because pages
// are added while the pool's lock is not held.
type popupBlocklist struct {
	mu    sync.Mutex
	pages []string
}

func (n *popupBlocklist) add(page string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pages = append(n.pages[max(0, len(n.pages)-maxBlocked+1):], page)
}

func (n *popupBlocklist) has(page string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.pages, page)
}
