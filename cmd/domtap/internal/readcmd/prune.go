package readcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/internal/transcript"
)

// Prune returns the command prune.
func Prune(a *cli.App) *cobra.Command {
	o := transcript.Default()
	var stats bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old page snapshots from a chat transcript",
		Long: `Read a chat transcript from standard input and write it to standard output, with placeholders for all but the
newest page snapshots in the results of browser tools. A diff is removed together with the snapshot that it is
based on. Everything else is copied byte for byte, and pruning twice changes nothing. The command needs no
daemon. It buffers the transcript from the oldest kept snapshot on.

A transcript is a JSON array of messages, or an object with such an array under "messages" or "input". The
messages can be OpenAI chat completions and responses, Anthropic messages, Vercel AI SDK messages, or MCP results.`,
		Example: "  domtap prune < in.json > out.json\n  domtap prune --keep 2 --tools 'browser_*,visit' --stats < in.json > out.json",
		Args:    cli.Args(),
	}
	f := cmd.Flags()
	f.IntVar(&o.Keep, "keep", o.Keep, "number of the newest snapshots to keep")
	f.StringSliceVar(&o.Tools, "tools", nil, "name patterns of the tools whose results are snapshots (default: the usual browser tools)")
	f.IntVar(&o.MinBytes, "min-bytes", transcript.DefaultMinBytes, "keep results with fewer bytes than this")
	f.StringVar(&o.Placeholder, "placeholder", transcript.Placeholder, "the text that replaces a snapshot")
	f.BoolVar(&stats, "stats", false, "print on standard error what was removed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Keep < 0 || o.MinBytes <= 0 {
			return exit.Errorf(exit.Usage, "", "--keep must be 0 or more, and --min-bytes more than 0")
		}
		got, err := transcript.Stream(render.Exact(a.Out), a.In, o)
		if err != nil {
			return exit.Errorf(exit.Failure, "the output is incomplete", "standard input: %w", err)
		}
		if stats {
			_, err = fmt.Fprintf(a.Err, "%d of %d snapshots removed, %d bytes became %d\n", got.Removed, got.Snapshots, got.BytesBefore, got.BytesAfter)
		}
		return err
	}
	return cmd
}
