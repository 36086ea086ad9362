// Package embedded runs a NATS server with JetStream inside the daemon, and connects to it or to another one.
//
// What the package guarantees:
//
//   - Start returns a server that accepts connections, or an error, before its context ends. Fatal errors of the server are returned as
//     errors: the process never exits, and the server's signal handlers are not installed.
//   - Every server requires the secret. A server that other machines can reach, by its client address or its routes, also requires mutual
//     TLS: Start refuses an address off loopback without TLS.
//   - Acknowledged messages are on disk (sync_always). Memory, disk and message size are bounded.
//   - Close returns when all goroutines of the server have ended.
//
// Callers provide a name that is unique in the cluster and stays the same across restarts, always use the same store directory with that
// name, and call Close. The name is the server's identity in its Raft groups: under another name it would be another member.
package embedded

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Defaults of Config.
const (
	defaultMemory = 1 << 30 // for the logs of tabs that other nodes follow
	defaultDisk   = 4 << 30
	defaultListen = "127.0.0.1:0"
)

// MaxPayload is the largest message in bytes, headers included. NATS discourages larger ones.
const MaxPayload = 8 << 20

// user is the user name with which clients and routes present the secret.
const user = "domtap"

// Config sets up a Server.
type Config struct {
	// Name is the server's name: letters, digits, `-` and `_`. It must be unique in the cluster and stable.
	Name string
	// Cluster is the name of the cluster. Only servers with the same name connect.
	Cluster string
	// StoreDir is JetStream's data directory. A directory that was used without routes must not be used with routes later, because
	// JetStream then drops its data.
	StoreDir string
	// Listen is the host and port for clients. If empty, a free port of 127.0.0.1 is used.
	Listen string
	// RouteListen is the host and port for the other servers. If empty, the server runs alone and keeps the only copy of all data.
	RouteListen string
	// Routes lists the route addresses of all servers of the cluster. It may include the server's own. Required with RouteListen.
	Routes []string
	// Secret is the secret that clients and other servers must present. Required.
	Secret string
	// TLS secures clients and routes. Required off loopback.
	TLS *TLS
	// MaxMemory and MaxDisk limit JetStream, in bytes. Zero means 1 GiB and 4 GiB.
	MaxMemory, MaxDisk int64
	// Logger receives the server's messages. If nil, nothing is logged.
	Logger *slog.Logger
}

// Server is a NATS server that runs in this process. Its methods are safe for concurrent use.
type Server struct {
	nats   *server.Server
	secret string
	close  sync.Once
}

// Start starts a server and returns when it accepts connections. If ctx ends first, or the server fails, Start stops it completely. Start
// does not wait for other servers: requests that need a majority fail until enough servers are connected.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	opts, err := cfg.options()
	if err != nil {
		return nil, fmt.Errorf("start NATS server %s: %w", cfg.Name, err)
	}
	inner, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("start NATS server %s: %w", cfg.Name, err)
	}
	s := &Server{nats: inner, secret: cfg.Secret}
	log := newLogger(cfg.Logger, cfg.Secret)
	inner.SetLoggerV2(log, false, false, false)
	started := make(chan struct{})
	go func() {
		defer close(started)
		inner.Start()
	}()
	err = s.await(ctx, log.fatal, started)
	if err != nil {
		<-started // Shutdown must not run concurrently with Start
		s.Close()
		return nil, fmt.Errorf("start NATS server %s: %w", cfg.Name, err)
	}
	return s, nil
}

// await waits until the server accepts connections and Start has returned, which includes JetStream's recovery.
func (s *Server) await(ctx context.Context, fatal <-chan error, started <-chan struct{}) error {
	select {
	case err := <-fatal:
		return err
	case <-ctx.Done():
		return fmt.Errorf("it was not ready in time: %w", context.Cause(ctx))
	case <-started:
	}
	select {
	case err := <-fatal: // it is reported before Start returns
		return err
	default:
	}
	const look = 50 * time.Millisecond
	for !s.nats.ReadyForConnections(look) {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("it does not listen: %w", context.Cause(ctx))
		}
	}
	return nil
}

// Close stops the server and waits for it. If other servers are available, streams that this server leads get another leader first. Further
// calls do nothing.
func (s *Server) Close() {
	s.close.Do(func() {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	})
}

// Address returns the host and port for clients.
func (s *Server) Address() string { return s.nats.Addr().String() }

// Routes returns the number of open connections to other servers, several per server.
func (s *Server) Routes() int { return s.nats.NumRoutes() }

// options returns the server's options.
func (cfg Config) options() (*server.Options, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	opts := &server.Options{
		ServerName: cfg.Name, JetStream: true, StoreDir: cfg.StoreDir, SyncAlways: true, NoSigs: true, MaxPayload: MaxPayload,
		JetStreamMaxMemory: cmp.Or(cfg.MaxMemory, defaultMemory), JetStreamMaxStore: cmp.Or(cfg.MaxDisk, defaultDisk),
		CustomClientAuthentication: secretCheck(cfg.Secret), CustomRouterAuthentication: secretCheck(cfg.Secret), DisableJetStreamBanner: true,
		// Both sides detect a vanished peer within seconds.
		PingInterval: pingInterval, MaxPingsOut: maxPings,
	}
	var err error
	if opts.Host, opts.Port, err = listenPort(cmp.Or(cfg.Listen, defaultListen)); err != nil {
		return nil, err
	}
	var secured *tls.Config
	if cfg.TLS != nil {
		if secured, err = cfg.TLS.load(); err != nil {
			return nil, err
		}
		opts.TLS, opts.TLSVerify, opts.TLSConfig, opts.TLSTimeout = true, true, secured, tlsTimeout
	}
	if cfg.RouteListen == "" {
		return opts, nil
	}
	return opts, cfg.addRoutes(opts, secured)
}

// addRoutes adds the connections to the other servers.
func (cfg Config) addRoutes(opts *server.Options, secured *tls.Config) (err error) {
	// The user and password make the server demand the secret from other servers.
	c := server.ClusterOpts{Name: cfg.Cluster, Username: user, Password: cfg.Secret, PingInterval: pingInterval, MaxPingsOut: maxPings}
	if c.Host, c.Port, err = listenPort(cfg.RouteListen); err != nil {
		return err
	}
	if secured != nil {
		c.TLSConfig, c.TLSTimeout = secured.Clone(), tlsTimeout
	}
	for _, route := range cfg.Routes {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: route, User: url.UserPassword(user, cfg.Secret)})
	}
	opts.Cluster = c
	return nil
}

// tlsTimeout limits a handshake, in seconds.
const tlsTimeout = 5

// secretCheck authenticates clients by the secret, in constant time.
type secretCheck string

// Check implements server.Authentication.
func (s secretCheck) Check(c server.ClientAuthentication) bool {
	want, got := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(c.GetOpts().Password))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// check rejects a configuration that would make the server exit or that is unsafe.
func (cfg Config) check() error {
	switch {
	case !validName(cfg.Name):
		return fmt.Errorf("invalid name %q: use letters, digits, - and _", cfg.Name)
	case cfg.Secret == "":
		return errors.New("the secret is missing: clients and servers of a cluster need it")
	case cfg.StoreDir == "":
		return errors.New("the directory for the data of JetStream is missing")
	case cfg.RouteListen != "" && len(cfg.Routes) == 0:
		return errors.New("the routes are missing: set the route addresses of all servers of the cluster")
	case cfg.RouteListen == "" && len(cfg.Routes) > 0:
		return errors.New("there are routes, but no address to listen on for the other servers")
	case cfg.RouteListen != "" && !validName(cfg.Cluster):
		return fmt.Errorf("invalid cluster name %q: use letters, digits, - and _", cfg.Cluster)
	}
	for _, address := range []string{cfg.Listen, cfg.RouteListen} {
		if address != "" && cfg.TLS == nil && !loopback(address) {
			return fmt.Errorf("%s is not loopback and TLS is not set up: set the certificate, its key, and the CA of the cluster", address)
		}
	}
	return nil
}

// validName reports whether a name can be a token of a NATS subject and a part of a file name.
func validName(name string) bool {
	return name != "" && strings.Trim(name, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// loopback reports whether an address is on the loopback interface. Of the host names, only localhost is accepted.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// listenPort splits an address for the server, which expects -1 for a free port.
func listenPort(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("%q is not a host and a port", address)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return host, port, nil
}
