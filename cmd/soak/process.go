//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stat returns what the kernel says of a process behind its name: the state first (proc_pid_stat(5) counts it as field
// 3), then the parent; nil when it is gone.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The name of the program stands in parentheses, and may hold spaces and parentheses itself.
	after := bytes.LastIndexByte(text, ')')
	if err != nil || after < 0 {
		return nil
	}
	if fields := strings.Fields(string(text[after+1:])); len(fields) >= 13 {
		return fields
	}
	return nil
}

// ended reports whether a process is gone, or a zombie.
func ended(pid int) bool {
	fields := stat(pid)
	return fields == nil || fields[0] == "Z"
}

// descendants lists the processes that a process has started, and those that these have.
func descendants(root int) []int {
	paths, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	children := map[int][]int{}
	for _, path := range paths {
		pid, err := strconv.Atoi(filepath.Base(path))
		if err != nil {
			continue
		}
		if fields := stat(pid); fields != nil {
			parent, _ := strconv.Atoi(fields[1]) // it is one
			children[parent] = append(children[parent], pid)
		}
	}
	found := append([]int(nil), children[root]...)
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found
}

// cpu is the CPU time of a process in seconds; 0 when it is gone.
func cpu(pid int) float64 {
	fields := stat(pid)
	if fields == nil {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // USER_HZ is 100 wherever Chromium runs
}

// isRenderer reports whether a process of the browser runs pages.
func isRenderer(pid int) bool { return kind(pid) == "renderer" }

// kind is what a process of the browser does, in Chromium's words, such as renderer or gpu-process; browser for the one that started
// the others, and empty when it is gone.
func kind(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return ""
	}
	_, rest, found := bytes.Cut(line, []byte("--type="))
	if !found {
		return "browser"
	}
	if end := bytes.IndexAny(rest, " \x00"); end >= 0 { // renderers have spaces between their arguments
		rest = rest[:end]
	}
	return string(rest)
}

// memory is what a process holds for itself, in bytes: without files, of which other browsers on the machine may
// share the pages, and with its part of what it shares with its family. 0 when it is gone.
func memory(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		name, size, _ := strings.Cut(line, ":")
		if name != "Pss_Anon" && name != "SwapPss" {
			continue
		}
		kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(size), "kB")), 64)
		sum += kb * 1024
	}
	return sum
}
