// Package peers lets any node of a cluster take any call: a call about a tab or a session of another node is passed on
// to that node.
//
// A Proxy is what the calls of clients pass on the node that they reach. It finds out from the request which tab or
// session a call is about, and asks the Directory which node has it. A Server takes the calls that other nodes pass on,
// at an address of its own, and serves them as if their clients were connected to it.
//
//	client → server (credentials, limits, check) → Proxy ─┬→ handler
//	                                                       └→ Server of another node (limits, check) → handler
//
// What it guarantees:
//
//   - Results, error codes, messages and details are those of the node that serves the call, byte for byte. Answers
//     are passed on without being decoded.
//   - Deadlines and cancellations of clients end the work on the node that does it.
//   - A call runs as the client that the first node has authenticated. Only nodes with the cluster's token, and off
//     loopback with a certificate of its authority, can say who calls. What clients send in the metadata is never
//     taken for it.
//   - A call is passed on at most twice, and only by the node that its client reached: when the first node does not
//     have the tab (any more), cannot be reached, or dies during a call that only reads, the Directory is asked for its
//     latest state once. A call that acts and may have reached a node is not repeated.
//   - A node that does not answer is found within 15 seconds, also when it hangs, and its calls end with UNAVAILABLE.
//
// Limits of calls and streams hold on both nodes: on the first, and on the one that serves. Sizes of messages should
// be limited to the same on all nodes. Calls are counted by the node that serves them, and logged by both.
//
// Callers make a Proxy, give it to server.Config.Peers, make a Server and give it to server.Server.Beside. After
// Serve has returned, they close the Proxy. None of this exists in a daemon without a cluster.
package peers
