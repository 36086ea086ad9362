//go:build unix

package bench

import (
	"syscall"
	"time"
)

// processorTime returns the processor time of this process.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// waits returns how often a thread of this process has waited.
func waits() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Nvcsw)
}
