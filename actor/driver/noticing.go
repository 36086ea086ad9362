package driver

import "strings"

// Noticing is which documents report what a person would notice.
type Noticing uint8

// The documents that report. NoticeNew is for navigations that replace the documents that are there, which would compare all
// of themselves in vain.
const (
	NoticeNothing Noticing = iota
	NoticeNew              // those that come from now on
	NoticeAll              // those that are there, too
)

// NoticingAt returns which documents report while a page navigates to a URL. Only a URL with a fragment may lead to a place in
// the document that is there (HTML, "navigate").
func NoticingAt(url string) Noticing {
	if strings.Contains(url, "#") {
		return NoticeAll
	}
	return NoticeNew
}
