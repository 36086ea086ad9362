package hour

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/domtap/domtap/internal/golden"
	"github.com/domtap/domtap/internal/testenv"
	"github.com/domtap/domtap/internal/tokens"
)

// peer is another program that gives agents a browser. It is started anew for each task.
type peer interface {
	// start starts the program for a task. The user's files are in the directory dir, and the site is at the URL site.
	start(t *testing.T, dir, site string)
	// call makes one call, which is a line of a recorded solution, and returns the answer. The line has $SITE in place of the URL.
	call(t *testing.T, line string) string
	// close ends the program and its browser.
	close(t *testing.T)
}

// contender is a peer with the name of the directory that has its recorded solutions.
type contender struct {
	name string
	peer peer
}

// contenders returns the peers, which scripts/install-peers has installed in a directory, with the Chromium that all of them use.
func contenders(installed, chromium string) []contender {
	return []contender{
		{"agent-browser", &agentBrowser{program: agentBrowserProgram(installed), chromium: chromium}},
		{"playwright-mcp", &playwrightMCP{script: playwrightScript(installed), chromium: chromium}},
	}
}

// result is the cost of a task, and whether the backend has the expected state at the end.
type result struct {
	calls, tokens int
	solved        bool
}

// TestHourOfPeers replays the tasks with other programs, for a comparison with domtap. The directory of a program has a file TASK.txt for
// each task, with the calls that solved it, one per line; lines that begin with "> " continue a call. They were found as for domtap: using
// only the program's documentation and its answers. A first line "# not solved: why" states that the task was given up after these calls;
// other lines that begin with # are comments. With -v, the test prints a table of calls and tokens. It fails only if a recorded solution no
// longer solves its task. Set DOMTAP_LONG and -timeout=1h, and run scripts/install-peers before.
func TestHourOfPeers(t *testing.T) {
	if !testenv.Long() {
		t.Skip("it replays an hour's work with each program: set DOMTAP_LONG")
	}
	installed, err := filepath.Abs("../../.cache/peers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(installed, "node_modules")); err != nil {
		t.Skip("there are no peers: run scripts/install-peers")
	}
	all := contenders(installed, fullChromium(t))
	s := sheet{columns: len(all) + 1}
	golden.Each(t, "*.txtar", 1, func(t *testing.T, a *golden.Archive) {
		task := filepath.Base(t.Name())
		row := []*result{ours(a)}
		for _, c := range all {
			row = append(row, nil)
			text, err := os.ReadFile(filepath.Join(c.name, task+".txt"))
			if err != nil {
				continue // the task was not tried with this program
			}
			t.Run(c.name, func(t *testing.T) {
				row[len(row)-1] = replay(t, c.peer, a, string(text))
			})
		}
		s.add(task, row)
	})
	names := []string{"domtap"}
	for _, c := range all {
		names = append(names, c.name)
	}
	t.Logf("\n%s", s.table(names))
}

// fullChromium returns a full browser, because not every program supports the headless shell.
func fullChromium(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium or Chrome")
	return ""
}

// ours returns the cost of domtap's solution, from the recorded commands and answers.
func ours(a *golden.Archive) *result {
	session, _ := a.Section("calls")
	r := &result{solved: true}
	for call := range strings.SplitSeq("\n"+session, "\n$ ") {
		if call == "" {
			continue // before the first command
		}
		command := testenv.ShellCommands("$ " + call)[0]
		answer := strings.TrimPrefix(call, strings.ReplaceAll(command, "\n", "\n> ")+"\n")
		r.calls++
		r.tokens += tokens.Count(command) + tokens.Count(answer)
	}
	return r
}

// recorded returns the calls of a recorded solution, and whether they solved the task.
func recorded(text string) (calls []string, solved bool) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if more, ok := strings.CutPrefix(line, "> "); ok && len(calls) > 0 {
			calls[len(calls)-1] += "\n" + more
		} else if line != "" && !strings.HasPrefix(line, "#") {
			calls = append(calls, line)
		}
	}
	return calls, !strings.HasPrefix(text, "# not solved:")
}

// thought is the pause before each call. A model needs longer between two calls, and pages change meanwhile: programs that do not wait for
// the effects of an action depend on it.
const thought = time.Second

// replay makes the recorded calls, and compares the final state of the backend with the file of the task.
func replay(t *testing.T, p peer, a *golden.Archive, text string) *result {
	name, _, _ := strings.Cut(strings.TrimPrefix(string(a.Comment), "Site: "), "\n")
	site, err := newSite(name)
	if err != nil {
		t.Fatal(err)
	}
	base, dir := testenv.Serve(t, site), t.TempDir()
	if err := writeUserFiles(a, dir); err != nil {
		t.Fatal(err)
	}
	p.start(t, dir, base)
	defer p.close(t)
	hide := strings.NewReplacer(base, "$SITE", strings.TrimPrefix(base, "http://"), "$HOST")
	calls, solvable := recorded(text)
	r := &result{}
	var said strings.Builder
	for _, line := range calls {
		<-time.After(thought)
		answer := hide.Replace(p.call(t, line))
		r.calls++
		r.tokens += tokens.Count(line) + tokens.Count(answer)
		fmt.Fprintf(&said, "$ %s\n%s\n", line, answer)
	}
	want, _ := a.Section("saved")
	got, err := site.Saved()
	r.solved = err == nil && got == strings.TrimSpace(want)
	if solvable && !r.solved {
		t.Errorf("the backend has %s, want %s: %v, after\n%s", got, want, err, said.String())
	} else if os.Getenv("DOMTAP_TRANSCRIPTS") != "" {
		t.Log(said.String())
	}
	return r
}

// writeUserFiles writes the user's files, which are the sections files/NAME.
func writeUserFiles(a *golden.Archive, dir string) error {
	for _, f := range a.Files {
		if file, is := strings.CutPrefix(f.Name, "files/"); is {
			if err := os.WriteFile(filepath.Join(dir, file), f.Data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// sheet has the results of all tasks, by program. A result is nil if the task was not tried.
type sheet struct {
	columns int
	tasks   []string
	rows    [][]*result
}

func (s *sheet) add(task string, row []*result) {
	s.tasks, s.rows = append(s.tasks, task), append(s.rows, row)
}

// table returns the results as a table: calls and tokens, and an x where the task was not solved. The last row has the means of all tasks
// that were tried.
func (s *sheet) table(names []string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "calls, tokens\t%s\n", strings.Join(names, "\t"))
	for i, row := range s.rows {
		fmt.Fprint(w, s.tasks[i])
		for _, r := range row {
			switch {
			case r == nil:
				fmt.Fprint(w, "\t-")
			case r.solved:
				fmt.Fprintf(w, "\t%d, %d", r.calls, r.tokens)
			default:
				fmt.Fprintf(w, "\t%d, %d x", r.calls, r.tokens)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "means")
	for column := range s.columns {
		fmt.Fprintf(w, "\t%s", s.mean(column))
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a strings.Builder takes everything
	return text.String()
}

// mean returns the means of a column, and how many tasks were solved of those tried.
func (s *sheet) mean(column int) string {
	tried, solved, sum := 0, 0, result{}
	for _, row := range s.rows {
		if r := row[column]; r != nil {
			tried++
			sum.calls, sum.tokens = sum.calls+r.calls, sum.tokens+r.tokens
			if r.solved {
				solved++
			}
		}
	}
	if tried == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f, %d; %d of %d solved", float64(sum.calls)/float64(tried), sum.tokens/tried, solved, tried)
}
