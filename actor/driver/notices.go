package driver

import "strings"

// NoticeMode selects the documents that report what a person would notice.
type NoticeMode uint8

// The documents that report. NoticesNew is for navigations that replace the current documents, which would otherwise compare all their
// content in vain.
const (
	NoticesOff NoticeMode = iota
	NoticesNew            // only documents that load from now on
	NoticesAll            // the current documents, too
)

// NoticeModeFor returns which documents report while a page navigates to a URL. Only a URL with a fragment may lead to a place in the
// current document (HTML, "navigate").
func NoticeModeFor(url string) NoticeMode {
	if strings.Contains(url, "#") {
		return NoticesAll
	}
	return NoticesNew
}
