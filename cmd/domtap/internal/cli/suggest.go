package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/internal/nearest"
)

// misuse makes the error of a command line that cobra refused. Its hint names the nearest command
// or flag.
func misuse(cmd *cobra.Command, err error) *exit.Error {
	e := &exit.Error{Code: exit.Usage, Err: err, Hint: "run " + cmd.CommandPath() + " --help for usage"}
	if unknown, ok := errors.AsType[*unknownCommand](err); ok {
		if near := nearest.Name(unknown.name, commandNames(cmd)); near != "" {
			e.Hint = fmt.Sprintf("did you mean: %s %s", cmd.CommandPath(), near)
		}
	}
	if flag, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if near := nearest.Name(flag.GetSpecifiedName(), flagNames(cmd)); near != "" {
			e.Hint = fmt.Sprintf("did you mean: %s --%s", cmd.CommandPath(), near)
		}
	}
	return e
}

// unknownCommand is the error of a word that names no command.
type unknownCommand struct{ name, parent string }

func (u *unknownCommand) Error() string {
	return fmt.Sprintf("unknown command %q for %q", u.name, u.parent)
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
