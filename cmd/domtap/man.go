package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/manual"
)

func manCommand(a *app) *cobra.Command {
	h := manual.Header{Version: programVersion(), Env: envAnnotation}
	cmd := &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages into a directory, or print the first",
		Long: `Write a manual page for every command into a directory, which is made when it is missing. Without one the
page of domtap itself is printed.`,
		Example: "  domtap man ~/.local/share/man/man1\n  domtap man | man -l -",
		Args:    cobra.MaximumNArgs(1),
	}
	cmd.Flags().StringVar(&h.Date, "date", "", "the day that the pages name, as 2006-01-02")
	cmd.RunE = doing(func(cmd *cobra.Command, args []string) error {
		root := cmd.Root()
		if len(args) == 0 {
			return manual.Write(a.out, root, h)
		}
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return exit.Errorf(exit.Failure, "name a directory that can be written to", "%w", err)
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
