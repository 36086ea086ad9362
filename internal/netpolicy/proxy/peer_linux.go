package proxy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// isOwn reports whether the other end of a connection belongs to a process of this user or of root. If the kernel does not list its
// connections, isOwn returns true.
func isOwn(conn net.Conn) bool {
	peer, errPeer := netip.ParseAddrPort(conn.RemoteAddr().String())
	here, errHere := netip.ParseAddrPort(conn.LocalAddr().String())
	if errPeer != nil || errHere != nil {
		return false
	}
	for range 3 { // the list is not a snapshot: reading it can miss an entry while other connections open and close
		uid, err := ownerOf(peer, here)
		if err != nil {
			return true
		}
		if uid >= 0 {
			return uid == 0 || uid == os.Getuid() || uid == os.Geteuid()
		}
	}
	return false
}

// ownerOf returns the user id that owns a connection with these two addresses, or -1 if there is no such connection.
func ownerOf(local, remote netip.AddrPort) (int, error) {
	f, err := os.Open("/proc/self/net/tcp")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	ends := " " + listed(local) + " " + listed(remote) + " "
	for lines := bufio.NewScanner(f); lines.Scan(); {
		_, rest, found := strings.Cut(lines.Text(), ends)
		if !found {
			continue
		}
		// st, queues, timer, retransmits, uid
		if fields := strings.Fields(rest); len(fields) > 4 {
			return strconv.Atoi(fields[4])
		}
	}
	return -1, nil
}

// listed formats an IPv4 address and port as the kernel does.
func listed(at netip.AddrPort) string {
	b := at.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(b[:]), at.Port())
}
