package daemoncmd

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/manual"
)

// Man makes the command man.
func Man(a *cli.App) *cobra.Command {
	h := manual.Header{Version: a.Version, Env: cli.EnvAnnotation}
	cmd := &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages to a directory, or print the first page",
		Long: `Write a manual page for every command to DIR, which is created if missing. Without DIR, print the page of
domtap itself.`,
		Example: "  domtap man ~/.local/share/man/man1\n  domtap man | man -l -",
		Args:    cli.Args("[DIR]"),
	}
	cmd.Flags().StringVar(&h.Date, "date", "", "the date in the pages, as 2006-01-02")
	cmd.RunE = cli.Work(func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		if len(args) == 0 {
			return manual.Write(a.Out, root, h)
		}
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return exit.Errorf(exit.Failure, "name a writable directory", "%w", err)
		}
		for _, page := range manual.Pages(root) {
			if err := writePage(filepath.Join(args[0], manual.Name(page)+".1"), page, h); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func writePage(path string, page *cobra.Command, h manual.Header) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(manual.Write(f, page, h), f.Close())
}
