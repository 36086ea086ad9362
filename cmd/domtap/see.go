package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func extractCommand(a *app) *cobra.Command {
	var schema, table, caption string
	var rows int32
	var root uint32
	cmd := a.tabCommand(&cobra.Command{
		Use:   "extract SELECTOR... | --schema FILE | --table HEADERS",
		Short: "Read data from a page, as JSON",
		Long: `Read data from a page and print it as JSON: the texts of all elements of each selector, what a
schema says (docs/extract.md), or the rows of a table. A selector ends in @NAME to read an
attribute. What was not found is named on standard error.`,
		Example: "  domtap extract h1 'a@href'\n  domtap extract --schema product.json\n  domtap extract --table 'Name,Price'\n  domtap extract --table ''        # the largest table\n" +
			`  echo '{"title": "h1", "price": {"selector": ".price", "type": "number"}}' | domtap extract --schema -`,
	})
	f := cmd.Flags()
	f.StringVar(&schema, "schema", "", "a file with a schema; -: standard input")
	f.StringVar(&table, "table", "", "headers that the table has, with commas between them; empty: the largest table")
	f.StringVar(&caption, "caption", "", "the caption of the table")
	f.Uint32Var(&root, "root", 0, "only below the element with this ref")
	f.Int32Var(&rows, "max-rows", 1000, "of each list, 1 to 10000")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		request := &domtapv1.ExtractRequest{Selectors: args}
		if f.Changed("table") || f.Changed("caption") {
			request.Table = &domtapv1.ExtractTable{Caption: caption, Headers: split(table)}
		}
		if f.Changed("schema") {
			text, err := a.readFile(schema)
			if err != nil {
				return err
			}
			request.SchemaJson = string(text)
		}
		if f.Changed("root") {
			request.RootRef = proto.Uint32(root)
		}
		if f.Changed("max-rows") {
			request.MaxRows = proto.Int32(rows)
		}
		return a.extract(ctx, c, request)
	})
	return cmd
}

// extract asks and prints the result.
func (a *app) extract(ctx context.Context, c *client, r *domtapv1.ExtractRequest) (err error) {
	if r.TabId, err = c.tabID(ctx); err != nil {
		return err
	}
	answer, err := c.pages.Extract(ctx, r)
	if err != nil {
		return err
	}
	if n := len(answer.GetMissing()); n > 0 {
		_, _ = fmt.Fprintf(a.complaints, "not found: %s\n", render.Cell(strings.Join(answer.GetMissing(), ", "), 500))
	}
	if answer.GetTruncated() {
		_, _ = fmt.Fprintf(a.complaints, "a limit left something out; %d rows were found\n", answer.GetRows())
	}
	return a.printer().show(answer, func() string { return render.Result(answer.GetResultJson()) })
}

// split reads a list with commas.
func split(list string) []string {
	var out []string
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// readFile reads a file, or standard input for "-".
func (a *app) readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.in)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, exit.Errorf(exit.Usage, "check the name of the file", "%w", err)
	}
	return text, err
}

func batchCommand(a *app) *cobra.Command {
	var schema, session string
	var what choice
	var maxTokens, parallel int32
	var each time.Duration
	cmd := &cobra.Command{
		Use:   "batch URL... | -",
		Short: "Read many pages side by side, in tabs that are thrown away",
		Long: `Open each URL in a tab of its own, read it as domtap read does, or extract data with --schema, and close
it. At most 50 URLs, in the order given; - takes them from standard input, one a line. One that
fails costs the others nothing; the exit code tells of it when all are done.`,
		Example: "  domtap batch example.com example.org\n  domtap batch --schema product.json - <urls.txt",
		Args:    cobra.MinimumNArgs(1),
	}
	a.common.register(cmd)
	f := cmd.Flags()
	choiceFlag(cmd, &what, "mode", "m", "how to represent the pages", "auto", "content", "interactive")
	f.StringVar(&schema, "schema", "", "a file with a schema, to extract data instead of reading")
	f.StringVar(&session, "session", "", "the session to open them in")
	f.Int32Var(&maxTokens, "max-tokens", 1500, "what the text of each may cost; 0: no limit")
	f.Int32Var(&parallel, "parallel", 4, "how many at once, 1 to 8")
	f.DurationVar(&each, "each", 15*time.Second, "how long each may take, at most 1m")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		urls, err := a.urls(args)
		if err != nil {
			return err
		}
		r := &domtapv1.BatchRequest{Urls: urls, What: readModes[what.value], SessionId: session}
		if f.Changed("schema") {
			text, err := a.readFile(schema)
			if err != nil {
				return err
			}
			r.SchemaJson, r.What = string(text), 0
		}
		if f.Changed("max-tokens") {
			r.MaxTokens = proto.Int32(maxTokens)
		}
		if f.Changed("parallel") {
			r.Parallel = parallel
		}
		if f.Changed("each") {
			r.Timeout = durationpb.New(each)
		}
		answer, err := c.pages.Batch(ctx, r)
		if err != nil {
			return err
		}
		if err := a.printer().show(answer, func() string { return render.Batch(answer) }); err != nil {
			return err
		}
		return failedPages(answer.GetResults())
	})
	return cmd
}

// failedPages is the error of a batch of which pages failed. Its code is theirs, or that of any failure when theirs differ.
func failedPages(results []*domtapv1.BatchResult) error {
	var first *exit.Error
	failed := 0
	for _, one := range results {
		if one.GetError() == "" {
			continue
		}
		failed++
		var e *exit.Error
		errors.As(exit.OfReason(one.GetReason(), one.GetError()), &e) // it is one
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
	first.Err = fmt.Errorf("%d of %d pages failed; the first: %w", failed, len(results), first.Err)
	return first
}

// urls completes the addresses of a batch.
func (a *app) urls(args []string) ([]string, error) {
	if len(args) == 1 && args[0] == "-" {
		args = nil
		for lines := bufio.NewScanner(a.in); lines.Scan(); {
			if line := strings.TrimSpace(lines.Text()); line != "" {
				args = append(args, line)
			}
		}
	}
	if len(args) == 0 {
		return nil, exit.Errorf(exit.Usage, "give one on each line", "there is no URL on standard input")
	}
	urls := make([]string, len(args))
	for i, arg := range args {
		urls[i] = completeURL(arg)
	}
	return urls, nil
}

func evalCommand(a *app) *cobra.Command {
	var ref uint32
	var frame string
	cmd := a.tabCommand(&cobra.Command{
		Use:   "eval EXPRESSION",
		Short: "Run a script in a page; the daemon must allow it",
		Long: `Evaluate an expression in a page's own world and print the result as JSON. A function is called, with the
element of --ref if that is given; a promise is waited for. Statements go into a function. - takes
the expression from standard input. It works only when the daemon was started with --allow-eval.`,
		Example: "  domtap eval document.title\n  domtap eval --ref 12 'el => el.outerHTML'",
		Args:    exactly("an expression"),
	})
	f := cmd.Flags()
	f.Uint32Var(&ref, "ref", 0, "give the element with this ref to the function")
	f.StringVar(&frame, "frame", "", "run in this frame")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		request := &domtapv1.EvaluateRequest{Expression: args[0], FrameId: frame}
		if args[0] == "-" {
			text, err := io.ReadAll(a.in)
			if err != nil {
				return err
			}
			request.Expression = string(text)
		}
		if f.Changed("ref") {
			request.Ref = proto.Uint32(ref)
		}
		var err error
		if request.TabId, err = c.tabID(ctx); err != nil {
			return err
		}
		answer, err := c.pages.Evaluate(ctx, request)
		if err != nil {
			return err
		}
		if p := a.printer(); p.json || answer.GetException() == "" {
			return p.show(answer, func() string { return render.Result(answer.GetResultJson()) })
		}
		return exit.Errorf(exit.Failure, "", "the script threw: %s", answer.GetException())
	})
	return cmd
}

var papers = map[string]domtapv1.PaperFormat{
	"a4": domtapv1.PaperFormat_PAPER_FORMAT_A4, "letter": domtapv1.PaperFormat_PAPER_FORMAT_LETTER,
	"legal": domtapv1.PaperFormat_PAPER_FORMAT_LEGAL, "a3": domtapv1.PaperFormat_PAPER_FORMAT_A3, "a5": domtapv1.PaperFormat_PAPER_FORMAT_A5,
}

func pdfCommand(a *app) *cobra.Command {
	var paper choice
	var landscape, background bool
	var scale float64
	var pages string
	cmd := a.tabCommand(&cobra.Command{
		Use:     "pdf FILE",
		Short:   "Print a page to a PDF",
		Long:    "Print a page as its author styled it for paper. FILE - writes to standard output.",
		Example: "  domtap pdf page.pdf\n  domtap pdf --paper letter --background --pages 1-2 page.pdf",
		Args:    exactly("a file name"),
	})
	choiceFlag(cmd, &paper, "paper", "", "the size of the paper", "a4", "letter", "legal", "a3", "a5")
	f := cmd.Flags()
	f.BoolVar(&landscape, "landscape", false, "turn the paper")
	f.BoolVar(&background, "background", false, "print colours and pictures behind the text")
	f.Float64Var(&scale, "scale", 1, "0.1 to 2")
	f.StringVar(&pages, "pages", "", `such as "1-5, 8" (default: all)`)
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		id, err := c.tabID(ctx)
		if err != nil {
			return err
		}
		request := &domtapv1.PdfRequest{TabId: id, Format: papers[paper.value], Landscape: landscape, PrintBackground: background, PageRanges: pages}
		if f.Changed("scale") {
			request.Scale = proto.Float64(scale)
		}
		answer, err := c.pages.Pdf(ctx, request)
		if err != nil {
			return err
		}
		return a.save(args[0], answer.GetPdf(), "the PDF")
	})
	return cmd
}
