package driver

// DownloadState is the state of a download.
type DownloadState uint8

// The states of a download.
const (
	// Fetching means that the download is in progress.
	Fetching DownloadState = iota
	// Fetched means that the file is complete.
	Fetched
	// NotFetched means that the download was canceled. Nothing of the file is kept.
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

// Download is a file that a page offers for download.
type Download struct {
	// GUID is the browser's ID of the download. URL has at most 2,000 bytes. Filename is the name that the page suggests, at most 1,000
	// characters. All are untrusted.
	GUID, URL, Filename string
	State               DownloadState
	// Received and Total are in bytes. Total is 0 if unknown.
	Received, Total int64
	// Type is the media type that the content of the complete file has, such as "application/pdf". It is empty if unknown.
	Type string
	// Path is the path of the complete file.
	Path string
	// Reason is the reason why the download was canceled.
	Reason string
}
