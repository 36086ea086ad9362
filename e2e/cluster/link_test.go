//go:build cluster

package cluster

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domtap/domtap/internal/cluster/natstest"
	"github.com/domtap/domtap/internal/testenv"
)

// linked is a cluster of three daemons, each with a NATS server, and links between them.
type linked struct {
	*stage
	// nats contains the addresses of the NATS servers.
	nats []string
	// routes maps pairs of NATS servers, by number, to the links between them. calls contains the links over which each node is called.
	routes map[[2]int]*testenv.Link
	calls  []*testenv.Link
}

// newLinked starts a cluster that uses a site with the given pages.
func newLinked(t *testing.T, pages map[string]http.HandlerFunc) *linked {
	t.Helper()
	st := &linked{stage: newStageOf(t), routes: map[[2]int]*testenv.Link{}}
	st.url = testenv.Pages(t, pages)
	at, routes := natstest.Free(t, 9), make([]string, 3)
	st.nats = at[3:6]
	for i := range routes {
		// Servers announce their addresses to each other: the source address of a connection, 127.0.0.1, and the server's port. Nothing
		// listens there, so all connections go through the links.
		routes[i] = freeAt(t, fmt.Sprintf("127.0.0.%d", 2+i))
	}
	for to := range 3 {
		st.calls = append(st.calls, testenv.NewLink(t, at[to]))
		for from := range 3 {
			if from != to {
				st.routes[[2]int{from, to}] = testenv.NewLink(t, routes[to])
			}
		}
	}
	for i := range 3 {
		reached := slices.Clone(routes)
		for to := range reached {
			if l := st.routes[[2]int{i, to}]; l != nil {
				reached[to] = l.Address()
			}
		}
		st.start(st.program, fmt.Sprintf("n%d", i+1), at[6+i], "--cluster", "shop", "--cluster-token-file", st.clusterToken,
			"--cluster-listen", at[i], "--cluster-address", st.calls[i].Address(), "--cluster-nats", at[3+i],
			"--cluster-route", routes[i], "--cluster-routes", strings.Join(reached, ","), "--cluster-store", filepath.Join(t.TempDir(), "nats"))
	}
	for _, n := range st.nodes {
		n.ready()
	}
	return st
}

// freeAt returns an unused address of a host.
func freeAt(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Skipf("the system has one address of loopback only: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}
