package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// errNoZygote says that a browser has no process of which its renderers are copies.
var errNoZygote = errors.New("the browser has no zygote")

// nicePages has the renderers of a browser that has just started run with a nice value that is so much above ours, at most 19.
// Renderers are copies of a zygote and inherit its value; those that are there already get it themselves. The other
// processes keep theirs: what renderers say passes through them. A full browser that may raise priorities, as root, sets those of
// its renderers itself: 5 for pages that are not in front.
func nicePages(browser, more int) error {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	nice := min(20-raw+more, 19) // the system call returns 20 minus the nice value
	zygotes := 0
	for _, pid := range processesOf(browser, nil) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		zygote := bytes.Contains(line, []byte("--type=zygote")) && !bytes.Contains(line, []byte("--no-zygote-sandbox"))
		if err != nil || !zygote && !bytes.Contains(line, []byte("--type=renderer")) {
			continue
		}
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, pid, nice); err != nil {
			return fmt.Errorf("setting the nice value of process %d to %d: %w", pid, nice, err)
		}
		if zygote {
			zygotes++
		}
	}
	if zygotes == 0 {
		return errNoZygote
	}
	return nil
}
