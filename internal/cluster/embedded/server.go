// Package embedded runs a NATS server with JetStream inside the daemon, and connects to it or to another one.
//
// What the package guarantees:
//
//   - Start returns a server that accepts connections, or an error, before its context ends. What is fatal for the server
//     is an error here: the process never exits, and the server's signal handlers are not installed.
//   - A server that others can reach, by its client address or its routes, requires mutual TLS; every server requires the
//     secret. Start refuses an address that is not loopback without TLS.
//   - Messages that are acknowledged are on disk (sync_always), and memory, disk and message size are bounded.
//   - Close returns when no goroutine of the server is left.
//
// Callers owe a name that is unique in the cluster and stays the same over restarts, a store directory that is kept with it,
// and Close. The identity of the server in its Raft groups comes from the name: under another name, it would be another member.
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

// The defaults of Config.
const (
	defaultMemory = 1 << 30 // the logs of tabs that others follow
	defaultDisk   = 4 << 30
	defaultListen = "127.0.0.1:0"
)

// MaxPayload is the largest message in bytes, headers included. NATS discourages larger ones.
const MaxPayload = 8 << 20

// user is the name under which clients and routes present the secret.
const user = "domtap"

// Config sets up a Server.
type Config struct {
	// Name is the server's, unique in the cluster and stable: letters, digits, `-` and `_`.
	Name string
	// Cluster is the name of the cluster. Only servers with the same name connect.
	Cluster string
	// StoreDir is where JetStream keeps its data. A directory that was used without routes must not be used with routes
	// later: JetStream drops what it holds.
	StoreDir string
	// Listen is the host and port for clients; empty: a free port of 127.0.0.1.
	Listen string
	// RouteListen is the host and port for the other servers; empty: the server stands alone, and keeps one copy of all data.
	RouteListen string
	// Routes are the route addresses of all servers of the cluster; its own may be among them. Required with RouteListen.
	Routes []string
	// Secret is what clients and other servers present. Required.
	Secret string
	// TLS is used for clients and routes. Required off loopback.
	TLS *TLS
	// MaxMemory and MaxDisk bound JetStream, in bytes; 0: 256 MiB and 4 GiB.
	MaxMemory, MaxDisk int64
	// Logger takes what the server reports; nil: nothing is logged.
	Logger *slog.Logger
}

// Server is a NATS server that runs in this process. Its methods are safe for concurrent use.
type Server struct {
	nats   *server.Server
	secret string
	close  sync.Once
}

// Start starts a server and returns when it accepts connections. When ctx ends first, or the server reports that it cannot go
// on, nothing is left of it. Start does not wait for other servers: what needs a majority of them fails until they are there.
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
		<-started // Shutdown must not run beside Start
		s.Close()
		return nil, fmt.Errorf("start NATS server %s: %w", cfg.Name, err)
	}
	return s, nil
}

// await waits until the server accepts connections, and Start is over, which includes the recovery of JetStream.
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

// Close stops the server and returns when it is gone. Streams that the server led get another leader first, as far as there
// is one. Calling it again does nothing.
func (s *Server) Close() {
	s.close.Do(func() {
		s.nats.Shutdown()
		s.nats.WaitForShutdown()
	})
}

// Address is the host and port for clients.
func (s *Server) Address() string { return s.nats.Addr().String() }

// Routes is how many connections to other servers are open; there are several for each.
func (s *Server) Routes() int { return s.nats.NumRoutes() }

// options are the server's, from the configuration.
func (cfg Config) options() (*server.Options, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	opts := &server.Options{
		ServerName: cfg.Name, JetStream: true, StoreDir: cfg.StoreDir, SyncAlways: true, NoSigs: true, MaxPayload: MaxPayload,
		JetStreamMaxMemory: cmp.Or(cfg.MaxMemory, defaultMemory), JetStreamMaxStore: cmp.Or(cfg.MaxDisk, defaultDisk),
		CustomClientAuthentication: secretCheck(cfg.Secret), CustomRouterAuthentication: secretCheck(cfg.Secret), DisableJetStreamBanner: true,
		// A client that is gone without a word is noticed by both sides within seconds.
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
	// With these, the server says to others that they have to present the secret.
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

// tlsTimeout is how long a handshake may take, in seconds.
const tlsTimeout = 5

// secretCheck lets in whoever presents the secret. The time that it takes does not depend on how much of a guess is right.
type secretCheck string

// Check implements server.Authentication.
func (s secretCheck) Check(c server.ClientAuthentication) bool {
	want, got := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(c.GetOpts().Password))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// check finds what the server itself would find fatal, or would accept although it is unsafe.
func (cfg Config) check() error {
	switch {
	case !validName(cfg.Name):
		return fmt.Errorf("the name %q is not letters, digits, - and _", cfg.Name)
	case cfg.Secret == "":
		return errors.New("there is no secret: clients and servers of a cluster present one")
	case cfg.StoreDir == "":
		return errors.New("there is no directory for the data of JetStream")
	case cfg.RouteListen != "" && len(cfg.Routes) == 0:
		return errors.New("there are no routes: give the route addresses of all servers of the cluster")
	case cfg.RouteListen == "" && len(cfg.Routes) > 0:
		return errors.New("there are routes, but no address to listen on for the other servers")
	case cfg.RouteListen != "" && !validName(cfg.Cluster):
		return fmt.Errorf("the name of the cluster %q is not letters, digits, - and _", cfg.Cluster)
	}
	for _, address := range []string{cfg.Listen, cfg.RouteListen} {
		if address != "" && cfg.TLS == nil && !loopback(address) {
			return fmt.Errorf("%s is not loopback, and there is no TLS: give the certificate, its key, and the CA of the cluster", address)
		}
	}
	return nil
}

// validName reports whether a name can be one token of a NATS subject and of a file.
func validName(name string) bool {
	return name != "" && strings.Trim(name, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// loopback reports whether an address can only be one of this machine. Names other than localhost may be anything.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// listenPort splits an address as the server wants it: for a free port, it wants -1.
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
