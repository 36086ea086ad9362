// Package sideeffects tracks what a page does by itself while callers use it: dialogs, tabs that it opens, downloads, and the summary of
// these in the results of actions.
//
// Its types are plain values of the tab's goroutine, except for PopupBudget and Answered, which are safe for concurrent use. They guarantee
// that dialog IDs keep increasing when the tab gets another page, and that a page cannot flood its readers: per second at most 32
// immediately answered dialogs are reported, and per action at most 4 entries of the summary and 10 windows.
package sideeffects
