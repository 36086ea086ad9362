package tools

import (
	"strconv"
	"time"
)

// maxURLTimeout is the maximum timeout that the daemon accepts for one URL of a batch.
const maxURLTimeout = time.Minute

func count(n int32) string { return strconv.Itoa(int(n)) }
