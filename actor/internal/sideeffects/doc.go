// Package sideeffects holds what a page does by itself while others use it: dialogs, tabs that it opens, downloads, and the notes
// about all of that in the results of actions.
//
// Its types are plain values of the tab's goroutine, but for PopupBudget, which is safe for concurrent use. They guarantee that
// ids of dialogs grow also when the tab gets another page, and that a page cannot flood its readers: 32 dialogs a second that were
// answered at once, 4 notes and 10 windows an action.
package sideeffects
