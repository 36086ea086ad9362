package daemon

import (
	"strings"
	"testing"
)

// serverNode returns the configuration of a node that runs a NATS server, for a cluster on one machine.
func serverNode() Cluster {
	return Cluster{
		Name: "shop", Node: "n1", Listen: "127.0.0.1:7412", NATSListen: "127.0.0.1:7413", RouteListen: "127.0.0.1:7414",
		Routes: []string{"127.0.0.1:7414", "127.0.0.1:7415", "127.0.0.1:7416"}, StoreDir: "/nats", TokenFile: "/token",
	}
}

// clientNode returns the configuration of a node that connects to NATS servers.
func clientNode() Cluster {
	return Cluster{Name: "shop", Node: "n4", Listen: "127.0.0.1:7412", NATS: []string{"nats://127.0.0.1:7413"}, TokenFile: "/token"}
}

func TestSettingsOfAClusterAreChecked(t *testing.T) {
	secured := func(c Cluster) Cluster {
		c.CertFile, c.KeyFile, c.CAFile = "/cert", "/key", "/ca"
		return c
	}
	for what, c := range map[string]Cluster{
		"no cluster": {}, "a server": serverNode(), "a client": clientNode(),
		"a server alone":       {Name: "shop", Node: "n1", Listen: "localhost:0", StoreDir: "/nats", TokenFile: "/token"},
		"other machines":       secured(Cluster{Name: "shop", Node: "n1", Listen: "n1.example:7412", StoreDir: "/nats", TokenFile: "/token"}),
		"behind a translation": secured(Cluster{Name: "shop", Node: "n1", Listen: ":7412", Address: "n1.example:7412", StoreDir: "/nats", TokenFile: "/token"}),
	} {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, wrong := range []struct {
		flag   string
		change func(c *Cluster)
		of     Cluster
	}{
		{"--cluster must name", func(c *Cluster) { c.Name = "" }, serverNode()},
		{"--cluster \"my shop\"", func(c *Cluster) { c.Name = "my shop" }, serverNode()},
		{"--cluster-node", func(c *Cluster) { c.Node = "" }, serverNode()},
		{"--cluster-listen", func(c *Cluster) { c.Listen = "" }, serverNode()},
		{"--cluster-listen", func(c *Cluster) { c.Listen = ":7412" }, serverNode()},
		{"--cluster-listen", func(c *Cluster) { c.Listen = "0.0.0.0:7412" }, secured(serverNode())},
		{"--cluster-listen 10.0.0.1:7412 is not loopback", func(c *Cluster) { c.Listen = "10.0.0.1:7412" }, serverNode()},
		{"--cluster-listen n1.example:7412 is not loopback", func(c *Cluster) { c.Listen = "n1.example:7412" }, clientNode()},
		{"--cluster-address", func(c *Cluster) { c.Address = "0.0.0.0:7412" }, secured(serverNode())},
		{"--cluster-address n1.example:7412 is not loopback", func(c *Cluster) { c.Address = "n1.example:7412" }, serverNode()},
		{"--cluster-nats 0.0.0.0:7413 is not loopback", func(c *Cluster) { c.NATSListen = "0.0.0.0:7413" }, serverNode()},
		{"--cluster-route \"7414\"", func(c *Cluster) { c.RouteListen = "7414" }, serverNode()},
		{"--cluster-token-file", func(c *Cluster) { c.TokenFile = "" }, clientNode()},
		{"--cluster-store must", func(c *Cluster) { c.StoreDir = "" }, serverNode()},
		{"--cluster-store, ", func(c *Cluster) { c.StoreDir = "/nats" }, clientNode()},
		{"--nats is", func(c *Cluster) { c.Role, c.NATS = "server", []string{"nats://127.0.0.1"} }, serverNode()},
		{"--nats must", func(c *Cluster) { c.NATS, c.Role = nil, "client" }, clientNode()},
		{"--nats-creds", func(c *Cluster) { c.CredsFile = "/creds" }, serverNode()},
		{"--cluster-routes", func(c *Cluster) { c.Routes = nil }, serverNode()},
		{"--cluster-route must", func(c *Cluster) { c.RouteListen = "" }, serverNode()},
		{"--cluster-replicas", func(c *Cluster) { c.Replicas = 2 }, serverNode()},
		{"--cluster-tls-cert", func(c *Cluster) { c.CertFile = "/cert" }, serverNode()},
	} {
		c := wrong.of
		wrong.change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), wrong.flag) {
			t.Errorf("%+v: the error is %v, and should name %s", c, err, wrong.flag)
		}
	}
}

func TestADaemonIsReadyWhenAllOfItIs(t *testing.T) {
	var ready bool
	r := &readiness{tell: func(on bool) { ready = on }, member: true}
	for i, step := range []struct {
		part     *bool
		on, want bool
	}{{&r.browser, true, true}, {&r.member, false, false}, {&r.browser, false, false}, {&r.member, true, false}, {&r.browser, true, true}} {
		if r.set(step.part, func() bool { return step.on }); ready != step.want {
			t.Errorf("after step %d, ready is %v", i, ready)
		}
	}
}
