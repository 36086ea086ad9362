//go:build cluster

package servecmd

import (
	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
)

// registerCluster defines the flags of the cluster.
func (s *Flags) registerCluster(cmd *cobra.Command) {
	f, c := cmd.Flags(), &s.Cluster
	f.StringVar(&c.Name, "cluster", "", "be a node of the cluster of this name; empty: none")
	cli.ChoiceFlag(cmd, &s.clusterRole, "cluster-role", "", "server runs a NATS server of the cluster in the daemon, client connects to --nats (default: client with --nats, else server)", "", "server", "client")
	f.StringVar(&c.Node, "cluster-node", "", "the name of this node, which is its own in the cluster and stays the same over restarts")
	f.StringVar(&c.Listen, "cluster-listen", "", "where other nodes call this one, such as 10.0.0.1:7412: a host that they can reach")
	f.StringVar(&c.Address, "cluster-address", "", "where other nodes call this one, when that is not --cluster-listen, as behind an address translation")
	f.StringVar(&c.NATSListen, "cluster-nats", "", "where a server takes the NATS connections of nodes that are clients (default: a free port on loopback)")
	f.StringVar(&c.RouteListen, "cluster-route", "", "where a server takes the NATS connections of the other servers; empty: the server stands alone")
	f.StringSliceVar(&c.Routes, "cluster-routes", nil, "the --cluster-route of all servers, separated by commas; its own may be among them")
	f.StringVar(&c.StoreDir, "cluster-store", "", "the directory in which a server keeps the data of the cluster")
	f.StringVar(&c.TokenFile, "cluster-token-file", "", "the file with the token of the cluster, the same on all nodes (domtap token new)")
	f.StringVar(&c.CertFile, "cluster-tls-cert", "", "a PEM file with the certificate of this node, for servers and clients; required off loopback")
	f.StringVar(&c.KeyFile, "cluster-tls-key", "", "a PEM file with the key of --cluster-tls-cert")
	f.StringVar(&c.CAFile, "cluster-tls-ca", "", "a PEM file with the authority that signed the certificates of all nodes, and signs no others")
	f.IntVar(&c.Replicas, "cluster-replicas", 0, "how many NATS servers keep the data of a new cluster: 1, 3 or 5 (default: 3, or 1 where fewer servers are named)")
	f.StringSliceVar(&c.NATS, "nats", nil, "the NATS servers for a client, separated by commas: nats://HOST:PORT of the nodes that are servers, or an existing NATS with JetStream")
	f.StringVar(&c.CredsFile, "nats-creds", "", "a file with the credentials for an existing NATS")
	cli.BindEnv(f, "cluster", "cluster-role", "cluster-node", "cluster-listen", "cluster-address", "cluster-nats", "cluster-route", "cluster-routes", "cluster-store",
		"cluster-token-file", "cluster-tls-cert", "cluster-tls-key", "cluster-tls-ca", "cluster-replicas", "nats", "nats-creds")
}
