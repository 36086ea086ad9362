package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/domtap/domtap/internal/gateway"
	"github.com/domtap/domtap/internal/gateway/ui"
	"github.com/domtap/domtap/internal/server"
	rpc "github.com/domtap/domtap/internal/server/daemon"
	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// pageStop limits how long calls of a live page may continue after the page is switched off.
const pageStop = time.Second

// livePage serves HTTP: the server of --web, if configured, and the live page. The live page is served by that server, or by its own, which
// starts and stops while the daemon runs. livePage implements the LivePage of DaemonService. The gRPC server waits for it before it ends.
type livePage struct {
	cfg   Config
	token string
	calls *server.Server

	mu sync.Mutex
	// web is the server of --web, or nil. webURL is the URL of its live page, whether or not the page is on.
	web    *gateway.Server
	webURL string
	// own is the server that serves only the page.
	own *pageServer
	// url is the URL of the page. It is empty while the page is off.
	url string
	// over is set when Stop of the front closes ended.
	over  bool
	ended chan struct{}
}

// pageServer is a server of the page with its goroutine.
type pageServer struct {
	gateway *gateway.Server
	done    chan struct{}
}

func newLivePage(cfg Config, token string) *livePage {
	return &livePage{cfg: cfg, token: token, ended: make(chan struct{})}
}

// begin creates the server of --web, if configured, and attaches the HTTP servers to the gRPC server.
func (p *livePage) begin(ctx context.Context, calls *server.Server) error {
	p.calls = calls
	if p.cfg.Web.Address != "" {
		if err := p.beginWeb(ctx); err != nil {
			return err
		}
		calls.AddFront(p.web)
	}
	calls.AddFront(front{p})
	return nil
}

func (p *livePage) beginWeb(ctx context.Context) error {
	l, err := p.cfg.webListener(ctx)
	if err != nil {
		return err
	}
	with := p.gateway(l)
	with.TLS, with.Hosts, with.Origins = p.cfg.TLS != (listen.TLS{}), p.cfg.Web.hosts(), p.cfg.Web.Origins
	if p.web, err = gateway.New(p.calls, with); err != nil {
		return errors.Join(err, l.Close())
	}
	p.webURL = p.cfg.pageURL(l.Addr())
	if p.cfg.Web.UI {
		p.web.SetPage(ui.Handler(p.cfg.Version))
		p.url = p.webURL
	}
	p.cfg.Logger.Info("serving the web", "address", l.Addr().String(), "live page", p.cfg.Web.UI)
	return nil
}

// gateway returns the configuration that both servers share.
func (p *livePage) gateway(l net.Listener) gateway.Config {
	return gateway.Config{Listener: l, Logger: p.cfg.Logger, MaxRequest: p.cfg.Limits.RequestBytes, MaxAnswer: p.cfg.Limits.ResponseBytes}
}

// Start serves the page: see daemon.LivePage.
func (p *livePage) Start(ctx context.Context, address string) (url string, started bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.over:
		return "", false, errors.New("the daemon is stopping")
	case p.url != "":
		return p.url, false, nil
	case p.web != nil && (address == "" || address == p.cfg.Web.Address):
		p.web.SetPage(ui.Handler(p.cfg.Version))
		p.url = p.webURL
	default:
		if err := p.startOwn(ctx, address); err != nil {
			return "", false, err
		}
	}
	p.cfg.Logger.Info("serving the live page", "url", p.url)
	return p.url, true, nil
}

// startOwn starts a server that serves only the page.
func (p *livePage) startOwn(ctx context.Context, address string) error {
	if p.token == "" {
		return fmt.Errorf("the live page has no token: the daemon can neither read nor create %s", p.cfg.TokenFile)
	}
	l, err := listenOnLoopback(ctx, address)
	if err != nil {
		return err
	}
	with := p.gateway(l)
	with.Page, with.Methods = ui.Handler(p.cfg.Version), ui.Methods()
	made, err := gateway.New(p.calls, with)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	own := &pageServer{gateway: made, done: make(chan struct{})}
	go func() {
		defer close(own.done)
		if err := made.Serve(); err != nil {
			p.cfg.Logger.Error("the live page is no longer served", "error", err)
		}
	}()
	p.own, p.url = own, rootOf("http", l.Addr().String())
	return nil
}

// listenOnLoopback listens on the given address. If that is empty, it listens on the default address, or on any free port if the default is
// in use.
func listenOnLoopback(ctx context.Context, address string) (net.Listener, error) {
	if address != "" {
		host, _, err := net.SplitHostPort(address)
		if err != nil || !listen.IsLoopback(host) {
			return nil, rpc.ErrNotLoopback
		}
		return listen.Web(ctx, address, listen.TLS{})
	}
	return listen.Page(ctx)
}

// Stop ends what Start started: see daemon.LivePage.
func (p *livePage) Stop(ctx context.Context) (stopped bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cfg.Web.UI {
		return false, errors.New("the daemon was started with --ui and serves the live page until it stops: start it without --ui")
	}
	if p.url == "" {
		return false, nil
	}
	p.url = ""
	if p.web != nil {
		p.web.SetPage(nil)
	}
	p.own.stop(ctx)
	p.own = nil
	p.cfg.Logger.Info("the live page is switched off")
	return true, nil
}

// stop ends a server and waits for its goroutine. s may be nil.
func (s *pageServer) stop(ctx context.Context) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pageStop)
	defer cancel()
	s.gateway.Stop(ctx)
	<-s.done
}

// front lets the gRPC server wait for the page's own server before it ends.
type front struct{ page *livePage }

// Serve waits for Stop.
func (f front) Serve() error {
	<-f.page.ended
	return nil
}

// Stop ends the page's own server and prevents the start of another.
func (f front) Stop(ctx context.Context) {
	f.page.mu.Lock()
	defer f.page.mu.Unlock()
	if f.page.over {
		return
	}
	f.page.over = true
	f.page.own.stop(ctx)
	close(f.page.ended)
}
