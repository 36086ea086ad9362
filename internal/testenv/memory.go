package testenv

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Memory returns the sum of fields of /proc/PID/smaps_rollup, such as Pss and SwapPss, in bytes. It returns 0 if the process has ended, and on
// systems other than Linux.
func Memory(pid int, fields ...string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		name, size, _ := strings.Cut(line, ":")
		if slices.Contains(fields, name) {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 64)
			sum += kb * 1024
		}
	}
	return sum
}
