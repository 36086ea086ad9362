package actor

import (
	"slices"
	"sync"
)

// maxLoners bounds how many pages are remembered whose popups are closed. The browser tells of a popup within
// moments, also when the page that opened it is gone by then.
const maxLoners = 1000

// loners are the pages that may open no others, the newest last.
type loners struct {
	mu    sync.Mutex
	pages []string
}

func (l *loners) add(page string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pages = append(l.pages[max(0, len(l.pages)-maxLoners+1):], page)
}

func (l *loners) has(page string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.pages, page)
}
