package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/doctor"
	"github.com/domtap/domtap/cmd/domtap/internal/exit"
	"github.com/domtap/domtap/cmd/domtap/internal/render"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/policy"
)

func doctorCommand(a *app) *cobra.Command {
	p := doctor.Patient{Version: programVersion(), Try: a.tryBrowser}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check browser, socket, token and daemon, and say what to do",
		Long: `Check everything that domtap needs, and say what to do where something is wrong.
It starts no daemon, but a browser for a moment, to see that it runs and has its sandbox. The exit code is 1 when a check fails, and 0 otherwise.`,
		Args: cobra.NoArgs,
	}
	a.common.register(cmd)
	cmd.Flags().StringVar(&p.Chrome, "chrome", "", "the browser that the daemon is to start (default: the first Chromium or Chrome found)")
	cmd.Flags().StringArrayVar(&p.Flags, "chrome-flag", nil, "one more flag that the daemon is to give the browser; may be repeated")
	cmd.Flags().StringVar(&p.Remote, "remote", "", "the running browser that the daemon is to attach to")
	cmd.Flags().IntVar(&p.MaxTabs, "max-tabs", 100, "how many tabs the daemon is to allow")
	cmd.Flags().StringVar(&p.Certificate, "tls-cert", "", "the PEM file with the daemon's certificate")
	var text string
	policyFlag(cmd.Flags(), &text)
	p.Policy = func() (*policy.Policy, error) { return readPolicy(text) }
	alsoEnv(cmd.Flags(), "chrome", "chrome-flag", "remote", "max-tabs", "tls-cert")
	cmd.RunE = a.locally(func(ctx context.Context, to endpoint.Target, _ []string) error {
		at, err := a.places()
		if err != nil {
			return err
		}
		p.Places, p.Target, p.Named = at, to, a.common.addr != ""
		if p.Dial, err = a.dialOptions(to); err != nil {
			return err
		}
		return a.examine(ctx, &p)
	})
	return cmd
}

// examine runs the checks and prints each finding as soon as it is there.
func (a *app) examine(ctx context.Context, p *doctor.Patient) error {
	out := a.printer()
	failed := 0
	for _, check := range doctor.Checks {
		found := check(ctx, p)
		if found.Status == doctor.Fail {
			failed++
		}
		if err := out.finding(found); err != nil {
			return err
		}
	}
	if failed > 0 {
		return exit.Errorf(exit.Failure, "the lines that begin with fail say what to do", "%d of %d checks failed", failed, len(doctor.Checks))
	}
	return nil
}

func (p *printer) finding(f doctor.Finding) error {
	if p.json {
		return p.value(f)
	}
	text := fmt.Sprintf("%-4s  %-8s  %s\n", f.Status, f.Check, render.Line(f.Found))
	if f.Do != "" {
		text += fmt.Sprintf("%16s→ %s\n", "", render.Line(f.Do))
	}
	return p.text(text)
}
