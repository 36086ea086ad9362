package member

import (
	"fmt"
	"os"
	"runtime"
)

// busy returns the machine's load in the last minute, from 0 to 1: the average number of processes that ran or waited to run, per
// processor. It returns 0 if the system does not report its load.
func busy() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		return 0
	}
	return min(load/float64(runtime.NumCPU()), 1)
}
