package tokens

import (
	"strings"
	"sync"
)

// maxCached is the longest text that a Cache remembers, in bytes: more than any line of package compact.
const maxCached = 1024

// Cache counts like Count and caches the results, since most lines of a page come again: a count takes some
// microseconds, a cached line a tenth of one. It may be used from any goroutine. Its memory is bounded: it
// holds the texts that were asked for last, at most twice its limit, of at most 1 KiB each.
type Cache struct {
	limit int

	mu sync.Mutex
	// recent grows up to limit texts; then it replaces former.
	recent, former map[string]int
}

// NewCache returns an empty cache. The limit is at least 1.
func NewCache(limit int) *Cache {
	return &Cache{limit: max(limit, 1), recent: map[string]int{}}
}

// Count returns what Count returns for s.
func (c *Cache) Count(s string) int {
	if len(s) > maxCached {
		return Count(s)
	}
	if n, ok := c.recall(s); ok {
		return n
	}
	n := Count(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(s, n)
	return n
}

func (c *Cache) recall(s string) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.recent[s]; ok {
		return n, true
	}
	n, ok := c.former[s]
	if ok {
		c.remember(s, n)
	}
	return n, ok
}

// remember is called with the lock held.
func (c *Cache) remember(s string, n int) {
	if len(c.recent) >= c.limit {
		c.recent, c.former = make(map[string]int, c.limit), c.recent
	}
	c.recent[strings.Clone(s)] = n // s may be a small part of a large text
}
