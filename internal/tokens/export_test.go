package tokens

// Held returns how many texts a cache holds.
func Held(c *Cache) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.recent) + len(c.former)
}

// Holds reports whether a cache holds a text.
func Holds(c *Cache, s string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, recent := c.recent[s]
	_, former := c.former[s]
	return recent || former
}
