// Package actor owns the tabs. Each Tab is one goroutine that holds everything mutable about one page:
// the DOM of all its frames, its status, what is still to be acknowledged. Package tabpool opens, finds
// and closes tabs.
//
// # What it guarantees
//
//   - Calls of one tab (Read, Navigate, Watch, and whatever goes through Do) pass through a bounded mailbox and run
//     one at a time. A full mailbox is an *Error of kind Exhausted at once, never a hidden queue.
//   - Info, Head, History, Done and Err never block. AnswerDialog and closing do not pass through the
//     mailbox, so they work on a page that hangs.
//   - A call returns when its context ends, whatever the page does. That ends the call's work, not the
//     tab. A page that stops answering is reported as StatusUnresponsive until it shows life.
//   - The newest state of a tab is its Head, an immutable value. A watcher keeps the revision that it has
//     seen, waits for Head.Next and takes what lies between from the new head: there is no queue per
//     watcher, and a slow one costs nobody anything.
//   - Revisions grow by one with every published change. A burst that the page reports as one patch is
//     one revision; a patch that changes nothing is none.
//   - A ref is given once and never means another element. Refs grow for the life of the tab; a new
//     renderer after a crash gets a new epoch, and still no ref is used again.
//   - When a tab ends, everybody who waits for it wakes, and Err says why.
//
// # What callers owe
//
// Snapshots, elements and heads are shared: read them, never write to them. Call the release function
// of each Watch. Who makes tabs (New, Resume) runs and ends them by their Control; tabpool.Pool does so.
//
// # How it is made
//
// A Tab is what others hold of a tab, and its loop is the goroutine. The loop hands each event to the component that owns what it
// changes (document, navigation, observation, health and sideeffects below actor/internal, and package restore), does what the component
// answers, and publishes. The components are plain values. Do gives a call the tab's Exclusive; packages turn, capture and query are
// made of such calls.
//
// The package knows nothing of the browser's protocol or of the API: it asks for the small interfaces
// in package driver. Package actortest has a fake of them.
package actor
