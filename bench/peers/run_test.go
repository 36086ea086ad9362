//go:build unix

package peers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/domtap/domtap/internal/tokens"
)

// Config selects the programs to compare and the number of repetitions.
type Config struct {
	// Domtap is the domtap program. Browser is the Chromium for all programs. Installed is the directory in which scripts/install-peers
	// installs the other programs.
	Domtap, Browser, Installed string
	// Root is the directory of the repository, which contains the applications to read.
	Root string
	// Repetitions is the number of measurements of each operation, at least 1.
	Repetitions int
	// Short measures only domtap, on small pages, once. It is for testing this package.
	Short bool
	// Commit, Command and Conditions are copied to the result.
	Commit, Command, Conditions string
	// Log receives a line for each part of the run.
	Log io.Writer
}

const (
	// callLimit limits a call. hangLimit limits a call on a hanging page, because some programs wait forever for such a page.
	callLimit = time.Minute
	hangLimit = 45 * time.Second
	// hangShort replaces hangLimit in a short run.
	hangShort = 3 * time.Second
	// tabs is the number of tabs in the last measurement of memory.
	tabs = 10
	// settle is the idle time of the browser before its memory is measured.
	settle = time.Second
	// headStart is the time between the start of a call that waits for a change and the change itself.
	headStart = time.Second
)

// runner performs a run.
type runner struct {
	Config
	settings settings
	site     *site
	*book
	tools []*tool
	// pages counts pages, so that each has a unique address and none is cached.
	pages int
}

// book collects the figures.
type book struct {
	result *Result
	log    io.Writer
}

// Run compares the programs. Unusable programs and failed operations are part of the result. An error means that there is no result.
func Run(ctx context.Context, c Config) (*Result, error) {
	begun := time.Now()
	r := &runner{Config: c, settings: settings{domtap: c.Domtap, browser: c.Browser, installed: c.Installed, root: os.Geteuid() == 0}}
	browser, err := exec.CommandContext(ctx, c.Browser, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", c.Browser, err)
	}
	r.book = &book{log: c.Log}
	r.result = &Result{
		Date: begun.UTC().Format(time.DateOnly), Commit: c.Commit, Command: c.Command, Conditions: c.Conditions,
		Machine: machine(), Browser: strings.TrimSpace(string(browser)), Tokenizer: tokens.Name, Repetitions: c.Repetitions,
	}
	if r.site, err = startSite(ctx, c.Root); err != nil {
		return nil, err
	}
	r.prepare(ctx)
	r.alone(ctx)
	r.together(ctx)
	r.trouble(ctx)
	r.result.Seconds = int(time.Since(begun).Seconds())
	r.result.Machine.LoadAfter = load()
	return r.result, errors.Join(ctx.Err(), r.site.stop())
}

// prepare determines which programs are usable.
func (r *runner) prepare(ctx context.Context) {
	for i, s := range specs() {
		if r.Short && packageOf[s.Name] != "" {
			continue
		}
		named := s.Named
		err := s.find(&r.settings)
		if err == nil {
			named.Version, err = version(ctx, &r.settings, s.Name)
		}
		if err != nil {
			named.Missing = err.Error()
		} else {
			r.tools = append(r.tools, &tool{spec: s, index: i, limit: callLimit})
		}
		r.result.Tools = append(r.result.Tools, named)
	}
}

// say writes a line to the log.
func (b *book) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.log, format+"\n", args...) // an error of the log does not stop the run
}

// address returns a unique address for a page.
func (r *runner) address(path string) string {
	r.pages++
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return fmt.Sprintf("%s%s%spage=%d", r.site.base, path, separator, r.pages)
}

// put adds a figure to a row.
func (b *book) put(t *tool, row Row, v float64) { b.result.Cell(row, t.index).Add(v) }

// write sets the text of a row.
func (b *book) write(t *tool, row Row, text string) { b.result.Cell(row, t.index).Text = text }

// fail records that a program failed at an operation, or that the run was ended before the measurement.
func (b *book) fail(ctx context.Context, t *tool, row Row, err error) {
	if ctx.Err() != nil {
		err = errors.New("the run was ended before this was measured")
	}
	b.say("  %s: %s: %v", t.Name, row.Title, err)
	b.result.Cell(row, t.index).Failed = strings.Join(strings.Fields(err.Error()), " ")
}

// start starts a program and lets it open its first page.
func (r *runner) start(ctx context.Context, t *tool, path string) (reply, error) {
	begun := time.Now()
	if err := t.begin(ctx, &r.settings); err != nil {
		return reply{}, err
	}
	first := t.first
	if first == nil {
		first = t.open
	}
	got, err := t.must(ctx, first(r.address(path))...)
	got.took = time.Since(begun)
	return got, err
}

// stop stops a program and logs any error.
func (r *runner) stop(ctx context.Context, t *tool) {
	if err := t.end(ctx); err != nil {
		r.say("  %s: at its end: %v", t.Name, err)
	}
}

// restart restarts a program that did not answer. It reports whether the program works again.
func (r *runner) restart(ctx context.Context, t *tool) bool {
	r.stop(ctx, t)
	if ctx.Err() != nil {
		return false
	}
	_, err := r.start(ctx, t, "/list?n=20")
	if err != nil {
		r.say("  %s: cannot be started again: %v", t.Name, err)
	}
	return err == nil
}

// alone measures the start and the memory of each program while no other runs.
func (r *runner) alone(ctx context.Context) {
	r.say("start and memory")
	cold := Row{ID: "cold-ms", Title: "cold start to the first page of 100 controls read", Group: "Start", Unit: Milliseconds}
	for range r.Repetitions {
		for _, t := range r.tools {
			got, err := r.start(ctx, t, "/list?n=100")
			if err != nil {
				r.fail(ctx, t, cold, err)
			} else {
				r.put(t, cold, milliseconds(got.took))
				r.study(ctx, t)
				r.weigh(ctx, t)
			}
			r.stop(ctx, t)
		}
	}
}

// study counts the tokens that a model reads before it uses a program.
func (r *runner) study(ctx context.Context, t *tool) {
	row := Row{ID: "manual-tokens", Title: "tool definitions, or the skill file, which a model reads first", Group: "Start", Unit: Tokens}
	ctx, cancel := context.WithTimeout(ctx, t.limit)
	defer cancel()
	text, err := t.channel.manual(ctx, t.spec.manual)
	if err != nil {
		r.fail(ctx, t, row, err)
		return
	}
	r.put(t, row, float64(tokens.Count(text)))
}

// weigh measures the memory of a program, starting with one open tab.
func (r *runner) weigh(ctx context.Context, t *tool) {
	last := tabs
	if r.Short {
		last = 2
	}
	for open := 1; ; open = last {
		title := fmt.Sprintf("%d tabs", open)
		if open == 1 {
			title = "one tab"
		}
		own := Row{ID: fmt.Sprintf("memory-own-%d", open), Title: "memory of the program alone, with " + title, Group: "Memory", Unit: Megabytes}
		all := Row{ID: fmt.Sprintf("memory-all-%d", open), Title: "memory with the browser and " + title, Group: "Memory", Unit: Megabytes}
		if !r.Short {
			time.Sleep(settle)
		}
		program, everything, err := memory(t.marker)
		if err != nil {
			r.fail(ctx, t, own, err)
			return
		}
		r.put(t, own, program/(1<<20))
		r.put(t, all, everything/(1<<20))
		if open == last {
			return
		}
		for range last - 1 {
			if _, err := t.must(ctx, t.tab(r.address("/list?n=100"))...); err != nil {
				r.fail(ctx, t, all, fmt.Errorf("open %d tabs: %w", last, err))
				return
			}
		}
	}
}

// together measures all programs in turns, each with its own browser.
func (r *runner) together(ctx context.Context) {
	for _, t := range r.tools {
		if _, err := r.start(ctx, t, "/list?n=20"); err != nil {
			r.say("  %s: cannot be started: %v", t.Name, err)
		}
	}
	for _, n := range r.sizes(100, 1000, 10000) {
		r.say("read %d controls", n)
		r.each(ctx, func(t *tool) bool { return r.read(ctx, t, n) })
	}
	for _, n := range r.sizes(20, 1000) {
		r.say("act on one of %d controls", n)
		r.each(ctx, func(t *tool) bool { return r.act(ctx, t, n, false) })
	}
	r.say("act where the result is a plain text")
	size := 1000
	if r.Short {
		size = 100
	}
	r.each(ctx, func(t *tool) bool { return r.act(ctx, t, size, true) })
	r.say("learn of a change")
	r.each(ctx, func(t *tool) bool { return r.learn(ctx, t, size) })
	r.say("applications")
	r.each(ctx, func(t *tool) bool { return r.applications(ctx, t) })
	for _, t := range r.tools {
		r.stop(ctx, t)
	}
}

// sizes returns the sizes of pages that this run measures.
func (r *runner) sizes(all ...int) []int {
	if r.Short {
		return all[:1]
	}
	return all
}

// each calls do for each program in turn. A program that fails is restarted; if the restart also fails, the program is left out.
func (r *runner) each(ctx context.Context, do func(t *tool) bool) {
	for range r.Repetitions {
		for _, t := range r.tools {
			if ctx.Err() == nil && t.channel != nil && !do(t) && !r.restart(ctx, t) {
				r.stop(ctx, t)
			}
		}
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
