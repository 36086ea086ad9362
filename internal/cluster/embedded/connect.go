package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/domtap/domtap/internal/retry"
)

// A connection to a silent peer is closed after pingInterval × (maxPings + 1). By default NATS takes two minutes.
const (
	pingInterval = 2 * time.Second
	maxPings     = 2
)

// retryConnect is the delay between attempts of Connect, and reconnectWait the delay between attempts to restore a lost connection.
const (
	retryConnect  = 250 * time.Millisecond
	reconnectWait = 250 * time.Millisecond
)

// Client identifies the servers to connect to: a server in this process, or servers at addresses.
type Client struct {
	// Name is the name of the connection in the servers' reports.
	Name string
	// Server is a server in this process. If nil, URLs are used.
	Server *Server
	// URLs are the servers, such as nats://10.0.0.1:4222.
	URLs []string
	// Secret is the secret of embedded servers. If empty, none is sent.
	Secret string
	// CredsFile names a file with the credentials of a NATS user. It may be empty.
	CredsFile string
	// TLS is needed for servers that require client certificates, as embedded servers off loopback do. If nil, the system's CAs verify the
	// servers.
	TLS *TLS
	// Logger receives disconnects and reconnects. If nil, nothing is logged.
	Logger *slog.Logger
}

// Connect connects and retries until ctx ends. A lost connection is later restored automatically, without a time limit. Publishing while
// disconnected fails immediately; nothing is buffered. The caller closes the connection.
func Connect(ctx context.Context, c Client) (*nats.Conn, error) {
	options, err := c.options()
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	conn, err := retry.Until(ctx, retryConnect, options.Connect)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	return conn, nil
}

// options returns the NATS options.
func (c Client) options() (nats.Options, error) {
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	o := nats.GetDefaultOptions()
	set := []nats.Option{
		nats.Name(c.Name), nats.Timeout(2 * time.Second), nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPings),
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait), nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { log.Warn("the connection to NATS is lost", "error", err) }),
		nats.ReconnectHandler(func(conn *nats.Conn) { log.Info("connected to NATS again", "server", conn.ConnectedServerName()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS reports an error", "error", err) }),
	}
	if c.CredsFile != "" {
		set = append(set, nats.UserCredentials(c.CredsFile))
	}
	if c.Secret != "" {
		set = append(set, nats.UserInfo(user, c.Secret))
	}
	switch {
	case c.Server != nil:
		set = append(set, nats.InProcessServer(c.Server.nats))
		if c.Secret == "" {
			set = append(set, nats.UserInfo(user, c.Server.secret))
		}
	case len(c.URLs) == 0:
		return o, errors.New("there is no server to connect to")
	case c.TLS != nil:
		secured, err := c.TLS.load()
		if err != nil {
			return o, err
		}
		set = append(set, nats.Secure(secured))
	}
	o.Servers = c.URLs
	for _, option := range set {
		if err := option(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// Secret derives the secret that nodes present to NATS servers from the cluster's token. The token cannot be recovered from the secret.
func Secret(token string) string {
	sum := sha256.Sum256([]byte("domtap nats\x00" + token))
	return hex.EncodeToString(sum[:])
}
