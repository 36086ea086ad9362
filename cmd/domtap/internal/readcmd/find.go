package readcmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

const findHelp = `Find elements and texts on a page by words, and print one line for each, the best match first.

Case, accents and white space do not matter. "Words in double quotes" must be adjacent. Each word must be in
the name, value, placeholder or link target of an element, be its role, or be in its context: the row, list
item or article around it, the names of its ancestors, or the headings above it. If nothing matches several
quoted arguments together, each one is searched for separately.

A page without a match is not an error. The closest elements are printed instead. Many pages create the rows of a
long list only when it is scrolled; --scroll finds those, too.`

const findExamples = `  domtap find sign in
  domtap find delete grace hopper        # the Delete button in Grace Hopper's row
  domtap find --within "Grace Hopper" edit
  domtap find --scroll bilge pump
  domtap find --max-results 50 --max-tokens 2000 invoice
  domtap find '"terms of use"'           # these words as one phrase`

// Find returns the command find.
func Find(a *cli.App) *cobra.Command {
	var results, tokens int32
	var within string
	var scroll bool
	cmd := a.TabCommand(&cobra.Command{
		Use:     "find WORDS…",
		Short:   "Find elements and texts on a page by words",
		Long:    findHelp,
		Example: findExamples,
		Args:    cli.Args("WORDS…"), ValidArgsFunction: cobra.NoFileCompletions,
	})
	var at atFlag
	at.register(cmd)
	f := cmd.Flags()
	f.StringVar(&within, "within", "", "only matches inside this: a text of their row, item, group or dialog, a role, or a ref")
	f.BoolVar(&scroll, "scroll", false, "if nothing matches, scroll down and search again, until the end of the page")
	f.Int32Var(&results, "max-results", 10, "print at most this many matches, 1 to 50")
	cli.BudgetFlag(f, &tokens, 500, "maximum number of tokens of the text; 0 means no limit")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		id, err := c.TabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.FindRequest{TabId: id, Query: strings.Join(args, " "), ClientId: c.ID, Within: within, At: at.message()}
		if f.Changed("max-results") {
			request.MaxResults = proto.Int32(results)
		}
		if f.Changed("max-tokens") {
			request.MaxTokens = proto.Int32(tokens)
		}
		search := find
		switch {
		case scroll && request.GetAt() != nil:
			return exit.Errorf(exit.Usage, "search a recording without --scroll", "--at and --scroll exclude each other")
		case scroll:
			search = findBelow
		}
		answers, err := search(ctx, c, request, args)
		if err != nil {
			return err
		}
		return cli.ShowEach(a.Printer(), answers, func(all []*domtapv1.FindResponse) string { return a.WithoutHeader(found(all)) })
	})
	return cmd
}

// find searches for all arguments together. If nothing matches and some arguments are phrases, it searches for each argument separately.
func find(ctx context.Context, c *cli.Client, request *domtapv1.FindRequest, args []string) ([]*domtapv1.FindResponse, error) {
	answer, err := c.DOM.Find(ctx, request)
	if err != nil || len(answer.GetMatches()) > 0 || !phrases(args) {
		return []*domtapv1.FindResponse{answer}, err
	}
	return findEach(ctx, c, request, args)
}

const (
	// maxScrolls limits the number of times a search scrolls down.
	maxScrolls = 100
	// oneScroll is less than the height of a common viewport, in CSS pixels, so that a scroll skips no content.
	oneScroll = 600
	// endQuiet is the time without changes that a search awaits at the end of a page before it scrolls once more.
	endQuiet = 500 * time.Millisecond
	// maxQuiet limits how long it awaits that.
	maxQuiet = 3 * time.Second
)

// findBelow calls find, and scrolls down between calls until something matches. At the end of the page it waits for more content once.
func findBelow(ctx context.Context, c *cli.Client, request *domtapv1.FindRequest, args []string) ([]*domtapv1.FindResponse, error) {
	last, revision, waited := moved, uint64(0), false
	for range maxScrolls {
		answers, err := find(ctx, c, request, args)
		if err != nil || slices.ContainsFunc(answers, func(a *domtapv1.FindResponse) bool { return len(a.GetMatches()) > 0 }) {
			return answers, err
		}
		now := answers[len(answers)-1].GetRevision()
		atEnd := last == ended || last == unseen && now == revision
		if atEnd && waited {
			return answers, nil
		}
		if waited = atEnd; waited {
			if err := awaitQuiet(ctx, c, request); err != nil {
				return answers, err
			}
		}
		revision = now
		if last, err = scrollDown(ctx, c, request); err != nil {
			return answers, err
		}
	}
	return find(ctx, c, request, args)
}

// awaitQuiet waits until the page no longer changes. A page that always changes is no error.
func awaitQuiet(ctx context.Context, c *cli.Client, request *domtapv1.FindRequest) error {
	quiet := &domtapv1.WaitStep{Until: &domtapv1.WaitCondition{Quiet: durationpb.New(endQuiet)}, Timeout: durationpb.New(maxQuiet)}
	_, err := c.Actions.Interact(ctx, &domtapv1.InteractRequest{
		TabId: request.GetTabId(), Steps: []*domtapv1.Step{{Action: &domtapv1.Step_Wait{Wait: quiet}}}, ClientId: c.ID,
	})
	if e, ok := errors.AsType[*exit.Error](exit.Classify(err, nil)); ok && e.Reason == "WAIT_TIMEOUT" {
		return nil
	}
	return err
}

// movement is the effect of a scroll.
type movement uint8

const (
	moved movement = iota
	ended
	// unseen means that the page handled the wheel itself, or that a frame received it.
	unseen
)

// scrollDown scrolls the page down once.
func scrollDown(ctx context.Context, c *cli.Client, request *domtapv1.FindRequest) (movement, error) {
	down := &domtapv1.Step{Action: &domtapv1.Step_Scroll{Scroll: &domtapv1.ScrollStep{DeltaY: oneScroll}}}
	answer, err := c.Actions.Interact(ctx, &domtapv1.InteractRequest{TabId: request.GetTabId(), Steps: []*domtapv1.Step{down}, ClientId: c.ID})
	if err != nil || len(answer.GetResults()) == 0 {
		return ended, err
	}
	switch result := answer.GetResults()[0]; {
	case !result.GetOk(), strings.Contains(result.GetSummary(), driver.WheelUnused):
		return ended, nil
	case strings.HasSuffix(result.GetSummary(), driver.WheelHandled), strings.HasSuffix(result.GetSummary(), driver.WheelInFrame):
		return unseen, nil
	}
	return moved, nil
}

// phrases reports whether the arguments can be separate queries: there are several, and at least one contains a space.
func phrases(args []string) bool {
	return len(args) > 1 && slices.ContainsFunc(args, func(arg string) bool { return strings.ContainsRune(arg, ' ') })
}

// findEach searches for each argument separately.
func findEach(ctx context.Context, c *cli.Client, request *domtapv1.FindRequest, args []string) ([]*domtapv1.FindResponse, error) {
	answers := make([]*domtapv1.FindResponse, len(args))
	request = proto.CloneOf(request)
	for i, query := range args {
		request.Query = query
		var err error
		if answers[i], err = c.DOM.Find(ctx, request); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// found returns the text of the matches, with the page header and the context of neighbouring lines only once.
func found(answers []*domtapv1.FindResponse) string {
	var b strings.Builder
	for i, answer := range answers {
		text := answer.GetText()
		if i > 0 {
			_, text, _ = strings.Cut(text, "\n")
		}
		b.WriteString(render.Paragraph(withDittos(text)))
	}
	return b.String()
}

// withDittos replaces a context at the end of a line by ‹› if the line before ends in the same one.
func withDittos(text string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(text) {
		at := strings.LastIndex(line, " ‹")
		if at < 0 || !strings.HasSuffix(line, "›\n") {
			last = ""
		} else if context := line[at:]; context != last {
			last = context
		} else {
			line = line[:at] + " ‹›\n"
		}
		b.WriteString(line)
	}
	return b.String()
}
