package server

import (
	"crypto/tls"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// handshake passes the certificates of connections to handlers. TLS is terminated by the listeners, if at all, so that one server serves
// connections with and without TLS.
type handshake struct {
	credentials.TransportCredentials
}

func newHandshake() handshake { return handshake{insecure.NewCredentials()} }

// ServerHandshake completes the TLS handshake of a TLS connection.
func (h handshake) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return h.TransportCredentials.ServerHandshake(conn)
	}
	// gRPC has already set the connection's deadline.
	if err := secure.Handshake(); err != nil {
		return nil, nil, err
	}
	return conn, tlsInfo(secure), nil
}

// Clone returns the handshake itself because it has no state.
func (h handshake) Clone() credentials.TransportCredentials { return h }

func tlsInfo(conn *tls.Conn) credentials.TLSInfo {
	return credentials.TLSInfo{
		State: conn.ConnectionState(), CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity},
	}
}
