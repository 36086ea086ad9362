package proxy

import (
	"net/netip"
	"os"
	"testing"

	"github.com/domtap/domtap/internal/stubdns"
)

func TestTheOwnerOfAConnectionIsFound(t *testing.T) {
	g, _ := open(t, "public", new(stubdns.Server))
	conn := dialGate(t, g)
	local, remote := netip.MustParseAddrPort(conn.LocalAddr().String()), netip.MustParseAddrPort(conn.RemoteAddr().String())
	if uid, err := ownerOf(local, remote); err != nil || uid != os.Getuid() {
		t.Errorf("%d, %v", uid, err)
	}
	if uid, err := ownerOf(remote, netip.MustParseAddrPort("127.0.0.1:1")); err != nil || uid != -1 {
		t.Errorf("%d, %v", uid, err)
	}
}
