// Package turn executes turns: it performs a list of steps on a tab, in one go, and says what they did.
//
// Each step is resolved to an element, checked against what the caller knew of it (the baseline), dispatched to the
// page, and followed until the page has settled; the turn then has a verdict. Nothing else happens to the tab meanwhile: the
// package acts through actor.Exclusive and keeps no state between turns.
//
// Callers owe the functions in ReadStep, ScreenshotStep, WaitStep and Field that they do not wait: they run on the tab's
// goroutine.
package turn
