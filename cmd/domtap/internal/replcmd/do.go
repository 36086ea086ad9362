package replcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// Steps converts commands to steps, so that several of them need only one call.
type Steps struct {
	// Parse returns the steps of a command. It returns none without an error if the command is not made of steps.
	Parse func(words []string) ([]*domtapv1.Step, error)
	// Turn returns the command that performs steps; words holds the command line of each. Its output omits everything that the command next
	// prints when it reads the page or, after a failure with PageFollows, that snapshot prints. If each is set, every change is printed.
	Turn func(a *cli.App, words []string, steps []*domtapv1.Step, next string, each bool) *cobra.Command
	// Max limits the number of steps in a turn.
	Max int
}

const doHelp = `Run several commands in one call. Each STEP is a command without the word domtap, quoted as one argument. Without
STEP, or with -, each line of standard input is a step. All steps are checked before the first one runs.
Consecutive actions and waits run as one turn of the tab, which prints what changed in total. The first step that
fails ends the command. The error names that step, and later steps do not run. If a step has opened a page that was
not read yet, the page is printed, too.

Name an element by its text, its label, its role and name, or its ref. If several match, choose one with the flags
of domtap click. To read many pages, use domtap batch.`

// Do returns the command do.
func Do(a *cli.App, root Root, steps Steps) *cobra.Command {
	cmd := a.TabCommand(&cobra.Command{
		Use:   "do STEP... | -",
		Short: "Run several commands in one call",
		Long:  doHelp,
		Example: `  domtap do 'open shop.example' 'fill Search tea' 'press Enter' 'wait text results' snapshot
  domtap do 'click button Edit' 'fill Name Grace' 'check Active' 'click button Save'
  domtap do - < steps.txt`,
		Args: cobra.ArbitraryArgs,
	})
	var each bool
	a.EachFlag(cmd, &each)
	cmd.RunE = cli.Work(func(cmd *cobra.Command, args []string) error {
		lines, err := linesOf(a.In, args)
		if err != nil {
			return err
		}
		d := &doRun{repl: repl{app: a, root: root, flags: given(cmd.Flags()), conns: new(cli.Conns)}, steps: steps, each: each}
		defer func() { _ = d.conns.Close() }() // the command has reported the failure
		if err := d.parse(lines); err != nil {
			return err
		}
		return d.run(cmd.Context())
	})
	return cmd
}

// linesOf returns the steps from the arguments, or from the lines of standard input.
func linesOf(in io.Reader, args []string) ([]string, error) {
	if len(args) > 0 && !slices.Equal(args, []string{"-"}) {
		return args, nil
	}
	if f, ok := in.(*os.File); ok && len(args) == 0 && term.IsTerminal(int(f.Fd())) {
		return nil, exit.Errorf(exit.Usage, "for example: domtap do 'click Save' 'wait text Saved'", "missing STEP")
	}
	var lines []string
	scan := linesFrom(in)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	if err := scan.Err(); err != nil {
		return nil, unreadable(err)
	}
	return lines, nil
}

// doRun is a running command do.
type doRun struct {
	repl
	steps Steps
	each  bool
	all   []doStep
	// header is the page header that was printed last.
	header string
	// unread means that a step opened a page, and no later step printed it.
	unread bool
}

// doStep is a step with its words as they were given.
type doStep struct {
	line  string
	words []string
	// steps holds the command's steps in a turn. If it is empty, the words are run as a separate command.
	steps []*domtapv1.Step
}

// parse checks all steps, so that nothing runs if one of them is invalid.
func (d *doRun) parse(lines []string) error {
	for i, line := range lines {
		words, err := commandOf(line)
		if err == nil && len(words) == 0 {
			continue
		}
		var steps []*domtapv1.Step
		if err == nil {
			steps, err = d.check(words)
		}
		if err != nil {
			var hint string
			if e, ok := errors.AsType[*exit.Error](err); ok {
				hint = e.Hint
			}
			return exit.Errorf(exit.Usage, hint, "step %d, %s: %w; nothing was done", i+1, line, err)
		}
		d.all = append(d.all, doStep{line: line, words: words, steps: steps})
	}
	if len(d.all) == 0 {
		return exit.Errorf(exit.Usage, "for example: domtap do 'click Save' 'wait text Saved'", "there is no step")
	}
	return nil
}

// check checks the words of a command and returns its steps, if it is made of steps.
func (d *doRun) check(words []string) ([]*domtapv1.Step, error) {
	switch words[0] {
	case "do", "repl":
		return nil, exit.Errorf(exit.Usage, "write its commands as steps of this command", "%s cannot be a step", words[0])
	}
	app := d.child(strings.NewReader(""))
	if err := app.Check(d.root(app, words...), words); err != nil {
		return nil, err
	}
	return d.steps.Parse(words)
}

// run runs the steps. Consecutive steps are combined into turns, and the others run as commands.
func (d *doRun) run(ctx context.Context) error {
	for i := 0; i < len(d.all); {
		n, steps := 0, 0
		for i+n < len(d.all) && d.all[i+n].steps != nil && steps+len(d.all[i+n].steps) <= d.steps.Max {
			steps += len(d.all[i+n].steps)
			n++
		}
		app := d.child(strings.NewReader(""))
		app.PageFollows = d.unread && !onOtherTab(d.all[i].words)
		code := exit.OK
		if n > 0 {
			code = d.turn(ctx, app, i, n)
		} else {
			n = 1
			app.Followed, app.Header = i+n < len(d.all), &d.header
			code = app.Run(ctx, d.root(app, d.all[i].words...), d.all[i].words)
		}
		d.unread = d.isUnread(d.all[i].words)
		if app.PageFollows && exit.OfPage(code) {
			page := d.child(strings.NewReader(""))
			page.Run(ctx, d.root(page, showPage...), slices.Clone(showPage))
		}
		switch left := len(d.all) - i - n; {
		case code == exit.OK:
		case left > 0:
			return exit.Errorf(code, "", "%s not done after it", plural.Of(left, "command"))
		default:
			return exit.Errorf(code, "", "%w", exit.ErrReported)
		}
		i += n
	}
	return nil
}

// showPage is the command that prints an unread page after a failed step.
var showPage = []string{"snapshot", "--max-tokens", "2000"}

// isUnread reports whether, after a command with these words, the tab has a page that a step opened and no step printed. It returns false
// for JSON output, in which each command prints only one message.
func (d *doRun) isUnread(words []string) bool {
	tab, _ := d.lookup("DOMTAP_TAB")
	output, _ := d.lookup("DOMTAP_OUTPUT")
	switch words[0] {
	case "open":
		return tab == "" && output != "json"
	case "goto", "back", "forward", "reload":
		return !onOtherTab(words) && output != "json"
	case "snapshot", "compact", "dom", "read":
		return d.unread && onOtherTab(words)
	}
	return d.unread
}

// onOtherTab reports whether the words of a command name its tab.
func onOtherTab(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return word == "--tab" || strings.HasPrefix(word, "--tab=") })
}

// turn performs n commands in one call, beginning with the command at index from.
func (d *doRun) turn(ctx context.Context, app *cli.App, from, n int) int {
	var words []string
	var steps []*domtapv1.Step
	for _, p := range d.all[from : from+n] {
		steps = append(steps, p.steps...)
		for range p.steps {
			words = append(words, p.line)
		}
	}
	cmd := d.steps.Turn(app, words, steps, d.reader(from+n), d.each)
	return app.Run(ctx, cmd, nil)
}

// readers lists the commands that print the page, so that an earlier step need not print it.
var readers = []string{"snapshot", "compact", "dom", "read", "find", "extract"}

// reader returns the command of a step if it reads the page, otherwise an empty string.
func (d *doRun) reader(at int) string {
	if at < len(d.all) && slices.Contains(readers, d.all[at].words[0]) {
		return d.all[at].words[0]
	}
	return ""
}
