package readcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/plural"
)

// extractFlags holds the flags of the command extract.
type extractFlags struct {
	schema, table, caption string
	rows                   int32
	root                   uint32
	tsv                    bool
	cmd                    *cobra.Command
}

// Extract returns the command extract.
func Extract(a *cli.App) *cobra.Command {
	var flags extractFlags
	cmd := a.TabCommand(&cobra.Command{
		Use:   "extract SELECTOR... | --schema FILE | --table HEADERS",
		Short: "Extract data from a page as JSON",
		Long: `Extract data from a page and print it as JSON: the texts of all elements that each selector matches, the data
that a schema describes (docs/extract.md), or the columns of a table, as lines with --tsv. A selector that ends in
@NAME reads an attribute. Missing data is reported on standard error.`,
		Example: "  domtap extract h1 'a@href'\n  domtap extract --schema product.json\n  domtap extract --table 'Name,Price' --tsv\n" +
			`  echo '{"title": "h1", "price": {"selector": ".price", "type": "number"}}' | domtap extract --schema -`,
	})
	flags.register(cmd)
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request, err := flags.request(a, args)
		if err != nil {
			return err
		}
		if request.TabId, err = c.TabID(ctx); err != nil {
			return err
		}
		answer, err := c.Pages.Extract(ctx, request)
		if err != nil {
			return err
		}
		if n := len(answer.GetMissing()); n > 0 {
			a.Note("not found: %s", render.Cell(strings.Join(answer.GetMissing(), ", "), 500))
		}
		if answer.GetTruncated() {
			a.Note("truncated by a limit: found %s", plural.Of(answer.GetRows(), "row"))
		}
		return a.Printer().Show(answer, func() string { return flags.text(answer) })
	})
	return cmd
}

func (e *extractFlags) register(cmd *cobra.Command) {
	e.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&e.schema, "schema", "", "the file with the schema; - is standard input")
	f.StringVar(&e.table, "table", "", "headers of columns, with commas between; empty: the largest table")
	f.StringVar(&e.caption, "caption", "", "the caption of the table")
	f.BoolVar(&e.tsv, "tsv", false, "print the table with tabs between cells")
	cli.RefFlag(f, &e.root, "root", "only search below the element with this ref")
	f.Int32Var(&e.rows, "max-rows", 1000, "maximum number of rows of each list, 1 to 10000")
}

func (e *extractFlags) request(a *cli.App, selectors []string) (*domtapv1.ExtractRequest, error) {
	set := e.cmd.Flags().Changed
	if e.tsv && !set("table") && !set("caption") {
		return nil, exit.Errorf(exit.Usage, "for example: domtap extract --table Name,Price --tsv", "--tsv needs --table or --caption")
	}
	request := &domtapv1.ExtractRequest{Selectors: selectors}
	if set("table") || set("caption") {
		request.Table = &domtapv1.ExtractTable{Caption: e.caption, Headers: split(e.table)}
	}
	if set("schema") {
		text, err := a.ReadFile(e.schema)
		if err != nil {
			return nil, err
		}
		request.SchemaJson = string(text)
	}
	if set("root") {
		request.RootRef = proto.Uint32(e.root)
	}
	if set("max-rows") {
		request.MaxRows = proto.Int32(e.rows)
	}
	return request, nil
}

// text returns the printed text of an answer. Of a table, it only has the requested columns.
func (e *extractFlags) text(answer *domtapv1.ExtractResponse) string {
	headers := split(e.table)
	t, ok := tableOf(answer.GetResultJson())
	if !ok || len(headers) == 0 && !e.tsv {
		return render.Result(answer.GetResultJson())
	}
	if t.only(headers); e.tsv {
		return t.tsv()
	}
	return render.Result(t.json())
}

// split splits a comma-separated list. An entry that begins with a double quote ends at the next one, and may have commas.
func split(list string) []string {
	var out []string
	var entry strings.Builder
	quoted := false
	end := func() {
		if text := strings.TrimSpace(entry.String()); text != "" {
			out = append(out, text)
		}
		entry.Reset()
	}
	for _, r := range list {
		switch {
		case r == '"' && (quoted || strings.TrimSpace(entry.String()) == ""):
			quoted = !quoted
		case r == ',' && !quoted:
			end()
		default:
			entry.WriteRune(r)
		}
	}
	end()
	return out
}
