package readcmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

var searchKinds = map[string]domtapv1.SearchKind{
	"web":      domtapv1.SearchKind_SEARCH_KIND_WEB,
	"news":     domtapv1.SearchKind_SEARCH_KIND_NEWS,
	"images":   domtapv1.SearchKind_SEARCH_KIND_IMAGES,
	"places":   domtapv1.SearchKind_SEARCH_KIND_PLACES,
	"shopping": domtapv1.SearchKind_SEARCH_KIND_SHOPPING,
}

// searchFlags holds the flags of the command search.
type searchFlags struct {
	kind        cli.Choice
	provider    string
	max, tokens int32
	age         time.Duration
	cmd         *cobra.Command
}

// Search returns the command search.
func Search(a *cli.App) *cobra.Command {
	var flags searchFlags
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Search the web without a tab",
		Long: `Search the web with the daemon's search provider (domtap serve --search-provider), and print the title, host,
date, URL and an extract of each result. No tab is opened.

Most providers understand "words in quotes", -word and site:host. The daemon caches results for a while. The
first line contains the age of cached results. --max-age 0 queries the provider again.`,
		Example: `  domtap search go 1.26 release notes
  domtap search --kind news --max 5 chromium
  domtap search --kind images --json gopher
  domtap search --max-age 0 'site:go.dev "garbage collector"'`,
		Args: cli.Args("WORDS…"), ValidArgsFunction: cobra.NoFileCompletions,
	}
	a.Flags.Register(cmd)
	flags.register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		answer, err := domtapv1.NewSearchServiceClient(c.Conn).Search(ctx, flags.request(args))
		if err != nil {
			return err
		}
		return a.Printer().Show(answer, func() string { return render.Paragraph(answer.GetText()) })
	})
	return cmd
}

func (s *searchFlags) register(cmd *cobra.Command) {
	s.cmd = cmd
	cli.ChoiceFlag(cmd, &s.kind, "kind", "k", "the kind of results", "web", "news", "images", "places", "shopping")
	f := cmd.Flags()
	f.Int32VarP(&s.max, "max", "n", 10, "print at most this many results, 1 to 50")
	cli.BudgetFlag(f, &s.tokens, 1500, "maximum number of tokens of the text; 0 means no limit")
	f.DurationVar(&s.age, "max-age", 10*time.Minute, "maximum age of cached results, up to 24h; 0 queries the provider")
	f.StringVar(&s.provider, "provider", "", "the provider to use (default: the daemon's first provider with this kind)")
	cli.MarkRare(f, "max-age", "provider")
}

func (s *searchFlags) request(words []string) *domtapv1.SearchRequest {
	f := s.cmd.Flags()
	request := &domtapv1.SearchRequest{Query: strings.Join(words, " "), Kind: searchKinds[s.kind.Value], Provider: s.provider}
	if f.Changed("max") {
		request.Limit = proto.Int32(s.max)
	}
	if f.Changed("max-tokens") {
		request.MaxTokens = proto.Int32(s.tokens)
	}
	if f.Changed("max-age") {
		request.MaxAge = durationpb.New(s.age)
	}
	return request
}
