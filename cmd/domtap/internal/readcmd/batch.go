package readcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// batchFlags holds the flags of the command batch.
type batchFlags struct {
	schema, session     string
	mode                cli.Choice
	maxTokens, parallel int32
	each                time.Duration
	cmd                 *cobra.Command
}

// Batch returns the command batch.
func Batch(a *cli.App) *cobra.Command {
	var flags batchFlags
	cmd := &cobra.Command{
		Use:   "batch URL... | -",
		Short: "Read many pages in parallel, in temporary tabs",
		Long: `Open each URL in a separate tab, read the page as domtap read does, or extract data with --schema, and close
the tab.

Pass at most 50 URLs. The results are in the order of the URLs. - reads the URLs from standard input, one per
line. A page that fails does not affect the others. The exit code reports failures after all pages are done.`,
		Example: "  domtap batch example.com example.org\n  domtap batch --schema product.json - <urls.txt",
		Args:    cli.Args("URL…"),
	}
	a.Flags.Register(cmd)
	flags.register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request, err := flags.request(a, args)
		if err != nil {
			return err
		}
		answer, err := c.Pages.Batch(ctx, request)
		if err != nil {
			return err
		}
		if err := a.Printer().Show(answer, func() string { return render.Batch(answer) }); err != nil {
			return err
		}
		return failedPages(answer.GetResults())
	})
	return cmd
}

func (b *batchFlags) register(cmd *cobra.Command) {
	b.cmd = cmd
	cli.ChoiceFlag(cmd, &b.mode, "mode", "m", "the representation of the pages", "auto", "content", "interactive")
	f := cmd.Flags()
	f.StringVar(&b.schema, "schema", "", "extract data with the schema in this file instead of reading")
	f.StringVar(&b.session, "session", "", "the session in which to open the tabs")
	cli.BudgetFlag(f, &b.maxTokens, 1500, "maximum number of tokens of each page; 0 means no limit")
	f.Int32Var(&b.parallel, "parallel", 4, "number of pages to read in parallel, 1 to 8")
	f.DurationVar(&b.each, "each", 15*time.Second, "the time limit of each page, at most 1m")
	cli.MarkRare(f, "each", "parallel", "session")
}

func (b *batchFlags) request(a *cli.App, args []string) (*domtapv1.BatchRequest, error) {
	urls, err := readURLs(a, args)
	if err != nil {
		return nil, err
	}
	set := b.cmd.Flags().Changed
	r := &domtapv1.BatchRequest{Urls: urls, What: readModes[b.mode.Value], SessionId: b.session}
	if set("schema") {
		text, err := a.ReadFile(b.schema)
		if err != nil {
			return nil, err
		}
		r.SchemaJson, r.What = string(text), 0
	}
	if set("max-tokens") {
		r.MaxTokens = proto.Int32(b.maxTokens)
	}
	if set("parallel") {
		r.Parallel = b.parallel
	}
	if set("each") {
		r.Timeout = durationpb.New(b.each)
	}
	return r, nil
}

// failedPages returns the error of a batch with failed pages. Its exit code is the common exit code of the pages, or Failure if these
// differ.
func failedPages(results []*domtapv1.BatchResult) error {
	var first *exit.Error
	failed := 0
	for _, one := range results {
		if one.GetError() == "" {
			continue
		}
		failed++
		var e *exit.Error
		errors.As(exit.FromReason(one.GetReason(), one.GetError()), &e) // FromReason returns an *exit.Error
		if first == nil {
			first = e
			first.Err = fmt.Errorf("%s: %w", one.GetUrl(), e.Err)
		} else if first.Code != e.Code {
			first.Code, first.Hint, first.Reason = exit.Failure, "", ""
		}
	}
	if first == nil {
		return nil
	}
	first.Err = fmt.Errorf("%d of %s failed; the first: %w", failed, plural.Of(len(results), "page"), first.Err)
	return first
}

// readURLs completes the URLs of the arguments, or of standard input for "-".
func readURLs(a *cli.App, args []string) ([]string, error) {
	if len(args) == 1 && args[0] == "-" {
		args = nil
		for lines := bufio.NewScanner(a.In); lines.Scan(); {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				args = append(args, line)
			}
		}
	}
	if len(args) == 0 {
		return nil, exit.Errorf(exit.Usage, "write one URL per line", "no URL on standard input")
	}
	urls := make([]string, len(args))
	for i, arg := range args {
		urls[i] = cli.CompleteURL(arg)
	}
	return urls, nil
}
