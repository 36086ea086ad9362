package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/domtap/domtap/actor/tabpool"
	"github.com/domtap/domtap/internal/server"
	"github.com/domtap/domtap/internal/sessions"
	"github.com/domtap/domtap/internal/telemetry/metrics"
)

// Cluster configures the daemon as a node of a cluster. The zero value means no cluster. Only a program built with the tag cluster can be a
// node.
type Cluster struct {
	// Name is the name of the cluster.
	Name string
	// Role is "server" for a node that runs a NATS server, or "client". If empty, the role is client if NATS is set, and server otherwise.
	Role string
	// Node is the name of the daemon in the cluster. It stays the same across restarts.
	Node string
	// Listen is the address on which the node accepts calls from other nodes. Address is the address that they call; if empty, Listen.
	// Other nodes must be able to reach its host.
	Listen, Address string
	// NATSListen is the address for NATS clients, and RouteListen the address for other NATS servers, whose addresses are in Routes.
	// Without RouteListen, the server does not join other servers.
	NATSListen, RouteListen string
	Routes                  []string
	// StoreDir is the data directory of the NATS server.
	StoreDir string
	// TokenFile contains the token of the cluster, which is the same on all nodes.
	TokenFile string
	// CertFile, KeyFile and CAFile configure mutual TLS between nodes. If empty, all nodes must be on one machine.
	CertFile, KeyFile, CAFile string
	// NATS lists the addresses of NATS servers, for a client. CredsFile contains credentials for them. If CredsFile is empty, the servers
	// are nodes of the cluster.
	NATS      []string
	CredsFile string
	// Replicas is the number of servers that store the cluster's data. Zero means 3, or 1 if there are fewer servers.
	Replicas int
}

// The roles of a node.
const (
	clusterServer = "server"
	clusterClient = "client"
)

// role returns the role of the node.
func (c Cluster) role() string {
	switch {
	case c.Role != "":
		return c.Role
	case len(c.NATS) > 0:
		return clusterClient
	}
	return clusterServer
}

// Check returns an error that names the flag of a missing or unsafe setting.
func (c Cluster) Check() error {
	if c.Name == "" {
		return c.checkNone()
	}
	server := c.role() == clusterServer
	for _, wrong := range []struct {
		is   bool
		what string
	}{
		{!validName(c.Name), fmt.Sprintf("--cluster %q is not 1 to 32 letters, digits, - and _", c.Name)},
		{!validName(c.Node), "--cluster-node must name this node, with 1 to 32 letters, digits, - and _"},
		{c.Listen == "", "--cluster-listen must say where other nodes reach this one, such as 10.0.0.1:7412"},
		{c.TokenFile == "", "--cluster-token-file must name the file with the token of the cluster, the same on all nodes"},
		{server && c.StoreDir == "", "--cluster-store must name a directory for the data of the cluster"},
		{server && len(c.NATS) > 0, "--nats is for --cluster-role client: a server runs NATS itself"},
		{server && c.RouteListen != "" && len(c.Routes) == 0, "--cluster-routes must list the --cluster-route of all servers"},
		{server && c.RouteListen == "" && len(c.Routes) > 0, "--cluster-route must say where the other servers reach this one"},
		{!server && len(c.NATS) == 0, "--nats must name the servers: the --cluster-nats of the nodes that are servers, or those of an existing NATS"},
		{!server && c.StoreDir+c.NATSListen+c.RouteListen != "", "--cluster-store, --cluster-nats and --cluster-route are for --cluster-role server"},
		{c.CredsFile != "" && server, "--nats-creds is for --cluster-role client"},
		{c.Replicas != 0 && c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5, "--cluster-replicas must be 1, 3 or 5"},
		{c.someTLS() && !c.allTLS(), "--cluster-tls-cert, --cluster-tls-key and --cluster-tls-ca belong together"},
	} {
		if wrong.is {
			return errors.New(wrong.what)
		}
	}
	return c.checkAddresses()
}

// checkNone returns an error if other settings are set although the cluster has no name.
func (c Cluster) checkNone() error {
	if c.Node+c.Listen+c.Address+c.NATSListen+c.RouteListen+c.StoreDir+c.TokenFile+c.CertFile+c.KeyFile+c.CAFile+c.CredsFile != "" || len(c.NATS)+len(c.Routes) > 0 {
		return errors.New("--cluster must name the cluster that the other settings are of")
	}
	return nil
}

// checkAddresses returns an error for addresses that other nodes cannot reach, or that are unsafe without TLS.
func (c Cluster) checkAddresses() error {
	for _, at := range []struct{ flag, address string }{{"cluster-listen", c.Listen}, {"cluster-address", c.Address}, {"cluster-nats", c.NATSListen}, {"cluster-route", c.RouteListen}} {
		if at.address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(at.address)
		if err != nil {
			return fmt.Errorf("--%s %q is not HOST:PORT", at.flag, at.address)
		}
		ip, err := netip.ParseAddr(host)
		switch {
		case (at.flag == "cluster-address" || at.flag == "cluster-listen" && c.Address == "") && (host == "" || err == nil && ip.IsUnspecified()):
			return fmt.Errorf("--%s %q does not say where other nodes reach this one: name the host", at.flag, at.address)
		case host != "localhost" && (err != nil || !ip.IsLoopback()) && !c.allTLS():
			return fmt.Errorf("--%s %s is not loopback: give --cluster-tls-cert, --cluster-tls-key and --cluster-tls-ca, because other machines could read the traffic", at.flag, at.address)
		}
	}
	return nil
}

func (c Cluster) someTLS() bool { return c.CertFile+c.KeyFile+c.CAFile != "" }
func (c Cluster) allTLS() bool  { return c.CertFile != "" && c.KeyFile != "" && c.CAFile != "" }

// validName reports whether name is valid for a cluster or a node.
func validName(name string) bool {
	return name != "" && len(name) <= 32 && strings.Trim(name, "-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}

// Paths returns pointers to the settings that hold paths.
func (c *Cluster) Paths() []*string {
	return []*string{&c.StoreDir, &c.TokenFile, &c.CredsFile, &c.CertFile, &c.KeyFile, &c.CAFile}
}

// clusterNode connects the daemon to its cluster. Its methods are called in the order of their declaration.
type clusterNode interface {
	// prepare sets the cluster's options in the configuration of the tabs and the sessions.
	prepare(tabs *tabpool.Config, all *sessions.Config)
	// join joins the cluster with the tabs and sessions, and sets the handlers that forward calls to other nodes.
	join(ctx context.Context, s *services, calls *server.Config) error
	// measure adds the node's figures to the metrics.
	measure(*metrics.Metrics)
	// start accepts calls from other nodes once the server serves.
	start(s *services) error
	// drainBeforeStop returns a context that ends after ctx, when as many sessions as possible have moved to other nodes. The caller calls
	// stop after the server has stopped.
	drainBeforeStop(ctx context.Context, s *services) (until context.Context, stop func())
	// close leaves the cluster.
	close()
}

// standalone is the clusterNode of a daemon without a cluster.
type standalone struct{}

func (standalone) prepare(*tabpool.Config, *sessions.Config)             {}
func (standalone) join(context.Context, *services, *server.Config) error { return nil }
func (standalone) measure(*metrics.Metrics)                              {}
func (standalone) start(*services) error                                 { return nil }
func (standalone) close()                                                {}
func (standalone) drainBeforeStop(ctx context.Context, _ *services) (context.Context, func()) {
	return ctx, func() {}
}

// cluster connects to the cluster, if one is configured.
func (cfg Config) cluster(ctx context.Context) (clusterNode, error) {
	if cfg.Cluster.Name == "" {
		return standalone{}, nil
	}
	return openCluster(ctx, cfg)
}
