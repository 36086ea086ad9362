// Package member connects a daemon's sessions and tabs to a cluster node. It reserves session names in the whole cluster, registers tabs,
// saves the state that another node needs to take a session over, and restores, stops and ends sessions for the cluster.
//
// What the package guarantees:
//
//   - A session that moves keeps its settings, cookies and storage. Each of its tabs keeps its id, URL and scroll position, and gets refs
//     that were never used before. Calls in progress end before the move. Later calls find the session on its next node.
//   - If a node is gone, other nodes take over its sessions that have tabs to be restored (OpenTab.restore), with these tabs. The cookies
//     and storage are at most SaveEvery old, or a second or two if the session was idle before, plus the time that a save takes. Data that a
//     script stores while there is no call, no network traffic and no change to a page is saved within a minute.
//   - When the call that created a tab returns, all nodes can find the tab, unless the registry does not answer.
//   - No call and no turn of a tab starts on a session whose lease has ended.
//   - Nothing runs after Close.
//
// Callers create a Member, pass it to the tab pool and the sessions, and pass both to Use. They join the cluster with the Member as the
// Host and call Start with the Node. They must call Close before the pool closes.
package member
