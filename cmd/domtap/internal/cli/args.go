package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Args checks the number of arguments by their names in the help: URL is required, [TAB] is
// optional, and the last one repeats if it ends with an ellipsis.
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

// CheckArgs checks the number of arguments; a negative most is not a limit. Its error names the required
// arguments that are missing.
func CheckArgs(args, required []string, most int) error {
	switch {
	case len(args) < len(required):
		missing := strings.Join(required[len(args):], " and ")
		return fmt.Errorf("missing %s", strings.TrimSuffix(missing, "…"))
	case most >= 0 && len(args) > most:
		return fmt.Errorf("unexpected argument %q", args[most])
	}
	return nil
}

// ParseAlone parses the words of a command that has its own flags, without running it, and returns its arguments. Common reports that
// flags were given that all commands on a tab have: they are taken, unless the command has a flag of the name.
func ParseAlone(cmd *cobra.Command, words []string) (args []string, common bool, err error) {
	of := &cobra.Command{}
	New(Env{}).TabCommand(of)
	cmd.Flags().AddFlagSet(of.Flags())
	if err := cmd.ParseFlags(words); err != nil {
		return nil, false, err
	}
	cmd.Flags().Visit(func(flag *pflag.Flag) { common = common || IsCommon(flag) })
	return cmd.Flags().Args(), common, nil
}
