package member

import (
	"fmt"
	"os"
	"runtime"
)

// busy is how much of the machine's processor time was used in the last minute, 0 to 1: the processes that ran or wanted to, for each
// processor. It is 0 where the system does not say.
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
