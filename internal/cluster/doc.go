// Package cluster joins several domtap daemons into one. It assigns each session to a node, lets other nodes find it, and reassigns the
// sessions of a node that died.
//
// What the package guarantees:
//
//   - A session has one owner. The registry holds the owner's fencing token, which increases with each owner. With the session option
//     Restore, an owner whose lease has expired stops before the next one starts.
//   - If a node dies, its sessions with Restore run on other nodes within 25 seconds: up to 19 to detect the failure, plus the time of
//     Host.Restore. This requires a majority of the NATS servers. Sessions without Restore wait for their node, and keep working while NATS
//     is unavailable.
//   - A node's view of sessions and tabs may be slightly stale. SessionOwner can read the latest state from the registry's leader.
//   - While a session moves or is restored, lookups wait for its next owner, so callers see a delay instead of an error.
//   - Nothing runs after Close. A daemon that creates no Node runs no cluster code.
//
// Callers provide a Host, call Acquire when a session starts and Release when it ends, call Check before each action on a session and
// before each message about it, and call Close.
package cluster
