package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp"
	jsonv2 "github.com/chromedp/cdproto/cdp/jsonv2"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/internal/browser/devtools"
)

// Gate is a proxy that decides which hosts a browser may connect to.
type Gate interface {
	// Address returns the host:port where it listens for HTTP proxy requests.
	Address() string
	// AllowAnswer returns an error for a URL whose server is refused. Such a URL must not be answered in place of its server, either.
	AllowAnswer(url string) error
	// Verdict returns why the gate last refused to connect to the host of a URL. It returns nil if the gate connected or was not asked to.
	Verdict(url string) *apierr.Error
	// Probe returns a URL and its text. Only requests through the gate receive that text.
	Probe() (url, text string)
}

// gateBypassFlags lists the flags that bypass or replace a gate.
var gateBypassFlags = []string{
	"proxy-server", "proxy-pac-url", "proxy-auto-detect", "no-proxy-server", "proxy-bypass-list", "host-resolver-rules", "host-rules",
	"enable-quic", "origin-to-force-quic-on", "force-webrtc-ip-handling-policy", "webrtc-ip-handling-policy", "load-extension",
}

// CheckGate returns an error if a browser's traffic cannot be forced through its gate.
func CheckGate(cfg Config) error {
	if cfg.Gate == nil {
		return nil
	}
	if cfg.Remote != "" {
		return errors.New("a URL policy applies only to a browser that domtap starts, not to a remote one: leave out --url-policy or --remote, " +
			"or block the addresses in the network of the remote browser")
	}
	for _, flag := range cfg.Flags {
		if name, _, _ := parseFlag(flag); slices.Contains(gateBypassFlags, name) {
			return fmt.Errorf("--chrome-flag %s would bypass the URL policy, which domtap enforces with its own proxy: leave out this flag or --url-policy", name)
		}
	}
	return nil
}

// gateFlags returns flags that send all of a browser's traffic through its gate, including loopback. They disable what cannot use the gate:
// UDP and the browser's own name resolution.
func gateFlags(g Gate) []string {
	if g == nil {
		return nil
	}
	return []string{
		"proxy-server=http://" + g.Address(), "proxy-bypass-list=<-loopback>",
		"host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"disable-quic", "force-webrtc-ip-handling-policy=disable_non_proxied_udp", "webrtc-ip-handling-policy=disable_non_proxied_udp",
		"disable-features=AsyncDns,DnsOverHttps,WebTransport",
	}
}

// ProxyLimit bounds the duration of VerifyProxy in a new browser.
const ProxyLimit = 20 * time.Second

// textOfPage is a script that returns a page's text once the page has loaded.
const textOfPage = `new Promise(loaded => {
		document.readyState === 'complete' ? loaded() : addEventListener('load', loaded) }).then(() => document.body.innerText)`

// VerifyProxy checks that a page's browser connects through its gate. The check is needed because an administrator's policy overrides the
// browser's command line.
func VerifyProxy(ctx context.Context, page devtools.Session, gate Gate) error {
	url, want := gate.Probe()
	if _, err := cdp.Call(ctx, page, cdppage.Navigate, cdppage.NavigateParams{URL: url}); err != nil {
		return err
	}
	yes := true
	answer, err := cdp.Call(ctx, page, runtime.Evaluate, runtime.EvaluateParams{AwaitPromise: &yes, Expression: textOfPage})
	if err != nil {
		return err
	}
	var text string
	if answer.Result == nil || jsonv2.Unmarshal(answer.Result.Value, &text, chromedp.DefaultUnmarshalOptions) != nil || text != want {
		return errors.New("it does not send its traffic through the proxy that enforces the URL policy: an administrator's policy for this browser may " +
			"name another proxy (chrome://policy shows it); name another browser with DOMTAP_CHROME, or leave out --url-policy")
	}
	return nil
}
