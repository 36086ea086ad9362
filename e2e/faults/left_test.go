package faults

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestKillsLeaveNothingBehind kills a renderer, a browser and a daemon, and checks for remaining files. No file may remain outside the
// daemon's own directory, and none inside once the next daemon runs.
func TestKillsLeaveNothingBehind(t *testing.T) {
	p := install(t)
	outside := t.TempDir()
	t.Setenv("HOME", outside)
	t.Setenv("TMPDIR", outside)
	t.Setenv("XDG_CONFIG_HOME", "")
	served := p.served()
	p.run("open", "data:text/html,<p>one")
	homes := func() []string {
		found, err := filepath.Glob(filepath.Join(p.state, "browsers", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := homes()
	if len(first) != 1 {
		t.Fatalf("the browsers live in %q", first)
	}
	for _, kind := range []string{"=renderer", ""} { // crashes of a page and of the browser, with their crash reports
		for _, pid := range processesOf(t, first[0], kind) {
			_ = syscall.Kill(pid, syscall.SIGSEGV)
		}
	}
	for end := time.Now().Add(limit); len(processesOf(t, first[0], "")) > 0 || p.command("open", "data:text/html,<p>two").Run() != nil; {
		if time.Now().After(end) {
			t.Fatal("the browser does not end, or none comes after it")
		}
	}
	if err := served.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = served.Wait()
	killed := homes()
	p.served()
	p.run("open", "data:text/html,<p>three")
	for _, dir := range append(first, killed...) {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", dir, err)
		}
	}
	p.run("stop")
	err := filepath.WalkDir(outside, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".cache": // caches of libraries, shared by all browsers
			return fs.SkipDir
		case !entry.IsDir():
			t.Errorf("%s is left", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// processesOf lists the processes whose command line names a directory and a kind.
func processesOf(t *testing.T, dir, kind string) []int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(line, []byte(dir)) || !bytes.Contains(line, []byte(kind)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			found = append(found, pid)
		}
	}
	return found
}
