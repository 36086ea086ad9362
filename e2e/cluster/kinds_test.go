//go:build cluster

package cluster

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/domtap/domtap/internal/testenv"
)

// kind is a kind of fault.
type kind struct {
	name string
	// inject injects the fault into a node of its choice.
	inject func(c *campaign) *injected
}

// injected is a fault in progress.
type injected struct {
	what string
	// lasts is the time until heal is called.
	lasts time.Duration
	heal  func()
	// fenced is the node that must detect that it was cut off, or nil. mark is the position in its log at the start of the fault.
	fenced *node
	mark   int
}

const (
	// longCut is longer than a lease, so that sessions are taken over. shortCut is shorter than a lease.
	longCut, shortCut = 22 * time.Second, 5 * time.Second
	// stopFor is how long a process is stopped. It is long enough for other nodes to take over the sessions.
	stopFor = 21 * time.Second
)

// kinds lists all kinds of faults.
var kinds = []kind{
	{"`kill -9` of a tab's node", func(c *campaign) *injected { return c.kill(c.owner()) }},
	{"`kill -9` of a client's node", func(c *campaign) *injected { return c.kill(c.gateway()) }},
	{"`kill -9` of the node that leads the NATS stream of leases", func(c *campaign) *injected { return c.kill(c.leader("KV_domtap_nodes")) }},
	{"`kill -9` of the node that leads the NATS stream of the log", func(c *campaign) *injected { return c.kill(c.leader("domtap_log")) }},
	{"`kill -9` of a browser", func(c *campaign) *injected { return c.killBrowser(c.owner(), false) }},
	{"`kill -9` of a renderer", func(c *campaign) *injected { return c.killBrowser(c.owner(), true) }},
	{"SIGTERM to a node", (*campaign).drain},
	{"SIGSTOP of a node for 21 s", (*campaign).stop},
	{"routes of a node cut for 22 s", func(c *campaign) *injected { return c.part(c.owner(), testenv.LinkState{Cut: true}, longCut) }},
	{"routes of a node cut for 5 s", func(c *campaign) *injected { return c.part(c.owner(), testenv.LinkState{Cut: true}, shortCut) }},
	{"routes of a node swallow all for 22 s", func(c *campaign) *injected { return c.part(c.owner(), testenv.LinkState{Stopped: true}, longCut) }},
	{"calls to a node cut for 5 s", func(c *campaign) *injected { return c.separate(c.owner(), testenv.LinkState{Cut: true}) }},
	{"calls to a node swallowed for 5 s", func(c *campaign) *injected { return c.separate(c.owner(), testenv.LinkState{Stopped: true}) }},
	{"all links of a node 100 ms slower, for 10 s", (*campaign).slow},
}

// owner returns the node of a random tab with restore.
func (c *campaign) owner() *node {
	var with []*user
	for _, u := range c.users {
		if u.restore {
			with = append(with, u)
		}
	}
	return c.st.home(c.st.nodes[0], with[c.random.IntN(len(with))].session)
}

// gateway returns a random node, which clients call.
func (c *campaign) gateway() *node { return c.st.nodes[c.random.IntN(len(c.st.nodes))] }

// leader returns the node that leads a NATS stream.
func (c *campaign) leader(stream string) *node {
	name := ""
	testenv.Await(c.st.t, "the stream "+stream+" has a leader", func() bool {
		info, err := c.info(stream)
		if err == nil && info.Cluster != nil {
			name = info.Cluster.Leader
		}
		return name != ""
	})
	i := slices.IndexFunc(c.st.nodes, func(n *node) bool { return n.id == name })
	return c.st.nodes[i]
}

// kill kills a node. The node is started again only when its sessions are restored, so that they must move to other nodes.
func (c *campaign) kill(n *node) *injected {
	n.signal(syscall.SIGKILL)
	n.await()
	return &injected{what: n.id, heal: func() { c.dead = append(c.dead, n) }}
}

// drain stops a node as an operator does.
func (c *campaign) drain() *injected {
	n := c.owner()
	n.signal(syscall.SIGTERM)
	return &injected{what: n.id, heal: func() {
		n.await()
		c.dead = append(c.dead, n)
	}}
}

// stop stops the process of a node, but not its browser. When the process continues, it must not act on sessions that other nodes have
// taken over.
func (c *campaign) stop() *injected {
	n := c.owner()
	mark := n.mark()
	n.signal(syscall.SIGSTOP)
	return &injected{what: n.id, lasts: stopFor, fenced: n, mark: mark, heal: func() { n.signal(syscall.SIGCONT) }}
}

// part changes the links between a node's NATS server and the other NATS servers.
func (c *campaign) part(n *node, state testenv.LinkState, lasts time.Duration) *injected {
	mark := n.mark()
	c.routes(n, state)
	i := &injected{what: n.id, lasts: lasts, heal: func() { c.routes(n, testenv.LinkState{}) }}
	if lasts > 15*time.Second {
		i.fenced, i.mark = n, mark
	}
	return i
}

func (c *campaign) routes(n *node, state testenv.LinkState) {
	at := slices.Index(c.st.nodes, n)
	for between, l := range c.st.routes {
		if between[0] == at || between[1] == at {
			l.Set(state)
		}
	}
}

// separate changes the link over which other nodes call a node.
func (c *campaign) separate(n *node, state testenv.LinkState) *injected {
	l := c.st.calls[slices.Index(c.st.nodes, n)]
	l.Set(state)
	return &injected{what: n.id, lasts: shortCut, heal: func() { l.Set(testenv.LinkState{}) }}
}

// slow makes all links of a node slow.
func (c *campaign) slow() *injected {
	n := c.owner()
	set := func(state testenv.LinkState) {
		c.routes(n, state)
		c.st.calls[slices.Index(c.st.nodes, n)].Set(state)
	}
	set(testenv.LinkState{Delay: 100 * time.Millisecond})
	return &injected{what: n.id, lasts: 10 * time.Second, heal: func() { set(testenv.LinkState{}) }}
}

// killBrowser kills the browser of a node, or one of its renderers.
func (c *campaign) killBrowser(n *node, renderer bool) *injected {
	var pids []int
	for _, browser := range browsersOf(n) {
		pids = append(pids, browser)
		if !renderer {
			continue
		}
		pids = slices.DeleteFunc(testenv.Group(browser), func(pid int) bool {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return err != nil || !bytes.Contains(line, []byte("--type=renderer"))
		})
	}
	if len(pids) == 0 {
		return &injected{what: n.id + " has none", heal: func() {}}
	}
	pid := pids[c.random.IntN(len(pids))]
	_ = syscall.Kill(pid, syscall.SIGKILL) // the process may have ended
	return &injected{what: fmt.Sprintf("%d of %s", pid, n.id), heal: func() {}}
}

// browsersOf returns the browsers of a node. These are the process group leaders that name the node's directory, except the daemon.
func browsersOf(n *node) (all []int) {
	for _, pid := range testenv.PIDs(n.state) {
		if group, err := syscall.Getpgid(pid); err == nil && group == pid && pid != n.cmd.Process.Pid {
			all = append(all, pid)
		}
	}
	return all
}
