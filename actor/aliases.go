package actor

import (
	"github.com/domtap/domtap/actor/apierr"
	"github.com/domtap/domtap/actor/driver"
)

// The names of packages apierr and driver under those that they had in this package.
type (
	// ErrorKind is apierr.ErrorKind.
	ErrorKind = apierr.ErrorKind
	// Error is apierr.Error.
	Error = apierr.Error
	// ActionKind is driver.ActionKind.
	ActionKind = driver.ActionKind
	// Point is driver.Point.
	Point = driver.Point
	// Spot is driver.Spot.
	Spot = driver.Spot
	// Known is driver.Known.
	Known = driver.Known
	// Action is driver.Action.
	Action = driver.Action
	// File is driver.File.
	File = driver.File
	// Delivered is driver.Delivered.
	Delivered = driver.Delivered
	// Deed is driver.DoResult.
	Deed = driver.DoResult
	// Shot is driver.Shot.
	Shot = driver.Shot
	// Paper is driver.PrintOptions.
	Paper = driver.PrintOptions
	// Dialog is driver.Dialog.
	Dialog = driver.Dialog
	// Answer is driver.Answer.
	Answer = driver.Answer
	// DialogPolicy is driver.DialogPolicy.
	DialogPolicy = driver.DialogPolicy
	// DialogAnswer is driver.DialogAnswer.
	DialogAnswer = driver.DialogAnswer
	// Asker is driver.Dialogs.
	Asker = driver.Dialogs
	// DownloadState is driver.DownloadState.
	DownloadState = driver.DownloadState
	// Download is driver.Download.
	Download = driver.Download
	// Event is driver.Event.
	Event = driver.Event
	// Patched is driver.Patched.
	Patched = driver.Patched
	// Committed is driver.Committed.
	Committed = driver.Committed
	// Titled is driver.Titled.
	Titled = driver.Titled
	// Responded is driver.Responded.
	Responded = driver.Responded
	// Phase is driver.Phase.
	Phase = driver.Phase
	// Loaded is driver.Loaded.
	Loaded = driver.Loaded
	// FrameGone is driver.FrameGone.
	FrameGone = driver.FrameGone
	// Crashed is driver.Crashed.
	Crashed = driver.Crashed
	// Gone is driver.Gone.
	Gone = driver.Gone
	// DialogOpened is driver.DialogOpened.
	DialogOpened = driver.DialogOpened
	// DialogClosed is driver.DialogClosed.
	DialogClosed = driver.DialogClosed
	// Downloaded is driver.Downloaded.
	Downloaded = driver.Downloaded
	// Selected is driver.Selected.
	Selected = driver.Selected
	// Traffic is driver.Traffic.
	Traffic = driver.Traffic
	// ChooserAsked is driver.ChooserAsked.
	ChooserAsked = driver.ChooserAsked
	// Heed is driver.ObserveOptions.
	Heed = driver.ObserveOptions
	// Ack is driver.Ack.
	Ack = driver.Ack
	// ReadRequest is driver.ReadRequest.
	ReadRequest = driver.ReadRequest
	// Readout is driver.Readout.
	Readout = driver.Readout
	// Browser is driver.Browser.
	Browser = driver.Browser
	// PageOptions is driver.PageOptions.
	PageOptions = driver.PageOptions
	// Popup is driver.Popup.
	Popup = driver.Popup
	// Page is driver.Page.
	Page = driver.Page
	// Observer is driver.Observer.
	Observer = driver.Observer
	// Navigator is driver.Navigator.
	Navigator = driver.Navigator
	// Hands is driver.Input.
	Hands = driver.Input
	// Commit is driver.Commit.
	Commit = driver.Commit
	// Markup is driver.Markup.
	Markup = driver.Markup
	// Extraction is driver.Extraction.
	Extraction = driver.Extraction
	// Extract is driver.Extract.
	Extract = driver.Extract
	// Script is driver.Script.
	Script = driver.Script
	// Evaluated is driver.Evaluated.
	Evaluated = driver.Evaluated
	// Succession is driver.Replacement.
	Succession = driver.Replacement
	// Place is driver.ScrollPosition.
	Place = driver.ScrollPosition
	// PlaceBox is driver.ScrolledBox.
	PlaceBox = driver.ScrolledBox
	// Placer is driver.Scroller.
	Placer = driver.Scroller
	// Unfinished is driver.Unfinished.
	Unfinished = driver.Unfinished
)

// The constants of both packages.
const (
	NotFound              = apierr.NotFound
	Stale                 = apierr.Stale
	NotActionable         = apierr.NotActionable
	Navigation            = apierr.Navigation
	NoHistory             = apierr.NoHistory
	Aborted               = apierr.Aborted
	Exhausted             = apierr.Exhausted
	Refused               = apierr.Refused
	Lost                  = apierr.Lost
	Closed                = apierr.Closed
	DialogOpen            = apierr.DialogOpen
	NoDialog              = apierr.NoDialog
	IsDownload            = apierr.IsDownload
	Invalid               = apierr.Invalid
	Forbidden             = apierr.Forbidden
	Ambiguous             = apierr.Ambiguous
	NoMatch               = apierr.NoMatch
	Exists                = apierr.Exists
	Restoring             = apierr.Restoring
	NotDelivered          = apierr.NotDelivered
	Unresponsive          = apierr.Unresponsive
	Beside                = driver.Beside
	Click                 = driver.Click
	Type                  = driver.Type
	Fill                  = driver.Fill
	Press                 = driver.Press
	Hover                 = driver.Hover
	Scroll                = driver.Scroll
	Select                = driver.Select
	Check                 = driver.Check
	Uncheck               = driver.Uncheck
	Drag                  = driver.Drag
	Upload                = driver.Upload
	DeliveredUnset        = driver.DeliveredUnset
	DeliveredAll          = driver.DeliveredAll
	DeliveredPart         = driver.DeliveredPart
	DeliveredNone         = driver.DeliveredNone
	Unanswered            = driver.Unanswered
	Accepted              = driver.Accepted
	Dismissed             = driver.Dismissed
	ReportDialogs         = driver.ReportDialogs
	AcceptDialogs         = driver.AcceptDialogs
	DismissDialogs        = driver.DismissDialogs
	Fetching              = driver.Fetching
	Fetched               = driver.Fetched
	NotFetched            = driver.NotFetched
	PhaseCommit           = driver.PhaseCommit
	PhaseDOMContentLoaded = driver.PhaseDOMContentLoaded
	PhaseLoad             = driver.PhaseLoad
	PhaseNetworkIdle      = driver.PhaseNetworkIdle
	MaxPlaceBoxes         = driver.MaxScrolledBoxes
	MaxPlaceDepth         = driver.MaxScrolledDepth
	MaxPlace              = driver.MaxScroll
)

// Exceeded is apierr.Exceeded.
func Exceeded(limit string, most int, format string, args ...any) *Error {
	return apierr.Exceeded(limit, most, format, args...)
}

// Unknown is apierr.Unknown.
func Unknown(resource, format string, args ...any) *Error {
	return apierr.Unknown(resource, format, args...)
}

// Errorf is apierr.Errorf.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return apierr.Errorf(kind, format, args...)
}

// Leftover is driver.Leftover.
func Leftover(err error) <-chan struct{} { return driver.Leftover(err) }
