// Package actor runs the tabs. Each Tab is one goroutine that owns all mutable state of one page: the DOM of all its frames, its status,
// and the pending acknowledgements. Package tabpool opens, finds and closes tabs.
//
// # Guarantees
//
//   - Calls of one tab (Read, Navigate, Watch, and all calls through Do) pass through a bounded mailbox and run one at a time. A full
//     mailbox fails immediately with an *Error of kind Exhausted; there is no hidden queue.
//   - Info, Head, History, Done and Err never block. AnswerDialog and closing bypass the mailbox, so they work on a page that hangs.
//   - A call returns when its context ends, even if the page hangs. This ends the call, not the tab. A page that stops answering has
//     StatusUnresponsive until it answers again.
//   - The newest state of a tab is its Head, an immutable value. A watcher remembers the last revision it has seen, waits for Head.Next
//     and gets all changes since then from the new head. Watchers have no queues, so a slow watcher costs nothing.
//   - Revisions increase by one with every published change. A burst of changes that the page reports as one patch is one revision; a
//     patch that changes nothing is none.
//   - A ref is assigned once and never refers to another element. Refs increase for the life of the tab. A new renderer after a crash
//     starts a new epoch, and refs are still not reused.
//   - When a tab ends, all waiting callers wake, and Err returns the cause.
//
// # Obligations of callers
//
// Snapshots, elements and heads are shared and must not be modified. Call the release function of each Watch. The creator of a tab (New,
// Resume) runs and ends it through its Control; tabpool.Pool does this.
//
// # Implementation
//
// A Tab is the handle of a tab, and its loop is the goroutine. The loop passes each event to the component that owns the affected state
// (document, navigation, observation, health and sideeffects below actor/internal, and package restore), carries out what the component
// returns, and publishes. The components are plain values. Do passes the tab's Exclusive to a call; packages turn, capture and query
// consist of such calls.
//
// The package depends neither on the browser's protocol nor on the API. It uses the small interfaces in package driver. Package actortest
// has a fake of them.
package actor
