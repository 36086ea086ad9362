package tools

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// longestEach is what the daemon takes as a timeout for one URL of a batch.
const longestEach = time.Minute

// words are the keys of a table, in order.
func words[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }

func count(n int32) string { return strconv.Itoa(int(n)) }
