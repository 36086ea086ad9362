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

// errOwn is the error for a connection to the proxy itself.
var errOwn = &netpolicy.Refusal{Rule: "none", Why: "the address belongs to the daemon's own proxy"}

// dial connects to a target if the policy allows the target and its address. It records the result.
func (p *Proxy) dial(ctx context.Context, t netpolicy.Target) (net.Conn, error) {
	conn, err := p.connect(ctx, t)
	if ctx.Err() == nil {
		p.failures.note(t.Authority(), err)
	}
	if refusal := new(netpolicy.Refusal); errors.As(err, &refusal) {
		p.logger.Debug("the URL policy refused a connection", "host", refusal.Host, "port", t.Port, "rule", refusal.Rule)
	}
	return conn, err
}

// connect connects to a target without recording the result. The dialer checks the policy for each address immediately before it dials the
// address.
func (p *Proxy) connect(ctx context.Context, t netpolicy.Target) (net.Conn, error) {
	grant, err := p.policy.Name(t)
	if err != nil {
		return nil, err
	}
	dialer := p.dialer
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if netip.AddrPortFrom(at.Addr().Unmap(), at.Port()) == p.address {
			return errOwn
		}
		return grant.Address(at)
	}
	if t.Host != "localhost" && !strings.HasSuffix(t.Host, ".localhost") {
		return dialer.DialContext(ctx, "tcp", t.Authority())
	}
	// Browsers resolve these names to loopback, regardless of name servers.
	conn, err := dialer.DialContext(ctx, "tcp", netpolicy.Target{Host: "127.0.0.1", Port: t.Port}.Authority())
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	if conn, err := dialer.DialContext(ctx, "tcp", netpolicy.Target{Host: "::1", Port: t.Port}.Authority()); err == nil {
		return conn, nil
	}
	return nil, err
}

// maxFailures limits how many hosts failures records.
const maxFailures = 1024

// failures records why the last connection to a host failed.
type failures struct {
	mu  sync.Mutex
	why map[string]error
	// order lists the hosts, oldest first, including hosts that were connected to later.
	order []string
}

// note records the result of a connection to host:port.
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

// of returns why the last connection to host:port failed, or nil.
func (f *failures) of(authority string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why[authority]
}
