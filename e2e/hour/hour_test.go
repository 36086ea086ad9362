// Package hour tests tasks of the kind that an agent performs within an hour: in shops, calendars, forms, boards, grids and mail. Each file
// has a task in a user's words, the name of its site, the commands that solved it with their answers, and the expected state of the
// backend. The commands were found using only the skill file and the answers.
package hour

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestHour replays the tasks, each on a separate site and in a separate tab. The comment of a file is a line "Site: NAME" and the task. The
// sections files/NAME are the user's files in the working directory. The section calls has lines "$ COMMAND" for a shell, continued in
// lines "> …", each followed by the answer. The section saved has the expected state of the backend as JSON, which decides about success.
// The flag -update writes the answers. With -v the test prints the number of calls of each task, and the tokens of commands and answers.
// The test runs only in make test-long: a replay uses the refs in earlier answers, and thus depends on when pages have rendered.
func TestHour(t *testing.T) {
	if !testenv.Long() {
		t.Skip("it replays an hour's work: set DOMTAP_LONG")
	}
	d, program := testenv.Shared(t), testenv.Program(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tcalls\ttokens")
	tasks, calls, spent := 0, 0, 0
	golden.Each(t, "*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		p := &player{t: t, program: program}
		p.play(d, a)
		fmt.Fprintf(w, "%s\t%d\t%d\n", filepath.Base(t.Name()), p.calls, p.tokens)
		tasks, calls, spent = tasks+1, calls+p.calls, spent+p.tokens
	})
	if tasks > 0 {
		fmt.Fprintf(w, "mean of %d\t%.1f\t%d\n", tasks, float64(calls)/float64(tasks), spent/tasks)
	}
	_ = w.Flush()
	t.Logf("\n%s", table.String())
}

// player makes the calls of one task, and counts the calls and their tokens.
type player struct {
	t       *testing.T
	program string
	shell   *testenv.Shell
	// hide replaces the address of the site, which varies between runs.
	hide          *strings.Replacer
	calls, tokens int
}

// tabName matches the ID of a tab, which depends on the previous tasks.
var tabName = regexp.MustCompile(`\bt\d+\b`)

// downloads matches the directory of a session's downloads.
var downloads = regexp.MustCompile(`/\S+/downloads/default/`)

// play makes the calls, and compares the final state of the backend with the file.
func (p *player) play(d *testenv.Daemon, a *golden.Archive) {
	name, _, _ := strings.Cut(strings.TrimPrefix(string(a.Comment), "Site: "), "\n")
	site, err := newSite(name)
	if err != nil {
		p.t.Fatal(err)
	}
	base := testenv.Serve(p.t, site)
	p.hide = strings.NewReplacer(base, "$SITE", strings.TrimPrefix(base, "http://"), "$HOST")
	p.shell = testenv.NewShell(p.t, d, p.program)
	p.shell.Env = append(p.shell.Env, "SITE="+base)
	if err := writeUserFiles(a, p.shell.Dir); err != nil {
		p.t.Fatal(err)
	}
	script, _ := a.Section("calls")
	var said strings.Builder
	for _, command := range testenv.ShellCommands(script) {
		answer := p.told(p.shell.Run(p.t, command))
		p.calls++
		p.tokens += tokens.Count(command) + tokens.Count(answer)
		fmt.Fprintf(&said, "$ %s\n%s", strings.ReplaceAll(command, "\n", "\n> "), answer)
	}
	a.Update("calls", said.String())
	want, _ := a.Section("saved")
	if got, err := site.Saved(); err != nil || got != strings.TrimSpace(want) {
		p.t.Errorf("the backend has %s, want %s: %v, after\n%s", got, want, err, said.String())
	}
}

// told returns an answer without the parts that vary between runs.
func (p *player) told(answer string) string {
	return tabName.ReplaceAllString(downloads.ReplaceAllString(p.hide.Replace(answer), "$$DOWNLOADS/"), "t1")
}
