package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/prune"
)

func pruneCommand(a *app) *cobra.Command {
	o := prune.Default()
	var stats bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Make a chat transcript smaller: keep the newest page snapshot only",
		Long: `Read a chat transcript from standard input and write it to standard output, with a placeholder for all but
the newest page snapshots that browser tools have answered with; reports of what changed go with the page that they lead
away from. Everything else comes out byte for byte, and pruning twice is pruning once. It needs no daemon, and holds what lies
behind the oldest snapshot that is kept.

A transcript is a JSON array of messages, or an object with one under "messages" or "input": OpenAI chat completions and
responses, Anthropic messages, Vercel AI SDK messages, MCP results.`,
		Example: "  domtap prune < in.json > out.json\n  domtap prune --keep 2 --tools 'browser_*,visit' --stats < in.json > out.json",
		Args:    cobra.NoArgs,
	}
	f := cmd.Flags()
	f.IntVar(&o.Keep, "keep", o.Keep, "how many of the newest snapshots to keep")
	f.StringSliceVar(&o.Tools, "tools", nil, "patterns for the names of the tools whose results are snapshots (instead of the usual browser tools)")
	f.IntVar(&o.MinBytes, "min-bytes", prune.DefaultMinBytes, "results that are shorter stay")
	f.StringVar(&o.Placeholder, "placeholder", prune.Placeholder, "what is written in the place of a snapshot")
	f.BoolVar(&stats, "stats", false, "say on standard error what was saved")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Keep < 0 || o.MinBytes <= 0 {
			return exit.Errorf(exit.Usage, "", "--keep must be 0 or more, and --min-bytes more than 0")
		}
		got, err := prune.Stream(a.out, a.in, o)
		if err != nil {
			return exit.Errorf(exit.Failure, "what was written is not complete", "standard input: %w", err)
		}
		if stats {
			_, err = fmt.Fprintf(a.complaints, "%d of %d snapshots removed, %d bytes became %d\n", got.Removed, got.Snapshots, got.BytesBefore, got.BytesAfter)
		}
		return err
	}
	return cmd
}
