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

	"github.com/domtap/domtap/internal/testenv"
)

// markerPrefix starts an environment variable that all processes of a program inherit. It identifies processes that leave their process
// group.
const markerPrefix = "DOMTAP_PEERS_RUN="

// cleanEnviron returns the environment without variables that reveal information about the user of this machine.
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

// processes returns the running processes with the marker and their descendants. It returns none on systems other than Linux.
func processes(marker string) []int {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
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

// parentOf returns the parent of a process and the process's state (proc_pid_stat(5)). The state is empty if the process has ended.
func parentOf(pid int) (int, string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	after := bytes.LastIndexByte(text, ')') // the name in parentheses may contain spaces and parentheses
	if err != nil || after < 0 {
		return 0, ""
	}
	fields := strings.Fields(string(text[after+1:]))
	if len(fields) < 2 {
		return 0, ""
	}
	parent, _ := strconv.Atoi(fields[1]) // the field is always a number
	return parent, fields[0]
}

// sweep gives the processes with the marker a moment to end, kills the remaining ones, and returns the number of killed processes.
func sweep(ctx context.Context, marker string) int {
	deadline := time.Now().Add(3 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if len(processes(marker)) == 0 {
			return 0
		}
		time.Sleep(50 * time.Millisecond)
	}
	killed := 0
	for range 3 { // a process may have started others before it was killed
		for _, pid := range processes(marker) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return killed
}

// memory returns the memory of the processes with the marker, in bytes: of the program's own processes, and of all processes including the
// browser's. Shared memory counts proportionally (PSS). It returns an error on systems without /proc.
func memory(marker string) (tool, all float64, err error) {
	if runtime.GOOS != "linux" {
		return 0, 0, fmt.Errorf("memory of processes is read from /proc, which %s does not have", runtime.GOOS)
	}
	for _, pid := range processes(marker) {
		size := testenv.Memory(pid, "Pss", "SwapPss")
		all += size
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // a process that has ended has size 0
		if !strings.Contains(filepath.Base(path), "chrom") {     // chromium, chrome, chrome_crashpad_handler
			tool += size
		}
	}
	return tool, all, nil
}

// machine describes this machine.
func machine() Machine {
	m := Machine{System: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU(), LoadBefore: load()}
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
			kb, _ := strconv.Atoi(fields[1]) // the field is always a number
			m.MemoryMB = kb / 1024
		}
	}
	return m
}

// load returns the load average of the last minute, or 0 on systems without it.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	value, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseFloat(value, 64)
	return n
}
