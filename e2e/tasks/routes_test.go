package tasks

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// tabName matches the ID of a tab, which depends on the previous tasks.
var tabName = regexp.MustCompile(`\bt\d+\b`)

// TestRoutes solves the ten tasks with few calls of domtap do, and checks what was saved. The files routes/APP.txtar have the commands, found
// using only the skill file and the answers, and the answers, which -update writes. The section outcomes has the outcomes of the task in the
// order of TestTasks, each of which an answer must have. Run it with -v for the table.
func TestRoutes(t *testing.T) {
	d, program := testenv.Shared(t), testenv.Program(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "task\tcalls\ttokens\toutcomes shown")
	var all result
	golden.Each(t, "routes/*.txtar", len(tasks), func(t *testing.T, a *golden.Archive) {
		app := strings.TrimSuffix(filepath.Base(t.Name()), ".txtar")
		i := slices.IndexFunc(tasks, func(one task) bool { return one.app == app })
		if i < 0 {
			t.Fatalf("there is no task %s", app)
		}
		r := replay(t, testenv.NewShell(t, d, program), a, tasks[i])
		fmt.Fprintf(w, "%s\t%d\t%d\t%d of %d\n", tasks[i].name, r.calls, r.tokens, r.shown, r.wanted)
		all = sum(all, r)
	})
	fmt.Fprintf(w, "all\t%d\t%d\t%d of %d\n", all.calls, all.tokens, all.shown, all.wanted)
	_ = w.Flush()
	t.Logf("\n%s", table.String())
}

// replay runs the commands of a task.
func replay(t *testing.T, sh *testenv.Shell, a *golden.Archive, one task) (r result) {
	s := newSite(t)
	sh.Env = append(sh.Env, "SITE="+s.base)
	calls, _ := a.Section("calls")
	var said, answers strings.Builder
	for _, command := range testenv.ShellCommands(calls) {
		answer := tabName.ReplaceAllString(strings.ReplaceAll(sh.Run(t, command), s.base, "$SITE"), "t1")
		r.calls++
		r.tokens += tokens.Count(command) + tokens.Count(answer)
		answers.WriteString(answer)
		fmt.Fprintf(&said, "$ %s\n%s", strings.ReplaceAll(command, "\n", "\n> "), answer)
	}
	a.Update("calls", said.String())
	outcomes, _ := a.Section("outcomes")
	rest := answers.String()
	for line := range strings.Lines(outcomes) {
		o := outcome{text: strings.TrimSuffix(line, "\n")}
		if kind, text, found := strings.Cut(o.text, ": "); found {
			o = outcome{kind, text}
		}
		r.wanted++
		if (domtap{}).says(rest, o) {
			r.shown++
		} else {
			t.Errorf("no answer says %s", o)
		}
	}
	for what, want := range one.saved {
		if got := s.got(what); got != want {
			t.Errorf("%s was saved as %s, want %s", what, got, want)
		}
	}
	if t.Failed() {
		t.Logf("\n%s", said.String())
	}
	return r
}
