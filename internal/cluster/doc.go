// Package cluster makes one domtap of many: it decides which node has a session, lets other nodes find it, and gives the sessions of a
// node that died to others.
//
// What the package guarantees:
//
//   - A session has one owner. The owner's fencing token, which is in the registry, grows with each owner; and with the session option
//     Restore, an owner whose lease has ended stops before another begins.
//   - The sessions with Restore of a node that died are on other nodes within 25 seconds (19 until that is noticed, and what Host.Restore
//     takes), while most servers of NATS run. All others wait for their node, and go on while NATS is away.
//   - What is known of sessions and tabs is a moment old. Who needs the latest asks the registry's leader: see SessionOwner.
//   - While a session moves or is restored, lookups wait for its next owner, so that callers see a delay and no error.
//   - Nothing runs after Close. A daemon that makes no Node runs nothing of a cluster.
//
// What callers owe: Close; Check before each action on a session and before each message about it; Acquire and Release around the life
// of each session; and a Host.
package cluster
