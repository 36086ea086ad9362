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

	"github.com/domtap/domtap/internal/server/listen"
)

// Options are the options of a connection.
type Options struct {
	// Token is the bearer token, which is sent over TCP only. Empty: the token in TokenFile.
	Token string
	// TokenFile is the file with the token. A missing file is not an error here: the daemon's refusal says
	// more.
	TokenFile string
	// TLSCA is a PEM file with the authority that signed the daemon's certificate. Empty: the authorities
	// of the system, and no TLS on loopback.
	TLSCA string
	// ClientCert and ClientKey are PEM files with the certificate that the client presents, and its key. Empty: none.
	ClientCert, ClientKey string
	// Agent is the name of the client.
	Agent string
	// ClientID names the client in calls that have no client_id; see listen.ClientKey. Empty: the connection does.
	ClientID string
}

// Dial makes a connection; it is established by the first call. The caller closes it.
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

// AwaitServing waits until the daemon serves, or ctx ends. It does not poll: gRPC connects when it can.
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

// unreached is the error for a daemon that does not serve.
func unreached(to Target, err error) error {
	message, hint := Words(status.Convert(err))
	if IsUnanswered(message) {
		return errorf(Unreachable, hint, "%s", message)
	}
	return errorf(Unreachable, cmp.Or(hint, "domtap doctor checks browser, socket and daemon"), "the daemon at %s does not answer: %s",
		to, cmp.Or(message, status.Convert(err).Message()))
}

// transport is TLS for every address that other machines can reach; the daemon requires it there.
func (o Options) transport(to Target) (credentials.TransportCredentials, error) {
	if to.Socket != "" || (to.isLoopback() && o.TLSCA == "") {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.ClientCert != "" || o.ClientKey != "" {
		cert, err := tls.LoadX509KeyPair(o.ClientCert, o.ClientKey)
		if err != nil {
			return nil, errorf(Misused, "give both --tls-client-cert and --tls-client-key", "load the certificate of the client: %w", err)
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
			return nil, errorf(Misused, "it must be a PEM file", "no certificate in %s", o.TLSCA)
		}
	}
	return credentials.NewTLS(config), nil
}

// token reads the bearer token; empty: there is none.
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

// bearer sends a token along with every call.
type bearer string

// GetRequestMetadata is called by grpc for every call.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity is false because the token may be sent over loopback; transport ensures TLS
// everywhere else.
func (b bearer) RequireTransportSecurity() bool { return false }

// clientID names the client of every call. It is no secret.
type clientID string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (c clientID) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{listen.ClientKey: string(c)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (clientID) RequireTransportSecurity() bool { return false }

// WithClientID returns a context whose calls name their client, unless their requests do.
func WithClientID(ctx context.Context, id string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, listen.ClientKey, id)
}
