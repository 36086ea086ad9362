package dom

// NoticeKind identifies the kind of a Notice.
type NoticeKind uint8

// The kinds of notices.
const (
	// NoticeAlert, NoticeStatus and NoticeLog are new texts of live regions.
	NoticeAlert NoticeKind = iota + 1
	NoticeStatus
	NoticeLog
	// NoticeDialog is a dialog, popover or modal that opened, or closed if Gone.
	NoticeDialog
	// NoticeInvalid is a field that became invalid.
	NoticeInvalid
	// NoticeHeading is a new heading, or the title of the document.
	NoticeHeading
	// NoticeToast is a text without a role that appeared outside of the flow.
	NoticeToast
	// NoticeBusy is work in progress.
	NoticeBusy
	// NoticeText is a new or changed text in the flow of the page, reported during actions.
	NoticeText
	// NoticeAppearance is an element whose appearance has changed since an action, without a change of its text or states.
	NoticeAppearance
)

// Notice is something that a person would notice on a page. All texts come from the page.
type Notice struct {
	// ID distinguishes the notices of one document. A notice with the ID of an earlier one replaces that one.
	ID   uint64
	Kind NoticeKind
	// Text is the text of the notice: for a dialog its name, for an invalid field its name and message, for a look the difference.
	Text string
	// Detail depends on the kind. For a dialog that opened, it is the first text in it other than its name. For the last of several texts,
	// it is the number of further changed texts. For a look, it is the refs of the other elements with the same difference.
	Detail string
	// Ref is the element's ref, or NoRef if it has none.
	Ref Ref
	// Gone reports that it is no longer shown, or that the dialog was closed.
	Gone bool
	// Minor reports a look that matters only if nothing else has changed, such as a part of a widget that moved.
	Minor bool
}
