package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// errNoZygote reports that the browser has no process from which its renderers are forked.
var errNoZygote = errors.New("the browser has no zygote")

// nicePages makes the renderers of a browser that has just started run with our nice value plus increment, at most 19. Renderers are forked
// from a zygote and inherit its value; nicePages also sets the value of existing renderers. Other processes keep their value, because the
// renderers' messages pass through them. A full browser that may raise priorities, as root, sets the nice values of its renderers itself: 5
// for background pages.
func nicePages(browser, increment int) error {
	raw, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	nice := min(20-raw+increment, 19) // the system call returns 20 minus the nice value
	if err := niceAll(browser, nice); err != nil {
		return err
	}
	return niceAll(browser, nice) // a renderer may have been forked before its zygote had the value
}

// niceAll sets the nice value of the zygotes and renderers of a browser.
func niceAll(browser, nice int) error {
	zygotes := 0
	for _, pid := range processesOf(browser, nil) {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		zygote := bytes.Contains(line, []byte("--type=zygote")) && !bytes.Contains(line, []byte("--no-zygote-sandbox"))
		if err != nil || !zygote && !bytes.Contains(line, []byte("--type=renderer")) {
			continue
		}
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, pid, nice); err != nil && !errors.Is(err, syscall.ESRCH) {
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
