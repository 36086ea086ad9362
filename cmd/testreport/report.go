package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domtap/domtap/internal/lazyregexp"
)

// event is one line of go test -json. It concerns a test, a package if Test is empty, or a build if ImportPath is set.
type event struct {
	Action      string
	Package     string
	Test        string
	Elapsed     float64
	Output      string
	ImportPath  string
	FailedBuild string
}

// state is the state of a test.
type state int

const (
	running state = iota
	paused        // waits until the other tests of its package have run: t.Parallel
	passed
	failed
	skipped
)

// test is a test, a subtest, an example or a fuzz target.
type test struct {
	name     string
	state    state
	children []*test
	output   []string // emptied when the test passes
}

// suite is a package with running tests.
type suite struct {
	tests []*test // in the order of their starts
	named map[string]*test
	// own is the output outside tests. crash is the output since the process started to die; go test attributes it to an arbitrary test.
	own, crash []string
	dying      []*test // for each line of crash, the test that it was attributed to
}

// outcome is a failed or skipped test with its message.
type outcome struct {
	pkg, test string
	said      []string
}

// timing is the duration of a package's tests, in seconds.
type timing struct {
	pkg     string
	seconds float64
}

// report reads events.
type report struct {
	out, raw, summary io.Writer
	// all enables printing all output. module is the prefix that is omitted from package names.
	all    bool
	module string

	suites           map[string]*suite
	builds           map[string][]string
	passes           int
	failures, absent []outcome
	times            []timing
}

// newReport returns a report that prints readable output to out, events to raw, and the summary to summary.
func newReport(out, raw, summary io.Writer) *report {
	return &report{out: out, raw: raw, summary: summary, suites: map[string]*suite{}, builds: map[string][]string{}}
}

// read reads events to their end. It prints lines that are not events.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil || e.Action == "":
			r.print(r.out, "%s", line)
			r.print(r.raw, "%s", line)
		default:
			r.print(r.raw, "%s", line)
			r.take(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the events of go test: %w", err)
		}
	}
}

// print ignores write errors, because a closed terminal cannot be reported to anyone.
func (r *report) print(to io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(to, format, args...)
}

// take processes an event.
func (r *report) take(e event) {
	switch {
	case e.Action == "build-output":
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		r.print(r.out, "%s", e.Output)
		return
	case e.Package == "":
		return
	}
	s := r.suites[e.Package]
	if s == nil {
		s = &suite{named: map[string]*test{}}
		r.suites[e.Package] = s
	}
	if e.Action == "output" && r.all {
		r.print(r.out, "%s", e.Output)
	}
	if e.Test != "" {
		s.take(e)
	} else {
		r.takePackage(s, e)
	}
}

// died matches the first line that the runtime prints when a process dies.
var died = lazyregexp.New(`^(panic: |fatal error: |SIG[A-Z]+: |signal: )`)

// take processes an event of a test.
func (s *suite) take(e event) {
	t := s.test(e.Test)
	switch e.Action {
	case "pause":
		t.state = paused
	case "run", "cont":
		t.state = running
	case "pass":
		t.state, t.output = passed, nil
	case "fail":
		t.state = failed
	case "skip":
		t.state = skipped
	case "output":
		s.print(t, e.Output)
	}
}

// print processes a line that a test printed.
func (s *suite) print(t *test, line string) {
	if strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
		// The process is alive: the earlier line only looked like a crash.
		for i, line := range s.crash {
			s.dying[i].output = append(s.dying[i].output, line)
		}
		s.crash, s.dying = nil, nil
	}
	switch {
	case died().MatchString(line) || len(s.crash) > 0:
		s.crash, s.dying = append(s.crash, line), append(s.dying, t)
	case !strings.HasPrefix(line, "=== "):
		t.output = append(t.output, line)
	}
}

// test returns the test with a name. It creates the test and its parents if necessary.
func (s *suite) test(name string) *test {
	t := s.named[name]
	if t == nil {
		t = &test{name: name}
		s.named[name] = t
		s.tests = append(s.tests, t)
		if i := strings.LastIndex(name, "/"); i > 0 {
			parent := s.test(name[:i])
			parent.children = append(parent.children, t)
		}
	}
	return t
}

// takePackage processes an event of a package.
func (r *report) takePackage(s *suite, e event) {
	switch e.Action {
	case "output":
		if died().MatchString(e.Output) || len(s.crash) > 0 && !strings.HasPrefix(e.Output, "FAIL\t") {
			s.crash, s.dying = append(s.crash, e.Output), append(s.dying, new(test))
			return
		}
		s.own = append(s.own, e.Output)
	case "pass", "skip":
		r.close(e, s, false)
	case "fail":
		r.close(e, s, true)
	}
}

// close prints the output of a package whose tests have ended, as go test does, and counts the tests.
func (r *report) close(e event, s *suite, bad bool) {
	delete(r.suites, e.Package)
	if e.Elapsed > 0 {
		r.times = append(r.times, timing{r.short(e.Package), e.Elapsed})
	}
	if !r.all {
		r.show(s, bad)
	}
	before := len(r.failures)
	for _, t := range s.tests {
		r.count(e.Package, s, t, bad)
	}
	if bad && len(r.failures) == before {
		r.failures = append(r.failures, outcome{r.short(e.Package), "", r.packageSaid(e, s)})
	}
}

// show prints the output of the tests that did not succeed, and the line of the package.
func (r *report) show(s *suite, bad bool) {
	for _, t := range s.tests {
		if bad && t.state != passed && t.state != skipped {
			r.print(r.out, "%s", joined(t.output))
		}
	}
	if bad {
		r.print(r.out, "%s", joined(s.crash))
	}
	for _, line := range s.own {
		if bad && line != "FAIL\n" && line != "PASS\n" || strings.HasPrefix(line, "ok  \t") {
			r.print(r.out, "%s", line)
		}
	}
}

// joined returns output with a terminated last line.
func joined(output []string) string {
	text := strings.Join(output, "")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// count counts a test, unless its subtests represent it.
func (r *report) count(pkg string, s *suite, t *test, bad bool) {
	switch {
	case t.state == passed && len(t.children) == 0:
		r.passes++
	case t.state == skipped:
		r.absent = append(r.absent, outcome{r.short(pkg), t.name, said(t.output)})
	case t.state == failed && !t.within(failed, running):
		why := last(t.output)
		if len(why) == 0 {
			why = first(s.crash)
		}
		r.failures = append(r.failures, outcome{r.short(pkg), t.name, why})
	case t.state == running && bad && !t.within(failed, running):
		r.failures = append(r.failures, outcome{r.short(pkg), t.name, append([]string{"it did not end"}, first(s.crash)...)})
	}
}

// within reports whether one of the subtests is in one of the states.
func (t *test) within(states ...state) bool {
	return slices.ContainsFunc(t.children, func(c *test) bool { return slices.Contains(states, c.state) || c.within(states...) })
}

// packageSaid returns why a package failed although none of its tests did: the build failed, the process died, or TestMain failed.
func (r *report) packageSaid(e event, s *suite) []string {
	if e.FailedBuild != "" {
		return first(r.builds[e.FailedBuild])
	}
	return append(last(s.own), first(s.crash)...)
}

// enough limits the lines of a test in the summary. The full output is printed above.
const enough = 12

// first returns the first lines of output, without the stacks of a crashed process.
func first(output []string) []string {
	var list []string
	for line := range strings.Lines(joined(output)) {
		if len(list) == enough || strings.HasPrefix(line, "goroutine ") {
			break
		}
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// last returns the last non-empty lines of output.
func last(output []string) []string {
	var list []string
	for line := range strings.Lines(joined(output)) {
		text := strings.TrimSpace(line)
		if text != "" && text != "PASS" && text != "FAIL" && !strings.HasPrefix(text, "--- ") && !strings.HasPrefix(line, "FAIL\t") {
			list = append(list, strings.TrimRight(line, "\r\n"))
		}
	}
	return list[max(0, len(list)-enough):]
}

// place matches the position in a file that precedes a message of a test.
var place = lazyregexp.New(`^\s*\S+\.go:\d+: `)

// said returns the last message of a skipped test.
func said(output []string) []string {
	var list []string
	for _, line := range last(output) {
		if place().MatchString(line) {
			list = nil
		}
		list = append(list, strings.TrimSpace(place().ReplaceAllString(line, "")))
	}
	return list
}

// short returns the name of a package without the module.
func (r *report) short(pkg string) string {
	if rest, found := strings.CutPrefix(pkg, r.module+"/"); found && r.module != "" {
		return rest
	}
	return pkg
}

// end prints the report. Packages without an end event, for example because go test was interrupted, are counted in their current state.
func (r *report) end() {
	for _, pkg := range slices.Sorted(maps.Keys(r.suites)) {
		r.close(event{Package: pkg}, r.suites[pkg], true)
	}
	r.slowest()
	r.skips()
	if len(r.failures) > 0 {
		r.print(r.summary, "\nFailed:\n")
	}
	for _, f := range r.failures {
		r.print(r.summary, "  %s\n", strings.TrimSpace(f.pkg+" "+f.test))
		for _, line := range f.said {
			r.print(r.summary, "      %s\n", strings.TrimPrefix(line, "    "))
		}
	}
	r.print(r.summary, "\n%d passed, %d failed, %d skipped\n", r.passes, len(r.failures), len(r.absent))
}

// slowest prints the packages that took most of a long run.
func (r *report) slowest() {
	slices.SortStableFunc(r.times, func(a, b timing) int { return int(1000 * (b.seconds - a.seconds)) })
	if len(r.times) == 0 || r.times[0].seconds < 30 {
		return
	}
	r.print(r.summary, "\nSlowest:\n")
	for _, t := range r.times[:min(8, len(r.times))] {
		r.print(r.summary, "  %-28s %4.0f s\n", t.pkg, t.seconds)
	}
}

// manySkips limits how many tests are named for one reason. Beyond that only their packages are named.
const manySkips = 12

// skips prints the reasons for skips, and the tests of each.
func (r *report) skips() {
	byReason := map[string][]outcome{}
	for _, o := range r.absent {
		reason := strings.Join(o.said, " ")
		if reason == "" {
			reason = "no reason given"
		}
		byReason[reason] = append(byReason[reason], o)
	}
	if len(byReason) > 0 {
		r.print(r.summary, "\nSkipped:\n")
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		r.print(r.summary, "  %s\n", reason)
		list := byReason[reason]
		byPackage := map[string][]string{}
		for _, o := range list {
			byPackage[o.pkg] = append(byPackage[o.pkg], o.test)
		}
		for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
			if len(list) > manySkips {
				r.print(r.summary, "      %s: %d tests\n", pkg, len(byPackage[pkg]))
			} else {
				r.print(r.summary, "      %s %s\n", pkg, strings.Join(byPackage[pkg], ", "))
			}
		}
	}
}
