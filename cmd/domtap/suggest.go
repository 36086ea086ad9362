package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// misuse is the error of a command line that no command took, with the nearest command or flag that there is.
func misuse(cmd *cobra.Command, args []string, err error) *exit.Error {
	e := &exit.Error{Code: exit.Usage, Err: err, Hint: cmd.CommandPath() + " --help shows how it is used"}
	var unknown *unknownCommand
	if errors.As(err, &unknown) {
		if near := nearest(unknown.name, commandNames(cmd)); near != "" {
			e.Hint = fmt.Sprintf("did you mean: %s %s", cmd.CommandPath(), near)
		}
	}
	var flag *pflag.NotExistError
	if errors.As(err, &flag) {
		if near := nearest(flag.GetSpecifiedName(), flagsOf(cmd)); near != "" {
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

// onlyCommands makes a command that has others show its help, and refuse what is none of them.
func onlyCommands(cmd *cobra.Command) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return &unknownCommand{args[0], cmd.CommandPath()}
	}
	if cmd.RunE == nil { // one that does work of its own sets it
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

func flagsOf(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// separators are what people put differently between the words of a name.
var separators = regexp.MustCompile(`[-_]`)

// nearest is the name that a word was most likely meant to be; empty: none is near.
func nearest(word string, names []string) string {
	word = separators.ReplaceAllString(strings.ToLower(word), "")
	found, least := "", 3 // so many wrong letters are no slip of the hand
	for _, name := range names {
		plain := separators.ReplaceAllString(strings.ToLower(name), "")
		distance := edits(word, plain)
		if len(word) >= 3 && distance >= least && strings.HasPrefix(plain, word) {
			distance = least - 1
		}
		if distance < least && distance < max(len(word), len(plain)) && (distance <= 1 || len(word) > 4) {
			found, least = name, distance
		}
	}
	return found
}

// edits counts the letters to insert, remove, replace or swap that make one word of another (the optimal string alignment
// distance).
func edits(a, b string) int {
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(next[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
