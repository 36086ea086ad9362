// Package turn executes turns: it performs a list of steps on a tab as one call and reports their effects.
//
// Each step is resolved to an element, checked against what the caller knew of it (the baseline), dispatched to the page, and followed
// until the page has settled. At the end the turn gets a verdict. No other call runs on the tab during a turn: the package acts through
// actor.Exclusive and keeps no state between turns.
//
// The functions in ReadStep, ScreenshotStep, WaitStep and Field run on the tab's goroutine and must not block.
package turn
