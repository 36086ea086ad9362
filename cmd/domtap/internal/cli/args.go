package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Args checks the number of arguments against their names in the help. URL is required, [TAB] is optional. If the last name ends with an
// ellipsis, the argument repeats.
func Args(names ...string) cobra.PositionalArgs {
	var required []string
	most := len(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			required = append(required, name)
		}
		if strings.HasSuffix(strings.TrimSuffix(name, "]"), "…") {
			most = -1
		}
	}
	return func(_ *cobra.Command, args []string) error { return CheckArgs(args, required, most) }
}

// CheckArgs checks the number of arguments. A negative limit means no limit. The error names the missing required arguments.
func CheckArgs(args, required []string, limit int) error {
	switch {
	case len(args) < len(required):
		missing := strings.Join(required[len(args):], " and ")
		return fmt.Errorf("missing %s", strings.TrimSuffix(missing, "…"))
	case limit >= 0 && len(args) > limit:
		return fmt.Errorf("unexpected argument %q", args[limit])
	}
	return nil
}

// ParseAlone parses the words of a command that has its own flags, without running it, and returns its arguments. It also accepts the flags
// of tab commands, unless the command has a flag of the same name. common reports whether one of them was given.
func ParseAlone(cmd *cobra.Command, words []string) (args []string, common bool, err error) {
	of := &cobra.Command{}
	New(Env{}).TabCommand(of)
	cmd.Flags().AddFlagSet(of.Flags())
	if err := cmd.ParseFlags(numbersAsArguments(cmd, words)); err != nil {
		return nil, false, err
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) { common = common || IsCommon(flag) })
	return cmd.Flags().Args(), common, nil
}

// numbersAsArguments moves the arguments of a command behind "--" if one of them is a negative number, so that the number is not parsed as
// a flag.
func numbersAsArguments(cmd *cobra.Command, words []string) []string {
	if !slices.ContainsFunc(words, isNegative) {
		return words
	}
	var flags, args []string
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case word == "--":
			return slices.Concat(flags, []string{"--"}, args, words[i+1:])
		case word == "-" || !strings.HasPrefix(word, "-") || isNegative(word):
			args = append(args, word)
		default:
			flags = append(flags, word)
			if takesNext(cmd, word) && i+1 < len(words) {
				i++
				flags = append(flags, words[i])
			}
		}
	}
	return slices.Concat(flags, []string{"--"}, args)
}

// isNegative reports whether a word begins like a negative number.
func isNegative(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] >= '0' && word[1] <= '9' || word[1] == '.')
}

// takesNext reports whether the value of a flag is the next word.
func takesNext(cmd *cobra.Command, word string) bool {
	name, long := strings.CutPrefix(word, "--")
	var flag *pflag.Flag
	switch {
	case long:
		flag = cmd.Flag(name)
	case len(word) == 2:
		if flag = cmd.Flags().ShorthandLookup(word[1:]); flag == nil {
			flag = cmd.InheritedFlags().ShorthandLookup(word[1:])
		}
	}
	return flag != nil && flag.NoOptDefVal == ""
}

// withNumbers returns a command line in which negative numbers are arguments and not flags.
func withNumbers(root *cobra.Command, line []string) []string {
	if !slices.ContainsFunc(line, isNegative) {
		return line // the usual case: the command is looked up only once, by cobra
	}
	cmd, words, err := root.Find(line)
	if err != nil {
		return line
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	return append(path, numbersAsArguments(cmd, words)...)
}
