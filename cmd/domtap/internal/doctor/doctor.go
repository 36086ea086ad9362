// Package doctor checks everything that domtap needs, and recommends solutions for problems.
//
// No check starts a daemon or changes a file. One check briefly starts a browser, because there is no other way to find out whether the
// machine allows the sandbox. Another check sends one query to each configured search provider, which may count against its quota.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/domtap/domtap/cmd/domtap/internal/instance"
	"github.com/domtap/domtap/internal/browser"
	"github.com/domtap/domtap/internal/browser/discovery"
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/search"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// The results of a check.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Finding is the result of one check.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Found  string `json:"found"`
	// Remedy recommends what to do about the finding. It is empty if there is nothing to do.
	Remedy string `json:"do,omitempty"`
}

// Subject holds what the checks examine.
type Subject struct {
	// Chrome is the browser to start. If empty, the first one found is used. Remote is the address of a browser that runs already.
	Chrome, Remote string
	// Running finds running browsers, for a Remote that asks for that.
	Running *discovery.Finder
	// Headless means that the daemon's browser has no windows.
	Headless bool
	// Flags holds additional flags for the browser.
	Flags []string
	// Try starts a browser and stops it.
	Try func(context.Context, browser.Config) error
	// Policy returns the URL policy of a new daemon.
	Policy func() (*netpolicy.Policy, error)
	Places endpoint.Places
	Target endpoint.Target
	// Named means that an address names the target, so that no command starts a daemon there.
	Named bool
	Dial  endpoint.Options
	// Searcher returns the search providers of a new daemon, or nil if it has none.
	Searcher func() (*search.Searcher, error)
	// MaxTabs is the daemon's limit of tabs. Certificate is the file of its TLS certificate; if empty, there is none.
	MaxTabs     int
	Certificate string
	// Version is the version of this program.
	Version string

	// tried reports whether a browser was started. failed is the result.
	tried  bool
	failed error
}

// Checks lists all checks, in the order of the output.
var Checks = []func(context.Context, *Subject) Finding{
	checkBrowser,
	checkSandbox,
	checkPolicy,
	checkState,
	checkSocket,
	checkToken,
	checkFiles,
	checkShm,
	checkMemory,
	checkDisk,
	checkClock,
	checkCertificate,
	checkDaemon,
	checkSearch,
}

const (
	// versionLimit limits how long a browser may take to print its version, tryLimit how long to start and stop.
	versionLimit = 10 * time.Second
	tryLimit     = 20 * time.Second
	// answerLimit limits how long a daemon may take to answer that it serves.
	answerLimit = 10 * time.Second
)

func checkBrowser(ctx context.Context, p *Subject) Finding {
	if choice, ok := browser.SearchedRemote(p.Remote); ok {
		return p.checkRunning(ctx, choice)
	}
	if p.Remote != "" {
		return Finding{"browser", OK, "the daemon attaches to " + browser.RemoteName(p.Remote), ""}
	}
	path, err := browser.Find(p.Chrome, p.Headless)
	if err != nil {
		if missing, ok := errors.AsType[*browser.Missing](err); ok {
			return Finding{"browser", Fail, missing.What, missing.Remedy}
		}
		return Finding{"browser", Fail, err.Error(), ""}
	}
	text, err := version(ctx, path)
	if err != nil {
		return Finding{"browser", Fail, fmt.Sprintf("%s does not print its version: %v", path, err), "run it by hand to see the reason, then reinstall it, or name another browser with DOMTAP_CHROME"}
	}
	found := fmt.Sprintf("%s at %s", text, path)
	if err := p.try(ctx, path); err != nil && !errors.Is(err, browser.ErrNoSandbox) {
		return Finding{"browser", Fail, found + " does not start: " + err.Error(), "run it by hand to see the reason, then install what is missing, or name another browser with DOMTAP_CHROME"}
	}
	return Finding{"browser", OK, found + p.choice(path), ""}
}

// checkRunning checks whether the browser that the daemon attaches to is running and allows debugging.
func (p *Subject) checkRunning(ctx context.Context, choice string) Finding {
	b, err := p.Running.Choose(ctx, choice)
	if e, ok := errors.AsType[*discovery.Error](err); ok {
		return Finding{"browser", Fail, e.Reason, e.Remedy}
	}
	return Finding{"browser", OK, "the daemon attaches to " + b.String(), ""}
}

// choice explains why this browser is used, if there was a choice.
func (p *Subject) choice(path string) string {
	switch {
	case browser.IsShell(path) && p.Chrome != "":
		return ", the headless shell"
	case browser.IsShell(path):
		return ", the headless shell, preferred to a full browser unless you pass --headless=false"
	case p.Headless && p.Chrome == "":
		return ", a full browser; the headless shell starts faster and needs less memory (Debian: apt install chromium-headless-shell)"
	}
	return ""
}

// version returns the version that a browser prints.
func version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, "--version").Output()
	return strings.TrimSpace(string(text)), err
}

// try starts the browser as a daemon would, and stops it.
func (p *Subject) try(ctx context.Context, path string) error {
	if !p.tried {
		ctx, cancel := context.WithTimeout(ctx, tryLimit)
		defer cancel()
		p.tried, p.failed = true, p.Try(ctx, browser.Config{ChromePath: path, Flags: p.Flags, Headless: p.Headless})
	}
	return p.failed
}

// StartOnce starts a browser in a temporary directory, and stops it.
func StartOnce(ctx context.Context, cfg browser.Config) error {
	dir, err := os.MkdirTemp("", "domtap-doctor")
	if err != nil {
		return err
	}
	cfg.StateDir = dir
	b, err := browser.Start(ctx, cfg)
	if err == nil {
		err = b.Close(ctx)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func checkSandbox(_ context.Context, p *Subject) Finding {
	const check = "sandbox"
	off := slices.ContainsFunc(p.Flags, func(flag string) bool { return strings.TrimLeft(flag, "-") == "no-sandbox" })
	switch {
	case p.Remote != "":
		return Finding{check, OK, "unknown: the daemon attaches to a running browser", ""}
	case browser.SandboxNote() != "":
		return Finding{check, Warn, "running as root: Chromium's sandbox is off (--no-sandbox)", "for untrusted pages, run domtap as another user than root, with the package chromium-sandbox or user namespaces"}
	case errors.Is(p.failed, browser.ErrNoSandbox):
		return Finding{check, Fail, browser.ErrNoSandbox.Error(), "allow user namespaces (for containers, see docs/docker.md), or install the package chromium-sandbox (Debian: apt install chromium-sandbox), or, if all pages are trusted, turn the sandbox off with --chrome-flag no-sandbox"}
	case off:
		return Finding{check, Warn, "turned off by --chrome-flag no-sandbox", "for untrusted pages, remove that flag"}
	case !p.tried || p.failed != nil:
		return Finding{check, Warn, "not checked: the browser does not start", "see the advice for the browser"}
	}
	return Finding{check, OK, "the browser starts with its sandbox", ""}
}

func checkPolicy(_ context.Context, p *Subject) Finding {
	const check = "policy"
	limits, err := p.Policy()
	switch {
	case err != nil:
		return Finding{check, Fail, err.Error(), "correct --url-policy or DOMTAP_URL_POLICY; see docs/url-policy.md"}
	case limits.IsOpen():
		return Finding{check, OK, "open: tabs may load any URL; DOMTAP_URL_POLICY=public excludes private addresses", ""}
	}
	text := limits.String()
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return Finding{check, OK, "a new daemon would limit tabs to: " + text, ""}
}

func checkState(_ context.Context, p *Subject) Finding {
	info, err := os.Stat(p.Places.State)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"state", OK, p.Places.State + " does not exist yet: the daemon creates it", ""}
	case err != nil:
		return Finding{"state", Fail, err.Error(), "make it accessible, or choose another directory with --state-dir or DOMTAP_STATE_DIR"}
	case !info.IsDir():
		return Finding{"state", Fail, p.Places.State + " is not a directory", "move it away, or choose another directory with --state-dir or DOMTAP_STATE_DIR"}
	case info.Mode().Perm()&0o022 != 0:
		return Finding{"state", Fail, "others can write to " + p.Places.State, "chmod go-w " + p.Places.State}
	}
	return Finding{"state", OK, p.Places.State, ""}
}

func checkSocket(_ context.Context, p *Subject) Finding {
	if p.Target.Socket == "" {
		return Finding{"socket", OK, "none; clients use " + p.Target.Address, ""}
	}
	info, err := os.Lstat(p.Target.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"socket", OK, p.Target.Socket + " does not exist yet: the daemon creates it", ""}
	case err != nil:
		return Finding{"socket", Fail, err.Error(), "make its directory accessible, or choose another socket with DOMTAP_SOCKET"}
	case info.Mode()&fs.ModeSocket == 0:
		return Finding{"socket", Fail, p.Target.Socket + " is not a socket", "move it away, or choose another socket with DOMTAP_SOCKET"}
	case info.Mode().Perm()&0o077 != 0:
		return Finding{"socket", Fail, fmt.Sprintf("others can open %s (mode %o)", p.Target.Socket, info.Mode().Perm()), "chmod 600 " + p.Target.Socket}
	}
	return Finding{"socket", OK, fmt.Sprintf("%s (mode %o)", p.Target.Socket, info.Mode().Perm()), ""}
}

func checkToken(_ context.Context, p *Subject) Finding {
	_, err := listen.ReadToken(p.Places.Token)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Target.Socket != "":
		return Finding{"token", OK, "none yet: the daemon creates it when it first listens on TCP", ""}
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"token", Fail, "no token in " + p.Places.Token, "run domtap token on the daemon's machine and copy the token here, or name another file with --token-file"}
	case err != nil:
		return Finding{"token", Fail, err.Error(), ""}
	}
	return Finding{"token", OK, p.Places.Token, ""}
}

func checkDaemon(ctx context.Context, p *Subject) Finding {
	if err := p.Target.Reach(ctx); p.Named && err != nil {
		return Finding{"daemon", Fail, err.Error(), "start a daemon there with domtap serve, or remove --addr and DOMTAP_ADDR to use this user's daemon"}
	}
	if !p.Target.Answers(ctx) {
		return Finding{"daemon", OK, "not running; the next command that needs the daemon starts it", ""}
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if err := endpoint.AwaitServing(ctx, p.Target, p.Dial); err != nil {
		if p.Target.Socket == "" {
			return Finding{"daemon", Fail, err.Error(), "check the address, and check that a daemon serves there"}
		}
		return Finding{"daemon", Fail, err.Error(), "run domtap stop, then try again; see the log in " + p.Places.Log()}
	}
	if p.Target.Socket == "" {
		return Finding{"daemon", OK, "serving at " + p.Target.Address, ""}
	}
	d, err := instance.Holder(p.Target.Socket)
	switch {
	case err != nil || d.PID == 0:
		return Finding{"daemon", Warn, "serving, but its process is unknown", "end the process by hand, then run domtap doctor again"}
	case d.Version != p.Version:
		return Finding{"daemon", Warn, fmt.Sprintf("process %d serves version %s, but this program is %s", d.PID, d.Version, p.Version), "run domtap stop; the next command starts this version"}
	}
	return Finding{"daemon", OK, fmt.Sprintf("process %d serves version %s", d.PID, d.Version), ""}
}
