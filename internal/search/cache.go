package search

import (
	"container/list"
	"sync"
	"time"
)

// MaxAge limits how long the cache keeps answers.
const MaxAge = 24 * time.Hour

// Limits of the cache. A result costs the bytes of its texts plus resultBytes.
const (
	maxAnswers  = 500
	maxBytes    = 8 << 20
	resultBytes = 256
)

// cacheKey is the cache key of a query. Callers do not share answers, because the age of an answer would reveal the searches of others.
type cacheKey struct {
	owner, provider, text string
	kind                  Kind
	count                 int
}

// cacheEntry is an answer of a provider.
type cacheEntry struct {
	cacheKey
	results []Result
	at      time.Time
	bytes   int
}

// cache holds the newest answers. An answer stays until newer ones need its space or it is MaxAge old.
type cache struct {
	mu sync.Mutex
	// newest holds *answered values, newest first.
	newest list.List
	of     map[cacheKey]*list.Element
	bytes  int
}

func newCache() *cache { return &cache{of: map[cacheKey]*list.Element{}} }

// get returns a cached answer that is at most maxAge old, and its age.
func (c *cache) get(q cacheKey, maxAge time.Duration) (results []Result, age time.Duration, ok bool) {
	if maxAge <= 0 {
		return nil, 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.of[q]
	if !ok {
		return nil, 0, false
	}
	a := at.Value.(*cacheEntry)
	if age = time.Since(a.at); age > min(maxAge, MaxAge) {
		return nil, 0, false
	}
	return a.results, age, true
}

// put stores an answer and replaces an earlier one. The caller must not modify the results afterwards.
func (c *cache) put(q cacheKey, results []Result) {
	a := &cacheEntry{cacheKey: q, results: results, at: time.Now(), bytes: len(q.text) + resultBytes}
	for _, r := range results {
		a.bytes += resultBytes + len(r.Title) + len(r.URL) + len(r.Host) + len(r.Text) + len(r.Date) + len(r.Source) + len(r.ImageURL) +
			len(r.Price) + len(r.Address) + len(r.Phone)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.of[q]; ok {
		c.remove(before)
	}
	c.of[q], c.bytes = c.newest.PushFront(a), c.bytes+a.bytes
	for last := c.newest.Back(); last != nil && c.isOver(last.Value.(*cacheEntry)); last = c.newest.Back() {
		c.remove(last)
	}
}

// isOver reports whether the oldest answer must be evicted.
func (c *cache) isOver(oldest *cacheEntry) bool {
	return c.newest.Len() > maxAnswers || c.bytes > maxBytes || time.Since(oldest.at) > MaxAge
}

func (c *cache) remove(at *list.Element) {
	a := c.newest.Remove(at).(*cacheEntry)
	delete(c.of, a.cacheKey)
	c.bytes -= a.bytes
}
