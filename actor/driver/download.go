package driver

// DownloadState is how far a download is.
type DownloadState uint8

// The states of a download.
const (
	// Fetching: it is under way.
	Fetching DownloadState = iota
	// Fetched: the file is complete.
	Fetched
	// NotFetched: it was canceled, and nothing of it is kept.
	NotFetched
)

// String returns "in_progress", "completed" or "canceled".
func (s DownloadState) String() string {
	names := [...]string{"in_progress", "completed", "canceled"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}

// Download is a file that a page gives.
type Download struct {
	// GUID is the browser's name for it, URL at most 2,000 bytes, Filename what the page suggests, at most 1,000
	// characters; all are untrusted.
	GUID, URL, Filename string
	State               DownloadState
	// Received and Total are bytes; Total is 0 when it is not known.
	Received, Total int64
	// Path is where the complete file is.
	Path string
	// Reason says why it was canceled.
	Reason string
}
