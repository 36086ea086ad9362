//go:build unix

package soak

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domtap/domtap/internal/testenv"
)

// stat returns the fields of /proc/PID/stat after the name of a process: first the state (field 3 in proc_pid_stat(5)), then the parent. It
// returns nil if the process has ended.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program is in parentheses and may itself contain spaces and parentheses.
	after := bytes.LastIndexByte(text, ')')
	if err != nil || after < 0 {
		return nil
	}
	if fields := strings.Fields(string(text[after+1:])); len(fields) >= 13 {
		return fields
	}
	return nil
}

// ended reports whether a process has ended or is a zombie.
func ended(pid int) bool {
	fields := stat(pid)
	return fields == nil || fields[0] == "Z"
}

// descendants returns the descendants of a process.
func descendants(root int) []int {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	children := map[int][]int{}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if fields := stat(pid); fields != nil {
			parent, _ := strconv.Atoi(fields[1]) // the field is always a number
			children[parent] = append(children[parent], pid)
		}
	}
	found := append([]int(nil), children[root]...)
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// cpu returns the CPU time of a process in seconds, or 0 if it has ended.
func cpu(pid int) float64 {
	fields := stat(pid)
	if fields == nil {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // USER_HZ is 100 on all systems that run Chromium
}

// isRenderer reports whether a process of the browser runs pages.
func isRenderer(pid int) bool { return kind(pid) == "renderer" }

// kind returns the kind of a browser process in Chromium's terms, such as renderer or gpu-process. It returns browser for the main process,
// and an empty string if the process has ended.
func kind(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return ""
	}
	_, rest, found := bytes.Cut(line, []byte("--type="))
	if !found {
		return "browser"
	}
	if end := bytes.IndexAny(rest, " \x00"); end >= 0 { // renderers separate their arguments with spaces
		rest = rest[:end]
	}
	return string(rest)
}

// memory returns the private memory of a process plus its part of the memory that it shares with its family, in bytes. It excludes files,
// because other browsers on the machine may share their pages. It returns 0 if the process has ended.
func memory(pid int) float64 { return testenv.Memory(pid, "Pss_Anon", "SwapPss") }
