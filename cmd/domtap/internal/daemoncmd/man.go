package daemoncmd

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
)

// Man returns the command man. all returns the tree of commands that the pages describe.
func Man(a *cli.App, all func() *cobra.Command) *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages to a directory, or print the first page",
		Long: `Write a manual page for every command to DIR. DIR is created if it is missing. Without DIR, print the page
of domtap itself.`,
		Example: "  domtap man ~/.local/share/man/man1\n  domtap man | man -l -",
		Args:    cli.Args("[DIR]"),
	}
	cmd.Flags().StringVar(&date, "date", "", "the date in the pages, as 2006-01-02 (default: today)")
	cmd.RunE = cli.Work(func(_ *cobra.Command, args []string) error {
		header := doc.GenManHeader{Section: "1", Source: "domtap " + a.Version, Manual: "domtap"}
		if date != "" {
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return exit.Errorf(exit.Usage, "for example --date 2026-01-02", "invalid --date: %w", err)
			}
			header.Date = &day
		}
		root := all()
		root.InitDefaultCompletionCmd() // it has pages, too
		root.DisableAutoGenTag = true
		if len(args) == 0 {
			text, err := manualPage(root, header)
			if err == nil {
				_, err = a.Out.Write(text)
			}
			return err
		}
		if err := os.MkdirAll(args[0], 0o755); err != nil {
			return exit.Errorf(exit.Failure, "name a writable directory", "%w", err)
		}
		return writePages(args[0], root, header)
	})
	return cmd
}

// writePages writes the pages of a command and its visible subcommands.
func writePages(dir string, cmd *cobra.Command, header doc.GenManHeader) error {
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			if err := writePages(dir, child, header); err != nil {
				return err
			}
		}
	}
	text, err := manualPage(cmd, header)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"), text, 0o644)
}

// manualPage returns the page of a command. Package doc parses the command's texts as Markdown, so manualPage escapes markup in them. The
// command must not be used afterwards.
func manualPage(cmd *cobra.Command, header doc.GenManHeader) ([]byte, error) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, text := range paragraphs {
		if strings.HasPrefix(text, "  ") {
			paragraphs[i] = "    " + strings.ReplaceAll(text, "\n", "\n    ")
		} else {
			paragraphs[i] = literal.Replace(text)
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f)
		f.Usage = literal.Replace(usage)
	})
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return nil, fmt.Errorf("write the manual page of %s: %w", cmd.CommandPath(), err)
	}
	var ascii bytes.Buffer // troff does not read UTF-8 by default
	for _, r := range page.String() {
		if r < 0x80 {
			ascii.WriteRune(r)
		} else {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
		}
	}
	return ascii.Bytes(), nil
}

// literal escapes characters that are Markdown markup.
var literal = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`", "[", `\[`)
