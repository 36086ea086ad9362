package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
