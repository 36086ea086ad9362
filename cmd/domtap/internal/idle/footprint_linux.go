package idle

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processorTime returns what this process has used.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// dropProgramPages takes the pages of the program's file out of this process. They stay in the page cache, from
// where the kernel maps those that are used again.
func dropProgramPages() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return err
	}
	for _, m := range droppable(bytes.NewReader(mappings), program) {
		_, _, errno := syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
		if errno != 0 {
			return fmt.Errorf("madvise: %w", errno)
		}
	}
	return nil
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// droppable finds the mappings of the program that can be read from its file again: those that are read-only, and
// of which no page was ever written. The loader of a position-independent program writes addresses into pages that
// become read-only later, and a debugger writes breakpoints; both would be lost.
func droppable(smaps io.Reader, program string) (found []mapping) {
	var at mapping
	candidate := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && !strings.HasSuffix(fields[0], ":"):
			var ok bool
			at, ok = parseRange(fields[0])
			path := strings.Join(fields[5:], " ")
			candidate = ok && path == program && fields[1][0] == 'r' && fields[1][1] == '-'
		case len(fields) >= 5 && !strings.HasSuffix(fields[0], ":"): // of no file
			candidate = false
		case candidate && len(fields) >= 2 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				found = append(found, at)
			}
			candidate = false
		}
	}
	return found
}

// parseRange reads "start-end", in hexadecimal.
func parseRange(s string) (mapping, bool) {
	from, to, _ := strings.Cut(s, "-")
	start, err := strconv.ParseUint(from, 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
	return mapping{uintptr(start), uintptr(end)}, err == nil && err2 == nil && start < end
}
