// Package peers lets any node of a cluster accept any call. A call about a tab or session of another node is passed on to that node.
//
// A Proxy intercepts the calls of clients on the node that they reach. It reads from the request which tab or session a call is about, and
// looks up its node in the Directory. A Server accepts the calls that other nodes pass on, at an address of its own, and serves them as if
// their clients were connected to it.
//
//	client → server (credentials, limits, check) → Proxy ─┬→ handler
//	                                                       └→ Server of another node (limits, check) → handler
//
// What the package guarantees:
//
//   - Clients receive the results, error codes, messages and details of the serving node, byte for byte. Answers are passed on without
//     being decoded.
//   - Deadlines and cancellations of clients also apply on the serving node.
//   - A call runs as the client that the first node has authenticated. Only a node with the cluster's token can name the caller. Off
//     loopback, it also needs a certificate of the cluster's authority. Metadata from clients never identifies the caller.
//   - A call is passed on at most twice, and only by the node that its client reached. It is passed on again, after a lookup of the
//     Directory's latest state, if the first node does not have the tab, cannot be reached, or dies during a read-only call. A call that acts
//     and may have reached a node is not repeated.
//   - A node that does not answer, or hangs, is detected within 15 seconds. Its calls end with UNAVAILABLE.
//
// Limits on calls and streams apply on both the first and the serving node. All nodes should have the same limits on message sizes. The
// serving node counts a call, and both nodes log it.
//
// Callers create a Proxy for server.Config.Peers and a Server for server.Server.Beside. After Serve has returned, they close the Proxy. A
// daemon without a cluster has neither.
package peers
