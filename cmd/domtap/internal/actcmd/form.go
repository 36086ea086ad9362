package actcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
	"github.com/domtap/domtap/internal/refs"
)

const formHelp = `Fill in fields of any kind with one command: texts, selects, checkboxes, radio buttons, dates, ranges
and files. FIELD is the label, placeholder or name of the field, or its ref as @7 or [7].

FIELD without =VALUE checks a checkbox. --file passes files from this machine to a file input, up to
4 MiB; repeat it for more files. After the last field, --submit submits the form with its button or Enter.`

// Form returns the command form.
func Form(a *cli.App) *cobra.Command {
	var submit, each bool
	var url, within string
	var files []string
	cmd := a.TabCommand(&cobra.Command{
		Use:     "form FIELD=VALUE…",
		Aliases: []string{"fill-form"},
		Short:   "Fill in the fields of a form and print what changed",
		Long:    formHelp,
		Example: "  domtap form Name=Ada Email=ada@example.com Country=Norway \"I agree\" --submit\n  domtap form @7=secret --submit\n  domtap form Name=Ada --file Photo=ada.png",
		Args:    cobra.ArbitraryArgs,
	})
	a.EachFlag(cmd, &each)
	cmd.Flags().BoolVar(&submit, "submit", false, "submit the form afterwards")
	cmd.Flags().StringVar(&within, "within", "", "only fields in the part of the form with this legend, heading or other text")
	cmd.Flags().StringArrayVar(&files, "file", nil, "upload the file PATH to the file input FIELD, as FIELD=PATH; may be repeated")
	cmd.Flags().StringVar(&url, "url", "", "load this URL first")
	cmd.RunE = a.WithClient(func(ctx context.Context, c *cli.Client, args []string) error {
		request := &domtapv1.FillFormRequest{Submit: submit, Url: url, ClientId: c.ID, Format: a.Printer().DiffFormat(), Brief: a.Printer().Brief(each)}
		for _, arg := range args {
			field, err := formField(arg)
			if err != nil {
				return err
			}
			field.Within = within
			request.Fields = append(request.Fields, field)
		}
		fields, err := fileFields(files, within)
		if err != nil {
			return err
		}
		if request.Fields = append(request.Fields, fields...); len(request.Fields) == 0 {
			return exit.Errorf(exit.Usage, "domtap form Name=Ada --submit", "missing FIELD=VALUE")
		}
		if request.TabId, err = c.TabID(ctx); err != nil {
			return err
		}
		answer, err := c.Actions.FillForm(ctx, request)
		if err != nil {
			return err
		}
		return printOutcome(a.Printer(), &domtapv1.InteractResponse{
			Results: answer.GetResults(), Diff: answer.GetDiff(), Verdict: answer.GetVerdict(), Tab: answer.GetTab(), NewTabId: answer.GetNewTabId(),
			DiffText: answer.GetDiffText(), Outcome: answer.GetOutcome()})
	})
	return cmd
}

// fileFields parses each FIELD=PATH and reads the file. Files for the same field are combined into one list.
func fileFields(args []string, within string) (out []*domtapv1.FormField, err error) {
	for _, arg := range args {
		field, err := formField(arg)
		if err != nil {
			return nil, err
		}
		if field.GetValue() == "" {
			return nil, exit.Errorf(exit.Usage, "domtap form --file Photo=ada.png", "--file %q has no PATH", arg)
		}
		file, err := fileToUpload(field.GetValue(), "check the name of the file, as in --file Photo=ada.png")
		if err != nil {
			return nil, err
		}
		field.Value, field.Within = "", within
		if i := slices.IndexFunc(out, func(f *domtapv1.FormField) bool {
			return f.GetLabel() == field.GetLabel() && f.GetRef() == field.GetRef()
		}); i >= 0 {
			out[i].Files = append(out[i].Files, file)
			continue
		}
		field.Files = []*domtapv1.UploadFile{file}
		out = append(out, field)
	}
	return out, nil
}

// formField parses FIELD=VALUE.
func formField(arg string) (*domtapv1.FormField, error) {
	name, value, _ := strings.Cut(arg, "=")
	if inner, after, closed := strings.Cut(arg, "]"); closed && strings.HasPrefix(arg, "[") {
		if _, ok := refs.Parse(inner + "]"); ok && (after == "" || after[0] == '=') { // [ref=e7] itself contains a "="
			name, value = inner+"]", strings.TrimPrefix(after, "=")
		}
	}
	field := &domtapv1.FormField{Label: name, Value: value}
	ref, ok := refs.Parse(name)
	switch {
	case strings.HasPrefix(name, "@") && !ok:
		return nil, exit.Errorf(exit.Usage, "use a number that domtap snapshot prints, as in @7=Ada", "invalid ref %q", name)
	case ok && strings.ContainsAny(name[:1], "@["): // 7 and e7 may be labels
		field.Label, field.Ref = "", &ref
	}
	return field, nil
}
