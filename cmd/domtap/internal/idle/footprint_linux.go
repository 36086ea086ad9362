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

// processorTime returns the processor time of this process.
func processorTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}

// dropProgramPages unmaps the pages of the program's file from this process. They stay in the page cache, and the kernel maps them again on
// use.
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

// droppable returns the mappings of the program that can be read from its file again. They must be read-only, and none of their pages may
// have been written. The loader of a position-independent program writes addresses into pages that later become read-only, and a debugger
// writes breakpoints. Dropping these pages would lose both.
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
		case len(fields) >= 5 && !strings.HasSuffix(fields[0], ":"): // not backed by a file
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

// parseRange parses "start-end", in hexadecimal.
func parseRange(s string) (mapping, bool) {
	from, to, _ := strings.Cut(s, "-")
	start, err := strconv.ParseUint(from, 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
	return mapping{uintptr(start), uintptr(end)}, err == nil && err2 == nil && start < end
}
