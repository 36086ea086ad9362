package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	domtapv1 "github.com/domtap/domtap/gen/domtap/v1"
)

func formCommand(a *app) *cobra.Command {
	var submit bool
	var url string
	cmd := a.tabCommand(&cobra.Command{
		Use:   "form FIELD=VALUE…",
		Short: "Fill in a form of any fields, and print what that changed",
		Long: `Fill in fields of any kind in one go: texts, selects, checkboxes, radio buttons, dates, ranges, files. FIELD is what a
person calls it: its label, placeholder or name; or its ref, as @7. A box without =VALUE is ticked. When all were
filled, --submit sends the form: by its button, or with Enter.`,
		Example: "  domtap form Name=Ada Email=ada@example.com Country=Norway \"I agree\" --submit\n  domtap form @7=secret --submit",
		Args:    cobra.MinimumNArgs(1),
	})
	cmd.Flags().BoolVar(&submit, "submit", false, "send the form afterwards")
	cmd.Flags().StringVar(&url, "url", "", "go there first")
	cmd.RunE = a.calling(func(ctx context.Context, c *client, args []string) error {
		request := &domtapv1.FillFormRequest{Submit: submit, Url: url, ClientId: c.id}
		for _, arg := range args {
			field, err := formField(arg)
			if err != nil {
				return err
			}
			request.Fields = append(request.Fields, field)
		}
		var err error
		if request.TabId, err = c.tabID(ctx); err != nil {
			return err
		}
		answer, err := c.actions.FillForm(ctx, request)
		if err != nil {
			return err
		}
		return a.printer().outcome(&domtapv1.InteractResponse{
			Results: answer.GetResults(), Diff: answer.GetDiff(), Verdict: answer.GetVerdict(), Tab: answer.GetTab(), NewTabId: answer.GetNewTabId()})
	})
	return cmd
}

func formField(arg string) (*domtapv1.FormField, error) {
	name, value, _ := strings.Cut(arg, "=")
	field := &domtapv1.FormField{Label: name, Value: value}
	number, isRef := strings.CutPrefix(name, "@")
	if !isRef {
		return field, nil
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return nil, exit.Errorf(exit.Usage, "", "%q is no ref: use a number from domtap compact, as in @7=Ada", name)
	}
	ref := uint32(n)
	field.Label, field.Ref = "", &ref
	return field, nil
}
