//go:build unix

package peers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/domtap/domtap/bench/peers/report"
)

// markerPrefix begins a variable that all processes of a program inherit, so that those that leave their group are found, too.
const markerPrefix = "DOMTAP_PEERS_RUN="

// cleanEnviron is the environment without what would tell the programs something about this machine's user.
func cleanEnviron() []string {
	var env []string
	for _, line := range os.Environ() {
		name, _, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(name, "DOMTAP_"), strings.HasPrefix(name, "AGENT_BROWSER_"), strings.HasPrefix(name, "PLAYWRIGHT_"),
			strings.HasPrefix(name, "CHROME_DEVTOOLS_MCP_"), strings.HasPrefix(name, "XDG_"), name == "HOME", name == "DISPLAY":
		default:
			env = append(env, line)
		}
	}
	return env
}

// processes lists the running processes with the marker and those that they have started. Linux only; elsewhere there are none.
func processes(marker string) []int {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	children := map[int][]int{}
	var found []int
	known := map[int]bool{}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		parent, state := parentOf(pid)
		if state == "" || state == "Z" {
			continue
		}
		children[parent] = append(children[parent], pid)
		if env, err := os.ReadFile(path + "/environ"); err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+marker+"\x00")) {
			found, known[pid] = append(found, pid), true
		}
	}
	for i := 0; i < len(found); i++ {
		for _, child := range children[found[i]] {
			if !known[child] {
				found, known[child] = append(found, child), true
			}
		}
	}
	return found
}

// parentOf is the parent of a process and its state (proc_pid_stat(5)); an empty state when it is gone.
func parentOf(pid int) (int, string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	after := bytes.LastIndexByte(text, ')') // the name in parentheses may hold spaces and parentheses
	if err != nil || after < 0 {
		return 0, ""
	}
	fields := strings.Fields(string(text[after+1:]))
	if len(fields) < 2 {
		return 0, ""
	}
	parent, _ := strconv.Atoi(fields[1]) // it is one
	return parent, fields[0]
}

// sweep kills the processes with the marker that are still there after a moment to end in, and returns how many it killed.
func sweep(ctx context.Context, marker string) int {
	deadline := time.Now().Add(3 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if len(processes(marker)) == 0 {
			return 0
		}
		time.Sleep(50 * time.Millisecond)
	}
	killed := 0
	for range 3 { // what is killed may have started something meanwhile
		for _, pid := range processes(marker) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return killed
}

// memory is what the processes with the marker hold, in bytes: the program's own, and all of them with the browser's. Memory that
// several share is counted by its part for each (PSS). Not measured where there is no /proc.
func memory(marker string) (tool, all float64, err error) {
	if runtime.GOOS != "linux" {
		return 0, 0, fmt.Errorf("memory of processes is read from /proc, which %s does not have", runtime.GOOS)
	}
	for _, pid := range processes(marker) {
		size := pss(pid)
		all += size
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // gone: its size is 0
		if !strings.Contains(filepath.Base(path), "chrom") {     // chromium, chrome, chrome_crashpad_handler
			tool += size
		}
	}
	return tool, all, nil
}

// pss is the proportional set size of a process in bytes, with its part of what is swapped out; 0 when it is gone.
func pss(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		name, size, _ := strings.Cut(line, ":")
		if name == "Pss" || name == "SwapPss" {
			kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 64)
			sum += kb * 1024
		}
	}
	return sum
}

// machine says what this is.
func machine() report.Machine {
	m := report.Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), LoadBefore: load()}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
				m.Processor = strings.TrimSpace(value)
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			kb, _ := strconv.Atoi(fields[1]) // it is one
			m.MemoryMB = kb / 1024
		}
	}
	return m
}

// load is the load average of the last minute; 0 where the system has none.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	value, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(value, 64)
	return n
}
