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

// A connection whose other side is silent is given up after pingInterval × (maxPings + 1). NATS' own defaults are two minutes.
const (
	pingInterval = 2 * time.Second
	maxPings     = 2
)

// retryConnect is how long Connect waits between two attempts, and reconnectWait is that of a connection that was lost.
const (
	retryConnect  = 250 * time.Millisecond
	reconnectWait = 250 * time.Millisecond
)

// Client says what to connect to: a server in this process, or servers at addresses.
type Client struct {
	// Name is how the connection is called in the servers' reports.
	Name string
	// Server is in this process; nil: use URLs.
	Server *Server
	// URLs are the servers, such as nats://10.0.0.1:4222.
	URLs []string
	// Secret is that of embedded servers; empty: none is sent.
	Secret string
	// CredsFile is a file with the credentials of a NATS user; empty: none.
	CredsFile string
	// TLS is required for servers that require it, as embedded ones do off loopback; nil: the servers' CA is one of the system.
	TLS *TLS
	// Logger takes losses and returns of the connection; nil: nothing is logged.
	Logger *slog.Logger
}

// Connect connects, and tries again until ctx ends. From then on the connection comes back by itself, however long that takes.
// What is published while it is away fails at once and is not sent later. The caller closes the connection.
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

// options are those of NATS.
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

// Secret is what the nodes of a cluster present to the NATS servers among them, made of the token of the cluster: whoever learns it does
// not learn the token.
func Secret(token string) string {
	sum := sha256.Sum256([]byte("domtap nats\x00" + token))
	return hex.EncodeToString(sum[:])
}
