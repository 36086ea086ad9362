//go:build unix

// Command benchpeers compares domtap with agent-browser, Playwright MCP and chrome-devtools-mcp in one run with the same Chromium. It
// writes the figures, the tables and the chart:
//
//	benchpeers -domtap bin/domtap -json docs/peers.json -svg docs/peers.svg -readme README.md -docs docs/compared.md
//
// scripts/install-peers installs the other programs. If a program is missing or does not work, the result says so. With -from
// docs/peers.json, the command measures nothing and draws tables and chart from the figures in that file. docs/compared.md explains the
// figures.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/domtap/domtap/bench/peers"
	"github.com/domtap/domtap/bench/peers/report"
)

// options holds the flags.
type options struct {
	config                  peers.Config
	from                    string
	json, svg, readme, docs string
	limit                   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var o options
	flag.StringVar(&o.config.Domtap, "domtap", "bin/domtap", "the domtap program")
	flag.StringVar(&o.config.Browser, "chrome", "", "the Chromium of all programs (default: the first of chromium, chromium-browser, google-chrome)")
	flag.StringVar(&o.config.Installed, "installed", ".cache/peers", "where scripts/install-peers has installed the others")
	flag.StringVar(&o.config.Root, "root", ".", "the directory of the repository")
	flag.IntVar(&o.config.Repetitions, "n", 5, "how often to measure each operation")
	flag.BoolVar(&o.config.Short, "short", false, "measure domtap alone, on small pages, once")
	flag.StringVar(&o.config.Conditions, "conditions", "", "what else the machine does, for the tables and the chart")
	flag.StringVar(&o.from, "from", "", "measure nothing: take the figures of this file")
	flag.StringVar(&o.json, "json", "", "write the figures to this file")
	flag.StringVar(&o.svg, "svg", "", "write the chart to this file")
	flag.StringVar(&o.readme, "readme", "", "put the short table into this document")
	flag.StringVar(&o.docs, "docs", "", "put all tables into this document")
	flag.DurationVar(&o.limit, "limit", 40*time.Minute, "end after this time, with the figures measured until then")
	flag.Parse()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "benchpeers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	result, err := measure(ctx, o)
	if err != nil {
		return err
	}
	if o.json == "" {
		fmt.Println(result.Full())
	}
	return write(o, result)
}

// measure measures the programs, or reads an earlier result.
func measure(ctx context.Context, o options) (*report.Result, error) {
	if o.from != "" {
		text, err := os.ReadFile(o.from)
		if err != nil {
			return nil, err
		}
		result := new(report.Result)
		return result, json.Unmarshal(text, result)
	}
	if o.config.Repetitions < 1 || o.config.Short {
		o.config.Repetitions = 1
	}
	for _, path := range []*string{&o.config.Domtap, &o.config.Installed, &o.config.Root} { // the programs run in other directories
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = absolute
	}
	if o.config.Browser == "" {
		found, err := chromium()
		if err != nil {
			return nil, err
		}
		o.config.Browser = found
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown") // a copy of the repository without .git
	}
	o.config.Commit, o.config.Command, o.config.Log = strings.TrimSpace(string(commit)), "make bench-peers", os.Stderr
	limited, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	result, err := peers.Run(limited, o.config)
	if result != nil && errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(os.Stderr, "benchpeers: ended after %s: what was not measured until then has no figures\n", o.limit)
		err = nil
	}
	return result, err
}

// chromium finds the full browser, which all programs support. They do not all support the headless shell.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("found no Chromium or Chrome: install one, or name it with -chrome")
}

// write writes the requested files.
func write(o options, result *report.Result) error {
	if o.json != "" {
		text, err := json.MarshalIndent(result, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.json, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if o.svg != "" {
		if err := os.WriteFile(o.svg, []byte(result.Chart()), 0o644); err != nil {
			return err
		}
	}
	return errors.Join(insert(o.readme, result.Short()), insert(o.docs, result.Full()))
}

// insert writes a table into a document. An empty path does nothing.
func insert(path, table string) error {
	if path == "" {
		return nil
	}
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := report.Insert(string(document), "peers", table)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(changed), 0o644)
}
