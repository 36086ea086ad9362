package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/lazyregexp"
	"github.com/domtap/domtap/internal/nearest"
)

// Check returns what is wrong with a command line before any work begins, as Run reports it.
func (a *App) Check(root *cobra.Command, args []string) error {
	cmd, err := parse(root, args)
	if _, known := errors.AsType[*exit.Error](err); known || err == nil {
		return err
	}
	return a.misuse(cmd, args, err)
}

// parse reads a command line without running it.
func parse(root *cobra.Command, args []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return cmd, unknownIn(cmd, args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err == nil {
		err = cmd.ValidateFlagGroups()
	}
	return cmd, err
}

// misuse makes the error of a command line that cobra refused. Its hint has a line that works.
func (a *App) misuse(cmd *cobra.Command, args []string, err error) *exit.Error {
	if unknown := unknownIn(cmd, args); unknown != nil { // said before an unknown flag, which the command that is meant may have
		err = unknown
	}
	return &exit.Error{Code: exit.Usage, Err: err, Hint: a.hint(cmd, args, err)}
}

func (a *App) hint(cmd *cobra.Command, args []string, err error) string {
	if unknown, ok := errors.AsType[*unknownCommand](err); ok {
		return a.commandFor(cmd, args, unknown.name)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return a.flagFor(cmd, args, unknown.GetSpecifiedName())
	}
	line := ""
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		line = a.line(replaced(args, wrong.GetValue(), sample(wrong.GetFlag(), wrong.GetValue())))
	}
	if bare, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		line = a.line(append(slices.Clone(args), sample(bare.GetFlag(), "")))
	}
	if line != "" {
		return "for example: " + line
	}
	return "usage: " + usage(cmd)
}

// commandFor names the command that an unknown word most likely means.
func (a *App) commandFor(parent *cobra.Command, args []string, word string) string {
	line := Elsewhere[nearest.Plain(word)]
	near := nearest.Name(word, commandNames(parent))
	switch {
	case line != "" && !parent.HasParent():
		return "here that is: " + line
	case near != "":
		cmd, _, _ := parent.Find([]string{near})
		return "did you mean: " + cmp.Or(a.line(replaced(args, word, near)), usage(cmd))
	case !parent.HasParent():
		return "domtap --help lists the commands"
	}
	return "usage: " + usage(parent)
}

// flagFor names the flag that an unknown one most likely means, or the command that has it.
func (a *App) flagFor(cmd *cobra.Command, args []string, name string) string {
	if near := nearest.Name(name, flagNames(cmd)); near != "" {
		if line := a.line(replaced(args, "--"+name, "--"+near)); line != "" {
			return "did you mean: " + line
		}
		return "did you mean: --" + near + "; usage: " + usage(cmd)
	}
	if line := a.exampleWith(name); line != "" {
		return "--" + name + " is a flag of another command: " + line
	}
	return "usage: " + usage(cmd)
}

// replaced returns words with the first that is a certain one, perhaps before or behind a =, replaced in that.
func replaced(words []string, from, to string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		name, value, both := strings.Cut(word, "=")
		switch {
		case word == from:
			words[i] = to
		case both && name == from:
			words[i] = to + "=" + value
		case both && value == from && strings.HasPrefix(name, "-"):
			words[i] = name + "=" + to
		default:
			continue
		}
		return words
	}
	return words
}

// sample is a value for a flag: of its words the one nearest to what was given, or its default.
func sample(f *pflag.Flag, given string) string {
	if choice, ok := f.Value.(*Choice); ok {
		return cmp.Or(nearest.Name(given, choice.allowed), choice.allowed[0])
	}
	switch f.DefValue {
	case "0":
		return "1"
	case "0s":
		return "1s"
	}
	return f.DefValue
}

// longestLine is how long a command line in a hint may be, in bytes.
const longestLine = 200

var plainWord = lazyregexp.New(`^[\w@%+=:,./-]+$`)

// line writes words as a shell and domtap do read them; empty: they are no command line that can be run, or a long one.
func (a *App) line(words []string) string {
	if a.Root == nil {
		return ""
	}
	if _, err := parse(a.Root(words...), words); err != nil {
		return ""
	}
	line := "domtap"
	for _, word := range words {
		if !plainWord().MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		line += " " + word
	}
	if len(line) > longestLine || strings.ContainsFunc(line, unicode.IsControl) {
		return ""
	}
	return line
}

// usage is one line that says how to use a command: its arguments or subcommands, and its first example.
func usage(cmd *cobra.Command) string {
	line := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if names := commandNames(cmd); len(names) > 0 && cmd.HasParent() && !strings.Contains(cmd.Use, " ") {
		line += " " + strings.Join(names, "|")
	}
	if example := exampleOf(cmd, ""); example != "" {
		line += ", for example: " + example
	}
	return line
}

// exampleOf returns the first example of a command with a flag, or any for an empty name; empty: there is none.
func exampleOf(cmd *cobra.Command, flag string) string {
	for line := range strings.Lines(cmd.Example) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		if strings.HasPrefix(line, "domtap ") && (flag == "" || strings.Contains(line+" ", " --"+flag+" ")) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// mostOwners is how many commands may have a flag that says which of them is meant.
const mostOwners = 2

// exampleWith returns an example with a flag that few commands have; empty: there is none.
func (a *App) exampleWith(flag string) string {
	if a.Root == nil {
		return ""
	}
	owners, line := 0, ""
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if f := cmd.Flags().Lookup(flag); f != nil && !f.Hidden {
			owners++
			line = cmp.Or(line, exampleOf(cmd, flag))
		}
		for _, one := range cmd.Commands() {
			visit(one)
		}
	}
	visit(a.Root())
	if owners > mostOwners {
		return ""
	}
	return line
}

// unknownCommand is the error of a word that names no command.
type unknownCommand struct{ name, parent string }

func (u *unknownCommand) Error() string {
	return fmt.Sprintf("unknown command %q for %q", u.name, u.parent)
}

// unknownIn returns the error of the word behind the names of a command, when that should name a subcommand and does not; nil: all is well.
func unknownIn(cmd *cobra.Command, args []string) error {
	at := strings.Count(cmd.CommandPath(), " ")
	if at >= len(args) || strings.HasPrefix(args[at], "-") || cmd.Args == nil {
		return nil
	}
	if err, ok := errors.AsType[*unknownCommand](cmd.Args(cmd, args[at:at+1])); ok {
		return err
	}
	return nil
}

// OnlySubcommands makes a command with subcommands refuse any other word, and print its help when
// it has no work of its own.
func OnlySubcommands(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return &unknownCommand{args[0], cmd.CommandPath()}
	}
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

func commandNames(parent *cobra.Command) []string {
	var names []string
	for _, cmd := range parent.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(append(names, cmd.Name()), cmd.Aliases...)
		}
	}
	return names
}

// flagNames are the names of the flags of a command, with their second names.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if cmd.Flags().Lookup(aliases[alias]) != nil {
			names = append(names, alias)
		}
	}
	return names
}
