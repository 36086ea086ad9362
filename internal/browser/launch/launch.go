// Package launch starts a Chromium through chromedp, or attaches to one, and shares its connection.
//
// When Close returns, the process that Start started, its children, and its temporary profile are gone. If a daemon dies without Close, the
// kernel ends its browser where it supports that. Otherwise the next Start with the same state directory ends the browser. That Start also
// removes leftover files.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"github.com/domtap/domtap/internal/browser/devtools"
	"github.com/domtap/domtap/internal/sessions"
)

// Config selects and configures the browser.
type Config struct {
	// ChromePath is the executable. If empty, Find selects it.
	ChromePath string
	// NoWebMCP keeps pages from offering tools.
	NoWebMCP bool
	// Flags are added to the command line, as "name" or "name=value", with or without leading dashes.
	Flags []string
	// Headless runs the browser without a window.
	Headless bool
	// Remote is the address of a running browser (http://host:port, ws://…, or the same with TLS). If set, no browser is started. "auto"
	// finds a browser of this machine at each connection; "auto:" and a name or a profile folder selects one of several.
	Remote string
	// Refusals remembers the browsers that Remote "auto" found and whose users did not allow the connection. If nil, users are asked at
	// each connection.
	Refusals *Refusals
	// RemoteHeader is sent with the requests that connect to Remote. It is never logged.
	RemoteHeader http.Header
	// UserDataDir is the profile's directory. If empty, a profile in StateDir is used and removed at the end.
	UserDataDir string
	// Secondary is set if the default session lives in another browser of the pool. Then this browser prepares nothing for it.
	Secondary bool
	// StateDir holds profiles and the notes about running browsers. If empty, a directory in the system's temporary directory is used.
	StateDir string
	// DownloadDir holds downloads, in one folder per session. If empty, a folder in StateDir is used and removed at the end. A remote
	// browser chooses its own folder.
	DownloadDir string
	// MaxDownloadBytes limits the total size of all downloads. A download that would exceed it is canceled. Zero means 2 GiB.
	MaxDownloadBytes int64
	// Gate is the proxy that carries all traffic of a browser that is started. If nil, the browser connects directly.
	Gate Gate
	// PageElements limits how many elements of each document are stored. Zero means page.MaxElements.
	PageElements int
	// PageNice is added to our nice value for the processes that run pages. It ranges from 0 to 19; see nicePages. It does not apply to a
	// remote browser.
	PageNice int
	// Mask selects what is masked in the pages of every session.
	Mask sessions.Mask
	// Block lists the presets of package routes that block requests in every session.
	Block []string
	// AllowFile returns an error for file: URLs that pages must not load. If nil, clients cannot open file: URLs, and pages from the web
	// cannot reach them.
	AllowFile func(url string) error
	// Logger receives the browser's events. If nil, nothing is logged.
	Logger *slog.Logger
}

// SandboxNote returns why Chromium's own sandbox is off, or an empty string if it is on. Chromium cannot sandbox when it runs as root, as
// in most containers.
func SandboxNote() string {
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		return "running as root: Chromium's sandbox is off (--no-sandbox); run domtap as another user to have it"
	}
	return ""
}

// popupFeatures disables the WebUI popups that the new headless mode loads for each window in a separate renderer. Each window would cost
// 30 MB and 0.4 s, and twenty idle windows a CPU core (limits.md, section 0, 5).
const popupFeatures = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopupDebug"

// execOptions returns the options with which chromedp starts the browser. The back/forward cache is off, because a document that is
// restored from it is not announced again, and its observer could not be found.
func execOptions(cfg Config, path string, home *home, modify func(*exec.Cmd), output io.Writer) []chromedp.ExecAllocatorOption {
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.UserDataDir(home.profile),
		chromedp.NoInheritEnv,
		chromedp.Env(home.environment(os.Environ())...),
		chromedp.ModifyCmdFunc(modify),
		chromedp.CombinedOutput(output),
		chromedp.Flag("enable-automation", false),
		chromedp.Flag("disable-component-update", true),
		// chromedp disables this protection. Without it, a page that floods the browser with states or navigations blocks all tabs.
		chromedp.Flag("disable-ipc-flooding-protection", false),
		chromedp.Flag("disable-crash-reporter", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("no-startup-window", cfg.Headless), // a headless window is invisible; the first tab creates one
	)
	if SandboxNote() != "" {
		opts = append(opts, chromedp.NoSandbox)
	}
	if !cfg.Headless {
		opts = append(opts, chromedp.Flag("headless", false), chromedp.Flag("hide-scrollbars", false), chromedp.Flag("mute-audio", false))
	}
	var on []string
	if cfg.UserDataDir == "" {
		on = append(on, inProcessNetwork)
	}
	off, blink, offBlink := features, blinkSettings, filePickers
	if !cfg.NoWebMCP {
		on = append(on, webMCP)
	}
	for _, flag := range append(slices.Clone(cfg.Flags), gateFlags(cfg.Gate)...) {
		name, value, found := parseFlag(flag)
		switch {
		case name == enableFeatures: // the browser uses only the last of these flags
			on = append(on, value)
		case name == disableFeatures:
			off += "," + value
		case name == blinkFlag:
			blink += "," + value
		case name == disableBlink:
			offBlink += "," + value
		case found:
			opts = append(opts, chromedp.Flag(name, value))
		default:
			opts = append(opts, chromedp.Flag(name, true))
		}
	}
	return append(opts, chromedp.Flag(enableFeatures, strings.Join(on, ",")), chromedp.Flag(disableFeatures, off), chromedp.Flag(blinkFlag, blink),
		chromedp.Flag(disableBlink, offBlink))
}

// parseFlag reads "name" or "name=value", with or without dashes.
func parseFlag(flag string) (name, value string, found bool) {
	return strings.Cut(strings.TrimLeft(flag, "-"), "=")
}

const (
	enableFeatures  = "enable-features"
	disableFeatures = "disable-features"
	disableBlink    = "disable-blink-features"
	blinkFlag       = "blink-settings"
)

// filePickers disables showOpenFilePicker and related functions, whose dialogs cannot be answered from outside. Pages without these
// functions use file inputs and downloads instead.
const filePickers = "FileSystemAccessLocal"

// blinkSettings apply to all pages. On Linux, text that is selected in one session must not be pasted by a middle click in another. Pages
// also get a mouse: a browser without a display detects none, and rules for (hover: hover), which many pages use, would not apply. An
// emulated touch device overrides this.
const blinkSettings = "selectionClipboardBufferAvailable=false," +
	"primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"

// inProcessNetwork runs the network service inside the browser process if the profile is temporary. That saves 10 MB, or 16 MB in full
// Chromium. chromedp also requests it, under its former name. A persistent profile needs the separate process, because without it some
// browsers exit before the last cookies are stored (ADR 85).
const inProcessNetwork = "NetworkServiceInProcess2"

// webMCP lets pages offer tools to agents.
const webMCP = "WebMCP"

// features lists features that are always disabled. They include the back/forward cache, whose pages return without load events, and spare
// renderers.
const features = "Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,BackForwardCache,SpareRendererForSitePerProcess," + popupFeatures

// silentOptions keeps chromedp from writing to the standard logger. Relevant failures are returned as errors.
var silentOptions = []chromedp.ContextOption{
	chromedp.WithLogf(func(string, ...any) {}), chromedp.WithErrorf(func(string, ...any) {}),
}

// Browser is a running browser.
type Browser struct {
	// Conn is the connection to the browser, shared with chromedp.
	Conn *devtools.Conn
	// VersionInfo is the browser's version information.
	VersionInfo browser.GetVersionResult
	bctx        context.Context
	home        *home // nil for a remote browser
}

// Start starts the browser that cfg describes, or attaches to the one that cfg.Remote names. ctx bounds the browser's life. root handles
// the events that belong to no session, as in devtools.New.
func Start(ctx context.Context, cfg Config, root func(*cdproto.Message)) (b *Browser, err error) {
	if err := CheckGate(cfg); err != nil {
		return nil, err
	}
	if cfg.Remote != "" {
		return attach(ctx, cfg, root)
	}
	home, err := newHome(cfg)
	if err != nil {
		return nil, err
	}
	if b, err = launch(ctx, cfg, home, root); err == nil {
		err = home.writeOwner(b.PID())
	}
	if err != nil {
		return nil, errors.Join(err, home.remove())
	}
	return b, nil
}

// IsShell reports whether the browser is the headless shell, which is Chromium's rendering without most of the full browser.
func (b *Browser) IsShell() bool { return strings.HasPrefix(b.VersionInfo.Product, "HeadlessChrome/") }

// Dir returns a directory that is removed with the browser. For a remote browser it returns the system's temporary directory.
func (b *Browser) Dir() string {
	if b.home == nil {
		return os.TempDir()
	}
	return b.home.dir
}

// Owned reports whether the browser was started here and must be ended here.
func (b *Browser) Owned() bool { return b.home != nil }

// PID returns the ID of the process that was started, or 0 for a remote browser.
func (b *Browser) PID() int {
	if c := chromedp.FromContext(b.bctx); b.home != nil && c.Browser != nil && c.Browser.Process() != nil {
		return c.Browser.Process().Pid
	}
	return 0
}

// Kill kills the process that was started, and its children. It leaves a remote browser alone.
func (b *Browser) Kill() {
	if c := chromedp.FromContext(b.bctx); b.home != nil && c.Browser != nil && c.Browser.Process() != nil {
		kill(c.Browser.Process())
	}
}

// Close releases all resources. Before the call, the context of Start or the browser must have ended.
func (b *Browser) Close() error {
	chromedp.FromContext(b.bctx).Allocator.Wait()
	b.Conn.Close()
	if b.home == nil {
		return nil
	}
	return b.home.remove()
}

// version requests the browser's version. This starts the browser if it is not running yet.
func version(bctx context.Context) (browser.GetVersionResult, error) {
	return chromedp.CallBrowser(bctx, browser.GetVersion, cdp.Empty{})
}

// launch starts Chromium through chromedp, on a pipe through a relay.
func launch(ctx context.Context, cfg Config, home *home, root func(*cdproto.Message)) (*Browser, error) {
	path, err := Find(cfg.ChromePath, cfg.Headless)
	if err != nil {
		return nil, err
	}
	link := &relay{windowless: cfg.Headless}
	said := new(output)
	opts := execOptions(cfg, path, home, link.modify, said)
	allocator, _ := chromedp.NewExecAllocator(ctx, opts...) // ends with ctx
	bctx, _ := chromedp.NewContext(allocator, silentOptions...)
	link.ready = func(browser, toChromedp chromedp.Transport) {
		link.conn = devtools.New(ctx, browser, toChromedp, root)
	}
	v, err := version(bctx)
	link.started()
	if err == nil && link.conn == nil {
		err = errors.New("the browser did not open the pipe")
	}
	if err != nil {
		link.abandon()
		return nil, said.explain(path, err)
	}
	b := &Browser{Conn: link.conn, VersionInfo: v, bctx: bctx, home: home}
	if !cfg.Headless && b.IsShell() {
		b.Kill()
		b.Conn.Close()
		return nil, noWindowsError(path)
	}
	if cfg.PageNice > 0 {
		if err := nicePages(b.PID(), cfg.PageNice); err != nil && cfg.Logger != nil {
			cfg.Logger.Warn("pages run with the default priority", "error", err)
		}
	}
	return b, nil
}

// attach connects to a running browser.
func attach(ctx context.Context, cfg Config, root func(*cdproto.Message)) (*Browser, error) {
	end, err := newEndpoint(cfg.Remote, cfg.RemoteHeader)
	if err != nil {
		return nil, fmt.Errorf("--remote: %w", err)
	}
	a := &attacher{end: end, root: root, logger: cfg.Logger}
	actx, _ := chromedp.NewAllocatorContext(ctx, a)
	bctx, _ := chromedp.NewContext(actx, silentOptions...)
	if end.search != nil {
		end.search.refusals = cfg.Refusals
	}
	v, err := version(bctx)
	if err != nil {
		if a.conn != nil {
			a.conn.Close()
		}
		if end.search != nil {
			return nil, end.search.failed(cmp.Or(context.Cause(ctx), err))
		}
		return nil, fmt.Errorf("attaching to the browser at %s: %w (check that it runs with --remote-debugging-port, or set the key of its service with --remote-header-file)", end.name(), end.hide(err))
	}
	return &Browser{Conn: a.conn, VersionInfo: v, bctx: bctx}, nil
}

// attacher is a chromedp allocator for a running browser whose connection we share.
type attacher struct {
	end  *endpoint
	root func(*cdproto.Message)
	conn *devtools.Conn
	// logger may be nil.
	logger *slog.Logger
}

// Allocate implements chromedp.Allocator.
func (a *attacher) Allocate(ctx context.Context, opts ...chromedp.BrowserOption) (*chromedp.Browser, error) {
	address, err := a.end.socket(ctx)
	if err != nil {
		return nil, err
	}
	if a.end.search != nil && a.end.search.asks && a.logger != nil {
		a.logger.Warn("the browser asks in its window whether to allow remote debugging: choose Allow", "browser", a.end.name())
	}
	ws, err := remote.DialContext(ctx, address, remote.WithConnHTTPHeader(a.end.header))
	if err != nil {
		return nil, err
	}
	ours, theirs := pipePair()
	a.conn = devtools.New(ctx, ws, ours, a.root)
	return chromedp.NewBrowserTransport(ctx, theirs, opts...)
}

// Wait implements chromedp.Allocator.
func (a *attacher) Wait() {}

// Attaches implements chromedp.Attacher. We must not end the browser.
func (a *attacher) Attaches() bool { return true }

// pipePair returns both ends of an in-process connection for chromedp's transports.
func pipePair() (ours, theirs *chromedp.PipeConn) {
	downR, downW := io.Pipe()
	upR, upW := io.Pipe()
	return chromedp.NewPipeConn(upR, downW), chromedp.NewPipeConn(downR, upW)
}
