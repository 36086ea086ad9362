//go:build cluster

package servecmd

import (
	"github.com/spf13/cobra"

	"github.com/domtap/domtap/cmd/domtap/internal/cli"
)

// registerCluster defines the flags of the cluster.
func (s *Flags) registerCluster(cmd *cobra.Command) {
	f, c := cmd.Flags(), &s.Cluster
	f.StringVar(&c.Name, "cluster", "", "join the cluster with this name; empty means no cluster")
	cli.ChoiceFlag(cmd, &s.clusterRole, "cluster-role", "", "server runs a NATS server of the cluster in the daemon, client connects to --nats (default: client with --nats, otherwise server)", "", "server", "client")
	f.StringVar(&c.Node, "cluster-node", "", "the name of this node, unique in the cluster and the same across restarts")
	f.StringVar(&c.Listen, "cluster-listen", "", "the address at which other nodes call this node, such as 10.0.0.1:7412; they must be able to reach the host")
	f.StringVar(&c.Address, "cluster-address", "", "the address at which other nodes call this node, if it differs from --cluster-listen, such as behind NAT")
	f.StringVar(&c.NATSListen, "cluster-nats", "", "the address at which a server accepts NATS connections from client nodes (default: a free port on loopback)")
	f.StringVar(&c.RouteListen, "cluster-route", "", "the address at which a server accepts NATS connections from other servers; empty means a single server")
	f.StringSliceVar(&c.Routes, "cluster-routes", nil, "the --cluster-route of all servers, separated by commas; the server's own may be included")
	f.StringVar(&c.StoreDir, "cluster-store", "", "the directory in which a server stores the data of the cluster")
	f.StringVar(&c.TokenFile, "cluster-token-file", "", "the file with the token of the cluster, the same on all nodes (domtap token new)")
	f.StringVar(&c.CertFile, "cluster-tls-cert", "", "a PEM file with the certificate of this node, as a server and as a client; required unless all addresses are loopback")
	f.StringVar(&c.KeyFile, "cluster-tls-key", "", "a PEM file with the key of --cluster-tls-cert")
	f.StringVar(&c.CAFile, "cluster-tls-ca", "", "a PEM file with the authority that signed the certificates of all nodes and of nothing else")
	f.IntVar(&c.Replicas, "cluster-replicas", 0, "number of NATS servers that store the data of a new cluster, 1, 3 or 5 (default: 3, or 1 if fewer servers are named)")
	f.StringSliceVar(&c.NATS, "nats", nil, "the NATS servers of a client, separated by commas: nats://HOST:PORT of the server nodes, or an existing NATS with JetStream")
	f.StringVar(&c.CredsFile, "nats-creds", "", "a file with the credentials for an existing NATS")
	cli.BindEnv(f, "cluster", "cluster-role", "cluster-node", "cluster-listen", "cluster-address", "cluster-nats", "cluster-route", "cluster-routes", "cluster-store",
		"cluster-token-file", "cluster-tls-cert", "cluster-tls-key", "cluster-tls-ca", "cluster-replicas", "nats", "nats-creds")
}
