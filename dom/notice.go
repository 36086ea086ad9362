package dom

// NoticeKind says what a person would notice.
type NoticeKind uint8

// The kinds of notices.
const (
	// NoticeAlert, NoticeStatus and NoticeLog are new texts of live regions.
	NoticeAlert NoticeKind = iota + 1
	NoticeStatus
	NoticeLog
	// NoticeDialog is a dialog, popover or modal that opened, or closed when Gone.
	NoticeDialog
	// NoticeInvalid is a field that became invalid.
	NoticeInvalid
	// NoticeHeading is a new heading, or the title of the document.
	NoticeHeading
	// NoticeToast is a text that appeared out of the flow, without a role.
	NoticeToast
	// NoticeBusy is work that is going on.
	NoticeBusy
	// NoticeText is a text in the flow of the page that changed or is new, while somebody acts.
	NoticeText
	// NoticeLook is an element that is drawn differently, by a class or style alone, since somebody acted.
	NoticeLook
)

// Notice is something that a person would notice on a page. All texts are the page's own.
type Notice struct {
	// ID tells the notices of one document apart. A notice with the ID of an earlier one replaces that.
	ID   uint64
	Kind NoticeKind
	// Text is what it says: of a dialog the name, of an invalid field the name and the message, of a look what differs.
	Text string
	// Detail is, of a dialog that opened, the first text in it beside its name, and of the last of several texts how many
	// more changed; of a look the refs of the others that look different in the same way.
	Detail string
	// Ref is the element; NoRef when it has none.
	Ref Ref
	// Gone says that it is no longer shown; of a dialog, that it was closed.
	Gone bool
}
