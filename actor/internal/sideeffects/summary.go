package sideeffects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/internal/truncate"
)

// maxEntries limits the entries of a Summary.
const maxEntries = 4

// Summary describes what the page did by itself since an action started, in words, for the action's result. The zero value is empty.
type Summary struct {
	entries []string
	more    int
}

// Add adds an entry, unless it is empty.
func (s *Summary) Add(entry string) {
	switch {
	case entry == "":
	case len(s.entries) >= maxEntries:
		s.more++
	default:
		s.entries = append(s.entries, entry)
	}
}

// Replace removes the entry old, if it exists, and adds another.
func (s *Summary) Replace(old, entry string) {
	if entry != "" {
		s.entries = slices.DeleteFunc(s.entries, func(e string) bool { return e == old })
	}
	s.Add(entry)
}

// Reset removes all entries.
func (s *Summary) Reset() { *s = Summary{} }

// Take returns and removes all entries, with one about the number of windows that were closed immediately. The text starts with a
// separator, so that it can be appended to other text.
func (s *Summary) Take(refused int) string {
	if refused > 0 {
		s.Add(fmt.Sprintf("%d new windows were closed: one action may open at most %d, and the number of tabs is limited (--max-tabs of domtap serve)", refused, MaxWindows))
	}
	entries := s.entries
	if s.more > 0 {
		entries = append(entries, "and more")
	}
	s.Reset()
	if len(entries) == 0 {
		return ""
	}
	return "; " + strings.Join(entries, "; ")
}

// Downloads tracks the downloads of a page. The zero value has none.
type Downloads struct {
	// latest is the download that was last reported as in progress.
	latest string
	// running holds the downloads in progress.
	running map[string]bool
}

// Running reports whether a download is in progress.
func (s *Downloads) Running() bool { return len(s.running) > 0 }

// Progress records the progress of a download. It returns an entry about it, or "", and the entry about the start of the download,
// which the new entry replaces.
func (s *Downloads) Progress(d driver.Download) (began, entry string) {
	name := truncate.Runes(d.Filename, text.Short)
	began = fmt.Sprintf("the download of %q began", name)
	s.record(d)
	switch {
	case d.State == driver.Fetched && d.Path != "":
		return began, fmt.Sprintf("the download of %q is complete: %s%s", name, d.Path, facts(d))
	case d.State == driver.Fetched:
		return began, fmt.Sprintf("the download of %q is complete", name)
	case d.State == driver.NotFetched:
		return began, fmt.Sprintf("the download of %q was canceled: %s", name, d.Reason)
	case d.GUID == s.latest:
		return began, ""
	}
	s.latest = d.GUID
	return "", began
}

// facts returns the type and the size of a complete file in parentheses.
func facts(d driver.Download) string {
	if d.Type == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, %d bytes)", d.Type, d.Total)
}

// record updates the set of running downloads.
func (s *Downloads) record(d driver.Download) {
	if d.State != driver.Fetching {
		delete(s.running, d.GUID)
		return
	}
	if s.running == nil {
		s.running = map[string]bool{}
	}
	s.running[d.GUID] = true
}
