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

// Check returns the error of an invalid command line without running it, as Run would report it.
func (a *App) Check(root *cobra.Command, args []string) error {
	cmd, err := parse(root, args)
	if _, known := errors.AsType[*exit.Error](err); known || err == nil {
		return err
	}
	return a.misuse(cmd, args, err)
}

// parse parses a command line without running it.
func parse(root *cobra.Command, args []string) (*cobra.Command, error) {
	cmd, rest, err := root.Find(args)
	if err == nil {
		err = cmd.ParseFlags(numbersAsArguments(cmd, rest))
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

// misuse returns the error of a command line that cobra rejected. Its hint contains a valid command line.
func (a *App) misuse(cmd *cobra.Command, args []string, err error) *exit.Error {
	if unknown := unknownIn(cmd, args); unknown != nil { // reported before an unknown flag, because the intended command may have that flag
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

// commandFor returns the command that an unknown word most likely means.
func (a *App) commandFor(parent *cobra.Command, args []string, word string) string {
	line := ForeignCommands[nearest.Plain(word)]
	near := nearest.Name(word, commandNames(parent))
	switch {
	case line != "" && !parent.HasParent():
		return "use: " + line
	case near != "":
		cmd, _, _ := parent.Find([]string{near})
		return "did you mean: " + cmp.Or(a.line(replaced(args, word, near)), usage(cmd))
	case !parent.HasParent():
		return "run domtap --help to list the commands"
	}
	return "usage: " + usage(parent)
}

// flagFor returns the flag that an unknown one most likely means, or the command that has it.
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

// replaced returns a copy of words with the first occurrence of old replaced by replacement. old may also be the part of a word before or
// after "=".
func replaced(words []string, old, replacement string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		name, value, both := strings.Cut(word, "=")
		switch {
		case word == old:
			words[i] = replacement
		case both && name == old:
			words[i] = replacement + "=" + value
		case both && value == old && strings.HasPrefix(name, "-"):
			words[i] = name + "=" + replacement
		default:
			continue
		}
		return words
	}
	return words
}

// sample returns an example value for a flag: the allowed word that is nearest to word, or the default.
func sample(f *pflag.Flag, word string) string {
	if choice, ok := f.Value.(*Choice); ok {
		return cmp.Or(nearest.Name(word, choice.allowed), choice.allowed[0])
	}
	switch f.DefValue {
	case "0":
		return "1"
	case "0s":
		return "1s"
	}
	return f.DefValue
}

// longestLine limits the length of a command line in a hint, in bytes.
const longestLine = 200

var plainWord = lazyregexp.New(`^[\w@%+=:,./-]+$`)

// line quotes words as a command line for a shell. It returns an empty string if domtap cannot run the line or the line is too long.
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

// usage returns one line about the use of a command: its arguments or subcommands, and its first example.
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

// exampleOf returns the first example of a command that contains the flag. An empty flag selects the first example. It returns an empty
// string if there is none.
func exampleOf(cmd *cobra.Command, flag string) string {
	for line := range strings.Lines(cmd.Example) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		if strings.HasPrefix(line, "domtap ") && (flag == "" || strings.Contains(line+" ", " --"+flag+" ")) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// maxOwners limits how many commands may have a flag if a hint is to name one of them.
const maxOwners = 2

// exampleWith returns an example with a flag that only few commands have, or an empty string if there is none.
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
	if owners > maxOwners {
		return ""
	}
	return line
}

// unknownCommand is the error for a word that is not the name of a command.
type unknownCommand struct{ name, parent string }

func (u *unknownCommand) Error() string {
	return fmt.Sprintf("unknown command %q for %q", u.name, u.parent)
}

// unknownIn returns the error for a word that should name a subcommand of cmd and does not. Otherwise it returns nil.
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

// OnlySubcommands lets a command reject any word that is not a subcommand. A command that only has subcommands prints its help.
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

// flagNames returns the names of a command's flags, including alternative names.
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
