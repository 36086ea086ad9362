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

// Gate is a proxy that decides what a browser connects to.
type Gate interface {
	// Address is where it listens for HTTP proxy requests: host:port.
	Address() string
	// AllowAnswer fails for a URL that nobody may answer in place of its server, because the server is refused.
	AllowAnswer(url string) error
	// Verdict tells why it did not connect to the host of a URL when it was last asked to; nil: it did, or was not asked.
	Verdict(url string) *apierr.Error
	// Probe is a URL and the text that it has for those who come through the gate, and for nobody else.
	Probe() (url, text string)
}

// around are the flags that lead around a gate, or to another one.
var around = []string{
	"proxy-server", "proxy-pac-url", "proxy-auto-detect", "no-proxy-server", "proxy-bypass-list", "host-resolver-rules", "host-rules",
	"enable-quic", "origin-to-force-quic-on", "force-webrtc-ip-handling-policy", "webrtc-ip-handling-policy", "load-extension",
}

// CheckGate reports whether all of a browser's traffic can be made to go through its gate.
func CheckGate(cfg Config) error {
	if cfg.Gate == nil {
		return nil
	}
	if cfg.Remote != "" {
		return errors.New("a URL policy holds for a browser that domtap starts, not for one that it attaches to: leave out --url-policy or --remote, " +
			"or have the other browser's network refuse what it must not reach")
	}
	for _, flag := range cfg.Flags {
		if name, _, _ := parseFlag(flag); slices.Contains(around, name) {
			return fmt.Errorf("--chrome-flag %s would lead around the URL policy, which domtap enforces by a proxy of its own: leave out that or --url-policy", name)
		}
	}
	return nil
}

// gateFlags make a browser send everything through its gate, what is on loopback included, and leave out what cannot go
// through it: UDP, and names that the browser would look up by itself.
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

// ProxyLimit is how long a new browser may take until VerifyProxy returns.
const ProxyLimit = 20 * time.Second

// textOfPage is a script that returns the text of a page once the page is loaded.
const textOfPage = `new Promise(loaded => {
		document.readyState === 'complete' ? loaded() : addEventListener('load', loaded) }).then(() => document.body.innerText)`

// VerifyProxy makes sure that the browser of a page goes through its gate: what the machine's administrator has configured
// for the browser comes before the browser's command line.
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
