package daemoncmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/cmd/domtap/internal/servecmd"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/search"
)

// Doctor returns the command doctor.
func Doctor(a *cli.App) *cobra.Command {
	p := doctor.Subject{Version: a.Version, Try: a.TryBrowser, Running: a.Running}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the browser, socket, token and daemon, and print what to do",
		Long: `Check everything that domtap needs, and print how to fix problems. The command starts no daemon. It starts
a browser for a moment, to check that it runs and has its sandbox, and sends one request to each configured
search provider. The exit code is 1 if a check fails, and 0 otherwise.`,
		Args: cli.Args(),
	}
	a.Flags.Register(cmd)
	cmd.Flags().StringVar(&p.Chrome, "chrome", "", "the browser of the daemon (default: the headless shell if installed, otherwise the first Chromium or Chrome found)")
	cmd.Flags().BoolVar(&p.Headless, "headless", true, "run the browser without a window")
	cmd.Flags().StringArrayVar(&p.Flags, "chrome-flag", nil, "an extra flag for the browser; may be repeated")
	cmd.Flags().StringVar(&p.Remote, "remote", "", "the running browser to attach to (also: --cdp-url)")
	cmd.Flags().IntVar(&p.MaxTabs, "max-tabs", 100, "maximum number of open tabs")
	cmd.Flags().StringVar(&p.Certificate, "tls-cert", "", "the PEM file with the daemon's certificate")
	p.Policy = servecmd.PolicyFlag(cmd.Flags())
	cli.BindEnv(cmd.Flags(), "chrome", "headless", "chrome-flag", "remote", "max-tabs", "tls-cert")
	cmd.RunE = a.WithoutDaemon(func(ctx context.Context, to endpoint.Target, _ []string) error {
		at, err := a.Places()
		if err != nil {
			return err
		}
		p.Places, p.Target, p.Named = at, to, a.Flags.Addr != ""
		if p.Dial, err = a.DialOptions(to); err != nil {
			return err
		}
		p.Searcher = func() (*search.Searcher, error) { return servecmd.Searcher(a.Lookup, a.Flags.StateDir) }
		return runChecks(ctx, a.Printer(), &p)
	})
	return cmd
}

// runChecks runs the checks and prints each finding immediately.
func runChecks(ctx context.Context, out *cli.Printer, p *doctor.Subject) error {
	failed := 0
	for _, check := range doctor.Checks {
		found := check(ctx, p)
		if found.Status == doctor.Fail {
			failed++
		}
		if err := printFinding(out, found); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exit.Errorf(exit.Failure, "see the lines that begin with fail for what to do", "%d of %d checks failed", failed, len(doctor.Checks))
	}
	return nil
}

func printFinding(p *cli.Printer, f doctor.Finding) error {
	text := fmt.Sprintf("%-4s  %-8s  %s\n", f.Status, f.Check, render.Line(f.Found))
	if f.Remedy != "" {
		text += fmt.Sprintf("%16s→ %s\n", "", render.Line(f.Remedy))
	}
	return p.ShowValue(f, text)
}
