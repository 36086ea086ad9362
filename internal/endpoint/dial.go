package endpoint

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/domtap/domtap/internal/server/rpc/listen"
)

// Options are the options of a connection.
type Options struct {
	// Token is the bearer token, which is sent only over TCP. If empty, the token is read from TokenFile.
	Token string
	// TokenFile is the file with the token. A missing file is not an error here, because the daemon's refusal is more informative.
	TokenFile string
	// TLSCA is a PEM file with the certificate authority that signed the daemon's certificate. If empty, the system's authorities are used,
	// and connections on loopback do not use TLS.
	TLSCA string
	// ClientCert and ClientKey are PEM files with the client's certificate and its key. If empty, the client presents no certificate.
	ClientCert, ClientKey string
	// Agent is the name of the client.
	Agent string
	// ClientID identifies the client in calls without a client_id; see listen.ClientKey. If empty, the connection identifies the client.
	ClientID string
}

// Dial creates a connection. The first call establishes it. The caller must close it.
func Dial(to Target, o Options) (*grpc.ClientConn, error) {
	secure, err := o.transport(to)
	if err != nil {
		return nil, err
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(secure),
		grpc.WithUserAgent(o.Agent),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(listen.MaxMessage)),
		grpc.WithStaticStreamWindowSize(listen.StreamWindow),
		grpc.WithStaticConnWindowSize(listen.ConnectionWindow),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: 5 * time.Second,
		}),
	}
	if o.ClientID != "" {
		options = append(options, grpc.WithPerRPCCredentials(clientID(o.ClientID)))
	}
	if to.Socket == "" {
		token, err := o.token()
		if err != nil {
			return nil, err
		}
		if token != "" {
			options = append(options, grpc.WithPerRPCCredentials(bearer(token)))
		}
	}
	if addresses := to.addresses(); to.Socket == "" && len(addresses) > 1 {
		options = append(options, newNodes(addresses).options()...)
	}
	conn, err := grpc.NewClient(to.name(), options...)
	if err != nil {
		return nil, fmt.Errorf("connect to the daemon at %s: %w", to, err)
	}
	return conn, nil
}

// AwaitServing waits until the daemon is serving or ctx ends. It does not poll; gRPC connects as soon as possible.
func AwaitServing(ctx context.Context, to Target, o Options) error {
	conn, err := Dial(to, o)
	if err != nil {
		return err
	}
	_, err = healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil {
		err = unreached(to, err)
	}
	return errors.Join(err, conn.Close())
}

// unreached returns the error for a daemon that is not serving.
func unreached(to Target, err error) error {
	message, hint := Words(status.Convert(err))
	if IsUnanswered(message) {
		return errorf(Unreachable, hint, "%s", message)
	}
	return errorf(Unreachable, cmp.Or(hint, "run domtap doctor to check the browser, socket and daemon"), "the daemon at %s does not answer: %s",
		to, cmp.Or(message, status.Convert(err).Message()))
}

// transport returns TLS credentials for every address that other machines can reach, because the daemon requires TLS there.
func (o Options) transport(to Target) (credentials.TransportCredentials, error) {
	if to.Socket != "" || (to.isLoopback() && o.TLSCA == "") {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.ClientCert != "" || o.ClientKey != "" {
		cert, err := tls.LoadX509KeyPair(o.ClientCert, o.ClientKey)
		if err != nil {
			return nil, errorf(Misused, "pass both --tls-client-cert and --tls-client-key", "load the certificate of the client: %w", err)
		}
		config.Certificates = []tls.Certificate{cert}
	}
	if o.TLSCA != "" {
		pem, err := os.ReadFile(o.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("read --tls-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errorf(Misused, "name a PEM file with --tls-ca", "no certificate in %s", o.TLSCA)
		}
	}
	return credentials.NewTLS(config), nil
}

// token returns the bearer token, or an empty string if there is none.
func (o Options) token() (string, error) {
	if o.Token != "" {
		return o.Token, nil
	}
	token, err := listen.ReadToken(o.TokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", errorf(Denied, "", "%w", err)
	}
	return token, nil
}

// bearer adds a token to every call.
type bearer string

// GetRequestMetadata is called by grpc for every call.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity returns false because the token may be sent over loopback. transport ensures TLS for all other addresses.
func (b bearer) RequireTransportSecurity() bool { return false }

// clientID adds the name of the client to every call. It is not secret.
type clientID string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (c clientID) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{listen.ClientKey: string(c)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (clientID) RequireTransportSecurity() bool { return false }

// WithClientID returns a context that identifies the client in calls whose requests do not.
func WithClientID(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, listen.ClientKey, id)
}
