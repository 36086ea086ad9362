package tools

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// maxURLTimeout is the longest timeout that the daemon accepts for one URL of a batch.
const maxURLTimeout = time.Minute

// words returns the keys of a table, sorted.
func words[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }

func count(n int32) string { return strconv.Itoa(int(n)) }
