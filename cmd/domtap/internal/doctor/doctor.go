// Package doctor checks everything that domtap needs, and says what to do where something is wrong.
//
// It only looks: no check starts a daemon or changes a file. One starts a browser for a moment, for nothing else tells whether
// the machine lets it have its sandbox.
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
	"github.com/domtap/domtap/internal/endpoint"
	"github.com/domtap/domtap/internal/netpolicy"
	"github.com/domtap/domtap/internal/server/listen"
)

// The results of a check.
const (
	OK   = "ok"
	Warn = "warn"
	Fail = "fail"
)

// Finding is what one check found.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Found  string `json:"found"`
	// Do says what to do about it; empty when there is nothing to do.
	Do string `json:"do,omitempty"`
}

// Patient is what is examined.
type Patient struct {
	// Chrome is the browser to start; empty: the first one found. Remote is one that runs already.
	Chrome, Remote string
	// Flags are more flags for the browser.
	Flags []string
	// Try starts a browser and ends it again.
	Try func(context.Context, browser.Config) error
	// Policy reads the URL policy that a daemon would have that is started now.
	Policy func() (*netpolicy.Policy, error)
	Places endpoint.Places
	Target endpoint.Target
	// Named says that the target was named by an address, where no command starts a daemon.
	Named bool
	Dial  endpoint.Options
	// MaxTabs is how many tabs the daemon allows, and Certificate the file of its TLS certificate; empty: none.
	MaxTabs     int
	Certificate string
	// Version is the version of this program.
	Version string

	// tried says that a browser was started, and failed how that went.
	tried  bool
	failed error
}

// Checks holds every check, in the order in which they are best read.
var Checks = []func(context.Context, *Patient) Finding{
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
}

const (
	// versionLimit is how long a browser may take to print its version, tryLimit how long to start and to end.
	versionLimit = 10 * time.Second
	tryLimit     = 20 * time.Second
	// answerLimit is how long a daemon may take to say that it serves.
	answerLimit = 10 * time.Second
)

func checkBrowser(ctx context.Context, p *Patient) Finding {
	if p.Remote != "" {
		return Finding{"browser", OK, "the daemon attaches to " + p.Remote, ""}
	}
	path, err := browser.Find(p.Chrome)
	if err != nil {
		return Finding{"browser", Fail, err.Error(), "install Chromium (Debian: apt install chromium; macOS: brew install --cask chromium), or name it with --chrome or DOMTAP_CHROME"}
	}
	text, err := version(ctx, path)
	if err != nil {
		return Finding{"browser", Fail, fmt.Sprintf("%s does not print its version: %v", path, err), "run it by hand to see why; then install it again, or name another with --chrome"}
	}
	found := fmt.Sprintf("%s at %s", text, path)
	if err := p.try(ctx, path); err != nil && !errors.Is(err, browser.ErrNoSandbox) {
		return Finding{"browser", Fail, found + " does not start: " + err.Error(), "run it by hand to see why; then install what it lacks, or name another with --chrome"}
	}
	return Finding{"browser", OK, found, ""}
}

// version asks a browser for its version.
func version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, "--version").Output()
	return strings.TrimSpace(string(text)), err
}

// try starts the browser as a daemon would, and ends it.
func (p *Patient) try(ctx context.Context, path string) error {
	if !p.tried {
		ctx, cancel := context.WithTimeout(ctx, tryLimit)
		defer cancel()
		p.tried, p.failed = true, p.Try(ctx, browser.Config{ChromePath: path, Flags: p.Flags, Headless: true})
	}
	return p.failed
}

// StartOnce starts a browser below a directory that is removed afterwards, and ends it.
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

func checkSandbox(_ context.Context, p *Patient) Finding {
	const check = "sandbox"
	off := slices.ContainsFunc(p.Flags, func(flag string) bool { return strings.TrimLeft(flag, "-") == "no-sandbox" })
	switch {
	case p.Remote != "":
		return Finding{check, OK, "that of a browser that runs already is not known here", ""}
	case browser.SandboxNote() != "":
		return Finding{check, Warn, browser.SandboxNote(), "where pages are not trusted, run domtap as a user other than root"}
	case errors.Is(p.failed, browser.ErrNoSandbox):
		return Finding{check, Fail, p.failed.Error(), "allow user namespaces (docs/operations.md says how in a container), or, where all pages are trusted, switch the sandbox off with --chrome-flag no-sandbox"}
	case off:
		return Finding{check, Warn, "it is switched off by --chrome-flag no-sandbox", "where pages are not trusted, leave that flag out"}
	case !p.tried || p.failed != nil:
		return Finding{check, Warn, "it was not tried, for the browser does not start", "do what the line about the browser says"}
	}
	return Finding{check, OK, "the browser starts, and keeps its sandbox", ""}
}

func checkPolicy(_ context.Context, p *Patient) Finding {
	const check = "policy"
	limits, err := p.Policy()
	switch {
	case err != nil:
		return Finding{check, Fail, err.Error(), "mend --url-policy or DOMTAP_URL_POLICY; docs/url-policy.md says how they are written"}
	case limits.IsOpen():
		return Finding{check, OK, "open: tabs may go to any address; DOMTAP_URL_POLICY=public keeps them from private ones", ""}
	}
	text := limits.String()
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return Finding{check, OK, "a daemon that starts now limits tabs to: " + text, ""}
}

func checkState(_ context.Context, p *Patient) Finding {
	info, err := os.Stat(p.Places.State)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"state", OK, p.Places.State + " is made by the daemon", ""}
	case err != nil:
		return Finding{"state", Fail, err.Error(), "make it accessible, or choose another place with --state-dir or DOMTAP_STATE_DIR"}
	case !info.IsDir():
		return Finding{"state", Fail, p.Places.State + " is no directory", "move it away, or choose another place with --state-dir or DOMTAP_STATE_DIR"}
	case info.Mode().Perm()&0o022 != 0:
		return Finding{"state", Fail, "others can write to " + p.Places.State, "chmod go-w " + p.Places.State}
	}
	return Finding{"state", OK, p.Places.State, ""}
}

func checkSocket(_ context.Context, p *Patient) Finding {
	if p.Target.Socket == "" {
		return Finding{"socket", OK, "none; clients use " + p.Target.Address, ""}
	}
	info, err := os.Lstat(p.Target.Socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"socket", OK, p.Target.Socket + " is made by the daemon", ""}
	case err != nil:
		return Finding{"socket", Fail, err.Error(), "make its directory accessible, or choose another socket with DOMTAP_SOCKET"}
	case info.Mode()&fs.ModeSocket == 0:
		return Finding{"socket", Fail, p.Target.Socket + " is no socket", "move it away, or choose another socket with DOMTAP_SOCKET"}
	case info.Mode().Perm()&0o077 != 0:
		return Finding{"socket", Fail, fmt.Sprintf("others can open %s (mode %o)", p.Target.Socket, info.Mode().Perm()), "chmod 600 " + p.Target.Socket}
	}
	return Finding{"socket", OK, fmt.Sprintf("%s (mode %o)", p.Target.Socket, info.Mode().Perm()), ""}
}

func checkToken(_ context.Context, p *Patient) Finding {
	_, err := listen.ReadToken(p.Places.Token)
	switch {
	case errors.Is(err, fs.ErrNotExist) && p.Target.Socket != "":
		return Finding{"token", OK, "none yet; it is made when the daemon first listens on TCP", ""}
	case errors.Is(err, fs.ErrNotExist):
		return Finding{"token", Fail, "there is no token in " + p.Places.Token, "copy it from the daemon's machine (there: domtap token), or name another file with --token-file"}
	case err != nil:
		return Finding{"token", Fail, err.Error(), ""}
	}
	return Finding{"token", OK, p.Places.Token, ""}
}

func checkDaemon(ctx context.Context, p *Patient) Finding {
	if err := p.Target.Reach(ctx); p.Named && err != nil {
		return Finding{"daemon", Fail, err.Error(), "start one there (domtap serve), or leave out --addr and DOMTAP_ADDR: commands start this user's own"}
	}
	if !p.Target.Answers(ctx) {
		return Finding{"daemon", OK, "none runs; the next command that needs one starts it", ""}
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	if err := endpoint.AwaitServing(ctx, p.Target, p.Dial); err != nil {
		if p.Target.Socket == "" {
			return Finding{"daemon", Fail, err.Error(), "check the address, and that a daemon serves there"}
		}
		return Finding{"daemon", Fail, err.Error(), "domtap stop, then try again; its log is in " + p.Places.Log()}
	}
	if p.Target.Socket == "" {
		return Finding{"daemon", OK, "one serves at " + p.Target.Address, ""}
	}
	d, err := instance.Holder(p.Target.Socket)
	switch {
	case err != nil || d.PID == 0:
		return Finding{"daemon", Warn, "one serves, but its process is not known", "end it by hand, then: domtap doctor"}
	case d.Version != p.Version:
		return Finding{"daemon", Warn, fmt.Sprintf("process %d serves, of version %s; this program is %s", d.PID, d.Version, p.Version), "domtap stop; the next command starts this version"}
	}
	return Finding{"daemon", OK, fmt.Sprintf("process %d serves, of version %s", d.PID, d.Version), ""}
}
