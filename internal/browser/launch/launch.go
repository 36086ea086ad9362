// Package launch starts a Chromium, or attaches to one, by chromedp, and shares its connection.
//
// What Start started is gone when Close returns: the process, its children, and the profile if it was
// temporary. A daemon that dies without Close takes its browser with it where the kernel can see to that;
// elsewhere, and for what is left on disk, the next Start below the same state directory cleans up.
package launch

import (
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

// Config says which browser to use.
type Config struct {
	// ChromePath is the executable; empty: the one that Find finds.
	ChromePath string
	// Flags are added to the command line, "name" or "name=value", with or without dashes.
	Flags []string
	// Headless runs without a window.
	Headless bool
	// Remote is the address of a running browser (http://host:port, ws://…, or the same with TLS); nothing is started then.
	Remote string
	// RemoteHeader is sent with the requests that connect to Remote. It is never logged.
	RemoteHeader http.Header
	// UserDataDir keeps the profile; empty: a profile in StateDir that is removed at the end.
	UserDataDir string
	// Secondary says that the default session lives in another browser of the pool: nothing is prepared
	// for it here.
	Secondary bool
	// StateDir is where profiles and the notes about running browsers are kept; empty: the system's
	// directory for temporary files.
	StateDir string
	// DownloadDir keeps what pages download, in a folder for each session; empty: a folder in StateDir that is
	// removed at the end. A browser that was attached to keeps them where it likes.
	DownloadDir string
	// MaxDownloadBytes is how much all of them together may be; 0: 2 GiB. What would exceed it is canceled.
	MaxDownloadBytes int64
	// Gate is what all traffic of a browser that is started is to go through; nil: it connects by itself.
	Gate Gate
	// PageElements is how many elements are kept of each document; 0: page.MaxElements.
	PageElements int
	// PageNice is by how much the nice value of the processes that run pages exceeds ours, 0 to 19; see nicePages. A browser that
	// was attached to keeps its own.
	PageNice int
	// Mask is what is masked in the pages of every session.
	Mask sessions.Mask
	// Block are the presets of package routes that block requests in every session.
	Block []string
	// AllowFile fails for file: URLs that pages may not load; nil: clients can name none, and pages of the web reach none.
	AllowFile func(url string) error
	// Logger gets the browser's life; nil: nothing is logged.
	Logger *slog.Logger
}

// SandboxNote says why Chromium's own sandbox is off, or nothing when it is on. Chromium refuses to
// sandbox as root, which is how most containers run.
func SandboxNote() string {
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		return "running as root: Chromium's sandbox is off (--no-sandbox); run domtap as another user to have it"
	}
	return ""
}

// popupFeatures are the WebUI popups that each window of the new headless mode loads in a renderer of
// its own: 30 MB and 0.4 s a window, and a core for twenty idle windows (limits.md, section 0, 5).
const popupFeatures = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup,WebUIOmniboxPopupDebug"

// execOptions is the command line that chromedp starts the browser with. The back/forward cache is off:
// a document that comes back from it is not announced again, so its observer could not be found.
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
		// chromedp switches it off; without it a page that floods the browser with states or navigations stops all tabs.
		chromedp.Flag("disable-ipc-flooding-protection", false),
		chromedp.Flag("disable-crash-reporter", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("no-startup-window", cfg.Headless), // nobody would see it; the first tab makes one
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
	for _, flag := range append(slices.Clone(cfg.Flags), gateFlags(cfg.Gate)...) {
		name, value, found := parseFlag(flag)
		switch {
		case name == enableFeatures: // the browser takes the last of these flags alone
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

// filePickers are showOpenFilePicker and its like, which nobody can answer from outside. Pages that miss them use file inputs and downloads.
const filePickers = "FileSystemAccessLocal"

// blinkSettings are those of all pages: on Linux what somebody selects in one session must not be what a click with the middle
// button pastes in another. And they have a mouse, as actions do: a browser without a display finds none, and then no rule applies
// that pages have for (hover: hover), which many put around all that the pointer shows. Devices with touch override that.
const blinkSettings = "selectionClipboardBufferAvailable=false," +
	"primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"

// inProcessNetwork is switched on for a browser whose profile is temporary: the network has no process of its own, which takes 10 MB, and 16
// in full Chromium. chromedp asks for that too, under the name that it had before. A profile that is kept needs the process: without it, some
// browsers end before they have stored the last cookies (ADR 85).
const inProcessNetwork = "NetworkServiceInProcess2"

// features are what is switched off always: pages that come back from the cache of the history, without their load
// being told again, and renderers that wait for a page to come, among them.
const features = "Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,BackForwardCache,SpareRendererForSitePerProcess," + popupFeatures

// quiet keeps chromedp from writing to the standard logger: what matters comes back as errors.
var quiet = []chromedp.ContextOption{
	chromedp.WithLogf(func(string, ...any) {}), chromedp.WithErrorf(func(string, ...any) {}),
}

// Browser is a browser that runs.
type Browser struct {
	// Conn is the connection to it, shared with chromedp.
	Conn *devtools.Conn
	// Said is what it has said of itself.
	Said browser.GetVersionResult
	bctx context.Context
	home *home // nil for one that was attached to
}

// Start starts the browser that cfg describes, or attaches to the one that cfg.Remote names. ctx bounds its
// life; root handles the events that belong to no session, as devtools.New says.
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
		err = home.note(b.PID())
	}
	if err != nil {
		return nil, errors.Join(err, home.remove())
	}
	return b, nil
}

// IsShell reports whether it is the headless shell: Chromium's rendering without most of what surrounds it in the full browser.
func (b *Browser) IsShell() bool { return strings.HasPrefix(b.Said.Product, "HeadlessChrome/") }

// Dir is a folder that is removed with the browser; that of the system for one that was attached to.
func (b *Browser) Dir() string {
	if b.home == nil {
		return os.TempDir()
	}
	return b.home.dir
}

// Owned reports whether the browser was started here, and is to be ended.
func (b *Browser) Owned() bool { return b.home != nil }

// PID is the process that was started; 0 for one that was attached to.
func (b *Browser) PID() int {
	if c := chromedp.FromContext(b.bctx); b.home != nil && c.Browser != nil && c.Browser.Process() != nil {
		return c.Browser.Process().Pid
	}
	return 0
}

// Kill ends the process that was started, and those that it has started; one that was attached to lives on.
func (b *Browser) Kill() {
	if c := chromedp.FromContext(b.bctx); b.home != nil && c.Browser != nil && c.Browser.Process() != nil {
		kill(c.Browser.Process())
	}
}

// Close frees everything. The context given to Start has ended, or the browser has.
func (b *Browser) Close() error {
	chromedp.FromContext(b.bctx).Allocator.Wait()
	b.Conn.Close()
	if b.home == nil {
		return nil
	}
	return b.home.remove()
}

// version asks the browser for its version, which starts it when it is not running yet.
func version(bctx context.Context) (browser.GetVersionResult, error) {
	return chromedp.CallBrowser(bctx, browser.GetVersion, cdp.Empty{})
}

// launch starts Chromium by chromedp, on a pipe that we tap.
func launch(ctx context.Context, cfg Config, home *home, root func(*cdproto.Message)) (*Browser, error) {
	path, err := Find(cfg.ChromePath, cfg.Headless)
	if err != nil {
		return nil, err
	}
	tap := &tap{windowless: cfg.Headless}
	said := new(output)
	opts := execOptions(cfg, path, home, tap.modify, said)
	allocator, _ := chromedp.NewExecAllocator(ctx, opts...) // ends with ctx
	bctx, _ := chromedp.NewContext(allocator, quiet...)
	tap.ready = func(browser, toChromedp chromedp.Transport) {
		tap.conn = devtools.New(ctx, browser, toChromedp, root)
	}
	v, err := version(bctx)
	tap.started()
	if err == nil && tap.conn == nil {
		err = errors.New("the browser did not take the pipe")
	}
	if err != nil {
		tap.abandon()
		return nil, said.explain(path, err)
	}
	b := &Browser{Conn: tap.conn, Said: v, bctx: bctx, home: home}
	if !cfg.Headless && b.IsShell() {
		b.Kill()
		b.Conn.Close()
		return nil, noWindows(path)
	}
	if cfg.PageNice > 0 {
		if err := nicePages(b.PID(), cfg.PageNice); err != nil && cfg.Logger != nil {
			cfg.Logger.Warn("pages run with the usual priority", "error", err)
		}
	}
	return b, nil
}

// attach connects to a running browser.
func attach(ctx context.Context, cfg Config, root func(*cdproto.Message)) (*Browser, error) {
	end, err := newRemoteEnd(cfg.Remote, cfg.RemoteHeader)
	if err != nil {
		return nil, fmt.Errorf("--remote: %w", err)
	}
	a := &attacher{end: end, root: root}
	actx, _ := chromedp.NewAllocatorContext(ctx, a)
	bctx, _ := chromedp.NewContext(actx, quiet...)
	v, err := version(bctx)
	if err != nil {
		if a.conn != nil {
			a.conn.Close()
		}
		return nil, fmt.Errorf("attaching to the browser at %s: %w (is it running, with --remote-debugging-port, or does its service want a key?)", end.name(), end.hide(err))
	}
	return &Browser{Conn: a.conn, Said: v, bctx: bctx}, nil
}

// attacher is a chromedp allocator for a running browser whose connection we share.
type attacher struct {
	end  *remoteEnd
	root func(*cdproto.Message)
	conn *devtools.Conn
}

// Allocate implements chromedp.Allocator.
func (a *attacher) Allocate(ctx context.Context, opts ...chromedp.BrowserOption) (*chromedp.Browser, error) {
	address, err := a.end.socket(ctx)
	if err != nil {
		return nil, err
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

// Attaches implements chromedp.Attacher: the browser is not ours to end.
func (a *attacher) Attaches() bool { return true }

// pipePair is a connection within the process, as chromedp's transports see it.
func pipePair() (ours, theirs *chromedp.PipeConn) {
	downR, downW := io.Pipe()
	upR, upW := io.Pipe()
	return chromedp.NewPipeConn(upR, downW), chromedp.NewPipeConn(downR, upW)
}
