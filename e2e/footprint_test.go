package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/testenv"
)

// footprint maps each kind of resource of a daemon and its browser to its count.
type footprint map[string]int

// footprintOf returns the footprint of a daemon that runs in this process. Resources of the pages' web server do not count.
func footprintOf(t *testing.T, f *testenv.RestartingDaemon) footprint {
	t.Helper()
	held := footprint{}
	b := f.Newest(0)
	held.targets(t, b)
	held["browser contexts"] = len(b.Contexts(t.Context())) - b.Warm()
	held["target page"] -= b.Warm() // each warm session has a blank page
	held.processes(b.PID())
	held.processType("renderer", -b.Warm())
	held.goroutines()
	held.descriptors()
	held.files(f.State)
	return held
}

// targets counts the targets of a browser by type.
func (f footprint) targets(t *testing.T, b *browser.Browser) {
	t.Helper()
	var targets struct {
		Infos []struct {
			Type string `json:"type"`
		} `json:"targetInfos"`
	}
	if err := b.Call(t.Context(), "", "Target.getTargets", struct{}{}, &targets); err != nil {
		t.Fatal(err)
	}
	for _, one := range targets.Infos {
		f["target "+one.Type]++
	}
}

// processes counts a process and its descendants by their Chromium type. It works on Linux only; elsewhere it finds none.
func (f footprint) processes(root int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		after := string(text[bytes.LastIndexByte(text, ')')+1:])
		fields := strings.Fields(after)
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	for all := []int{root}; len(all) > 0; all = all[1:] {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", all[0]))
		if found := processType.FindSubmatch(line); found != nil {
			f.processType(string(found[1]), 1)
		}
		all = append(all, children[all[0]]...)
	}
}

// processType matches the process type on a Chromium command line.
var processType = regexp.MustCompile(`--(?:type|utility-sub-type)=([^\x00 ]+)[^\n]*$`)

func (f footprint) processType(name string, n int) { f["process "+name] += n }

// goroutines counts the goroutines that run code of domtap, by the function that started them.
func (f footprint) goroutines() {
	stacks := make([]byte, 1<<23)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		_, creator, _ := strings.Cut(stack, "created by ")
		creator, _, _ = strings.Cut(creator, " in goroutine")
		if strings.Contains(stack, "domtap/domtap/") && !strings.Contains(stack, "domtap/e2e.") {
			f["goroutine of "+creator]++
		}
	}
}

// descriptors counts the open files of this process, except TCP sockets, which belong to the web server. It works on Linux only.
func (f footprint) descriptors() {
	tcp := map[string]bool{}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		text, _ := os.ReadFile(table)
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 9 {
				tcp["socket:["+fields[9]+"]"] = true
			}
		}
	}
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		to, err := os.Readlink(link)
		if err != nil || tcp[to] || strings.HasPrefix(to, "/proc/") {
			continue
		}
		kind, _, _ := strings.Cut(to, ":")
		f["open "+kind]++
	}
}

// files lists domtap's own files in the state directory: all except the contents of profiles.
func (f footprint) files(state string) {
	_ = filepath.WalkDir(state, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil // removed in the meantime
		}
		name, _ := filepath.Rel(state, path)
		f["file "+name]++
		if entry.Name() == "profile" {
			return fs.SkipDir
		}
		return nil
	})
}

// more lists the resources whose count has increased.
func (f footprint) more(before footprint) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if f[name] > before[name] {
			list = append(list, fmt.Sprintf("%s: %d, before %d", name, f[name], before[name]))
		}
	}
	return list
}

// settleLimit limits how long resources may take to be released.
const settleLimit = testenv.Patience

// asBefore waits until no resource exceeds its count in baseline. Before each check it calls tidy, which closes what clients know of and
// would close. A window that a page was opening becomes a tab even if the page's own tab was closed.
func asBefore(t *testing.T, f *testenv.RestartingDaemon, baseline footprint, tidy func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleLimit)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		tidy()
		left := footprintOf(t, f).more(baseline)
		if len(left) == 0 {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Errorf("what is left behind:\n%s", strings.Join(left, "\n"))
			return
		}
	}
}
