package cluster

// Kill ends a node as the end of its process would: nothing is said to anybody.
func Kill(n *Node) {
	n.end()
	n.running.Wait()
	_, _ = n.member.Load().keeper.Release() // without telling the registry
	n.reg.Close()
}

// Sessions is closed when a session changes, as far as the node knows.
func (n *Node) Sessions() <-chan struct{} { return n.reg.Sessions.View().Changed() }

// Leases is closed when a node renews its lease, as far as the node knows.
func (n *Node) Leases() <-chan struct{} { return n.reg.Nodes.View().Changed() }

// Lose makes a node forget a session, as when its name could not be given up.
func Lose(n *Node, session string) { n.own.remove(session) }
