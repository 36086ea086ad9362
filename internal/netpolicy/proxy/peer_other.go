//go:build !linux

package proxy

import "net"

// isOwn reports whether the other end of a connection belongs to a process of this user: here there is no cheap way to know.
func isOwn(net.Conn) bool { return true }
