// Package replcmd provides the commands repl and do. repl is a prompt that runs the commands of the program without its name, over one
// connection.
//
// On a terminal, repl edits lines, keeps a history and completes commands, flags, tabs and refs as the shell does. Otherwise it runs a
// script and stops at the first command that fails.
package replcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/refs"
)

// maxLine limits the length of a line in a script, in bytes.
const maxLine = 1 << 20

// Root returns the tree of commands for one line.
type Root func(a *cli.App, args ...string) *cobra.Command

// Repl returns the command repl.
func Repl(a *cli.App, root Root) *cobra.Command {
	var keepGoing bool
	cmd := a.TabCommand(&cobra.Command{
		Use:   "repl",
		Short: "Run commands at a prompt, or from a script on standard input",
		Long: `Run domtap commands without the word domtap, one per line, over one connection. Quote words as in a shell. The
flags of repl apply to every line.

On a terminal, Tab completes commands, flags, tabs and refs. The arrow keys edit the line and browse the history.
? lists the commands. Ctrl-C ends a command or clears the line. exit or Ctrl-D ends the prompt.

From a pipe or a file, each line is a command, and # begins a comment. The first command that fails ends the script
with its exit code.`,
		Example: "  domtap repl\n  domtap repl --tab t2 < steps.txt\n  printf 'open https://example.com\\nsnapshot\\n' | domtap repl",
		Args:    cli.Args(),
	})
	cmd.Flags().BoolVar(&keepGoing, "keep-going", false, "in a script, continue after a command that fails; the exit code is the code of the last failed command")
	cmd.RunE = cli.Work(func(cmd *cobra.Command, _ []string) error {
		r := &repl{app: a, root: root, flags: given(cmd.Flags()), conns: new(cli.Conns)}
		defer func() { _ = r.conns.Close() }() // the command has reported the failure
		if in, ok := a.In.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
			return r.prompt(cmd.Context(), in)
		}
		return r.script(cmd.Context(), keepGoing)
	})
	return cmd
}

// repl is one prompt or one script.
type repl struct {
	app   *cli.App
	root  Root
	flags map[string]string
	conns *cli.Conns
}

// given maps the variables of the given flags to their values. Through these variables, the flags apply to each line.
func given(f *pflag.FlagSet) map[string]string {
	set := map[string]string{}
	f.Visit(func(flag *pflag.Flag) {
		if variable := flag.Annotations[cli.EnvAnnotation]; len(variable) > 0 {
			set[variable[0]] = flag.Value.String()
		}
	})
	if json := f.Lookup("json"); json != nil && json.Value.String() == "true" {
		set["DOMTAP_OUTPUT"] = "json"
	}
	return set
}

// lookup reads the environment variables of each line.
func (r *repl) lookup(name string) (string, bool) {
	if value, set := r.flags[name]; set {
		return value, true
	}
	return r.app.Lookup(name)
}

// child returns the App of one line. It shares the connections.
func (r *repl) child(in io.Reader) *cli.App {
	env := r.app.Env
	env.Lookup, env.In, env.Conns = endpoint.Lookup(r.lookup), in, r.conns
	return cli.New(env)
}

// errExit ends the prompt.
var errExit = errors.New("exit")

// run runs one line and returns the exit code of its command.
func (r *repl) run(ctx context.Context, line string, in io.Reader) (int, error) {
	words, err := commandOf(line)
	if err != nil {
		r.app.Note("domtap: %v", err)
		return exit.Usage, nil
	}
	if len(words) == 0 {
		return exit.OK, nil
	}
	switch words[0] {
	case "exit", "quit":
		return exit.OK, errExit
	case "?":
		words[0] = "help"
	case "repl":
		r.app.Note("domtap: this is a prompt already: exit ends it")
		return exit.Usage, nil
	}
	app := r.child(in)
	return app.Run(ctx, r.root(app, words...), words), nil
}

// script runs the lines of standard input.
func (r *repl) script(ctx context.Context, keepGoing bool) error {
	lines := linesFrom(r.app.In)
	failed := exit.OK
	for number := 1; lines.Scan(); number++ {
		code, err := r.run(ctx, lines.Text(), strings.NewReader(""))
		if errors.Is(err, errExit) {
			break
		}
		if code == exit.OK {
			continue
		}
		failed = code
		if !keepGoing || ctx.Err() != nil {
			return exit.Errorf(code, "", "line %d failed", number)
		}
	}
	if err := lines.Err(); err != nil {
		return unreadable(err)
	}
	if failed != exit.OK {
		return exit.Errorf(failed, "", "some lines failed")
	}
	return nil
}

// linesFrom returns a scanner for the lines of a script. Pass its error to unreadable.
func linesFrom(in io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	return lines
}

// unreadable returns the error of a script that cannot be read to its end.
func unreadable(err error) error {
	return exit.Errorf(exit.Usage, "a line has at most 1 MiB", "read the script: %w", err)
}

// commandOf splits a line into the words of a command, without the name of the program.
//
// A quoted number after the name of an action is the text of its target and not a ref.
func commandOf(line string) ([]string, error) {
	words, quoted, err := split(line)
	if err == nil && len(words) > 0 && words[0] == "domtap" {
		words, quoted = words[1:], quoted[1:]
	}
	if len(words) > 1 && quoted[1] && refs.IsNumber(words[1]) && slices.Contains(pointed, words[0]) {
		words = slices.Insert(words, 1, "--text")
	}
	return words, err
}

// pointed lists the commands whose first argument is a target.
var pointed = strings.Fields("click dblclick hover check uncheck fill select")

// Split splits a line into words like a shell. Single quotes keep everything, double quotes keep everything except backslashes before " and
// \, a backslash keeps the next character, and # at the beginning of a word starts a comment.
func Split(line string) ([]string, error) {
	words, _, err := split(line)
	return words, err
}

// split implements Split. quoted reports which words began with a quote.
func split(line string) (words []string, quoted []bool, err error) {
	var word strings.Builder
	inWord, isQuoted, quote := false, false, rune(0)
	end := func() {
		if inWord {
			words, quoted = append(words, word.String()), append(quoted, isQuoted)
		}
		word.Reset()
		inWord, isQuoted = false, false
	}
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		next := func() bool { return i+1 < len(runes) }
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteRune(c)
		case c == '\\' && next() && (quote == 0 || runes[i+1] == '"' || runes[i+1] == '\\'):
			i++
			word.WriteRune(runes[i])
			inWord = true
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			isQuoted = isQuoted || !inWord
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case c == '#' && !inWord:
			return words, quoted, nil
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, nil, fmt.Errorf("the quote %c does not end", quote)
	}
	end()
	return words, quoted, nil
}
