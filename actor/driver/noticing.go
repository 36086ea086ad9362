package driver

import "strings"

// Noticing selects the documents that report what a person would notice.
type Noticing uint8

// The documents that report. NoticeNew is for navigations that replace the current documents, which would otherwise compare all their
// content in vain.
const (
	NoticeNothing Noticing = iota
	NoticeNew              // only documents that load from now on
	NoticeAll              // the current documents, too
)

// NoticingAt returns which documents report while a page navigates to a URL. Only a URL with a fragment may lead to a place in the current
// document (HTML, "navigate").
func NoticingAt(url string) Noticing {
	if strings.Contains(url, "#") {
		return NoticeAll
	}
	return NoticeNew
}
