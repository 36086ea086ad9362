package tokens

import (
	"strings"
	"sync"
)

// maxCached limits the length of cached texts, in bytes. It exceeds the length of all lines of package compact.
const maxCached = 1024

// Cache counts like Count and caches the results, because most lines of a page occur repeatedly. A count takes some microseconds; a cached
// count takes a tenth of one. It is safe for concurrent use. Its memory is bounded: it holds the most recently used texts, at most twice
// its limit, of at most 1 KiB each.
type Cache struct {
	limit int

	mu sync.Mutex
	// recent gets new texts. When it has as many as limit allows, it replaces former.
	recent, former map[string]int
}

// NewCache returns an empty cache. A limit below 1 is raised to 1.
func NewCache(limit int) *Cache {
	return &Cache{limit: max(limit, 1), recent: map[string]int{}}
}

// Count returns the same number as the function Count.
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

// remember stores a count. The caller holds the lock.
func (c *Cache) remember(s string, n int) {
	if len(c.recent) >= c.limit {
		c.recent, c.former = make(map[string]int, c.limit), c.recent
	}
	c.recent[strings.Clone(s)] = n // clones s, because it may be a small part of a large text
}
