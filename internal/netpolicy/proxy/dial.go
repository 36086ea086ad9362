package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"

	"github.com/domtap/domtap/internal/netpolicy"
)

// errOwn is the error of a connection to the gate itself.
var errOwn = &netpolicy.Refusal{Rule: "none", Why: "the address is the daemon's own proxy"}

// dial connects to a target that the policy allows, at an address that the policy allows, and notes how that went.
func (g *Gate) dial(ctx context.Context, t netpolicy.Target) (net.Conn, error) {
	conn, err := g.connect(ctx, t)
	if ctx.Err() == nil {
		g.failures.note(t.Authority(), err)
	}
	if refusal := new(netpolicy.Refusal); errors.As(err, &refusal) {
		g.logger.Debug("the URL policy refused a connection", "host", refusal.Host, "port", t.Port, "rule", refusal.Rule)
	}
	return conn, err
}

// connect does the work of dial. The dialer asks about each address right before it connects to that.
func (g *Gate) connect(ctx context.Context, t netpolicy.Target) (net.Conn, error) {
	grant, err := g.policy.Name(t)
	if err != nil {
		return nil, err
	}
	dialer := g.dialer
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if netip.AddrPortFrom(at.Addr().Unmap(), at.Port()) == g.own {
			return errOwn
		}
		return grant.Address(at)
	}
	if t.Host != "localhost" && !strings.HasSuffix(t.Host, ".localhost") {
		return dialer.DialContext(ctx, "tcp", t.Authority())
	}
	// Browsers know where these names lead to, whatever a name server says.
	conn, err := dialer.DialContext(ctx, "tcp", netpolicy.Target{Host: "127.0.0.1", Port: t.Port}.Authority())
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	if conn, err := dialer.DialContext(ctx, "tcp", netpolicy.Target{Host: "::1", Port: t.Port}.Authority()); err == nil {
		return conn, nil
	}
	return nil, err
}

// maxFailures is how many hosts are remembered for not having been connected to.
const maxFailures = 1024

// failures remembers why hosts were not connected to when that was tried last.
type failures struct {
	mu  sync.Mutex
	why map[string]error
	// order lists the hosts, the oldest first; those that were connected to since are in it, too.
	order []string
}

// note remembers how a connection to host:port went.
func (f *failures) note(authority string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.why[authority]
	switch {
	case err == nil && known:
		f.why[authority] = nil
	case err == nil:
	case known:
		f.why[authority] = err
	default:
		if f.why == nil {
			f.why = map[string]error{}
		}
		if len(f.order) == maxFailures {
			delete(f.why, f.order[0])
			f.order = f.order[1:]
		}
		f.order = append(f.order, authority)
		f.why[authority] = err
	}
}

// of returns why host:port was not connected to, or nil.
func (f *failures) of(authority string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why[authority]
}
