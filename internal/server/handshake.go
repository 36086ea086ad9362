package server

import (
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// handshake tells the handlers of the certificates of connections: the listeners speak TLS themselves, or none. One
// server serves both.
type handshake struct {
	credentials.TransportCredentials
}

func newHandshake() handshake { return handshake{insecure.NewCredentials()} }

// ServerHandshake ends the handshake of TLS, if it is that.
func (h handshake) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return h.TransportCredentials.ServerHandshake(conn)
	}
	// gRPC has set the connection's deadline.
	if err := secure.Handshake(); err != nil {
		return nil, nil, err
	}
	return conn, tlsInfo(secure), nil
}

// Clone is this one: it has no state.
func (h handshake) Clone() credentials.TransportCredentials { return h }

func tlsInfo(conn *tls.Conn) credentials.TLSInfo {
	return credentials.TLSInfo{
		State: conn.ConnectionState(), CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}
}
