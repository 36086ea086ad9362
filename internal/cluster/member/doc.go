// Package member makes a daemon's sessions and tabs those of a node of a cluster: it takes the names of sessions in the whole
// cluster, registers tabs, saves what another node needs to go on, and restores, stops and ends sessions as the cluster says.
//
// What the package guarantees:
//
//   - A session that moves has what it had: settings, cookies, storage, and each tab at its URL and scroll position, under its id, with
//     refs that were never given before. Calls that are under way end before; later ones find the session on its next node.
//   - A session with a tab that is to be restored (OpenTab.restore) is taken over when its node is gone, with these tabs. Its cookies
//     and storage are those of at most SaveEvery before (a second or two, after a rest), and the time that saving takes. What a script
//     stores while no call is made, nothing is sent or received and no page changes, is saved within a minute.
//   - A tab can be found by all nodes when the call that made it returns, unless the registry does not answer.
//   - No call begins, and no turn of a tab, on a session whose lease has ended.
//   - Nothing runs after Close.
//
// Callers make a Member, give it to the pool of tabs and the sessions, Use these, Join the cluster with it as the Host, Start it with the
// Node, and owe Close before the pool closes.
package member
