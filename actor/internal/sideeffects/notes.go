package sideeffects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/internal/truncate"
)

// maxNotes limits the notes about the page's side effects in the result of an action.
const maxNotes = 4

// Notes describes what the page did by itself since an action started, in words, for the action's result. The zero value is empty.
type Notes struct {
	notes []string
	more  int
}

// Add adds a note, unless it is empty.
func (s *Notes) Add(note string) {
	switch {
	case note == "":
	case len(s.notes) >= maxNotes:
		s.more++
	default:
		s.notes = append(s.notes, note)
	}
}

// Replace removes the note old, if it exists, and adds another.
func (s *Notes) Replace(old, note string) {
	if note != "" {
		s.notes = slices.DeleteFunc(s.notes, func(n string) bool { return n == old })
	}
	s.Add(note)
}

// Reset removes all notes.
func (s *Notes) Reset() { *s = Notes{} }

// Take returns and removes all notes, with a note about the number of windows that were closed immediately. The text starts with a
// separator, so that it can be appended to other text.
func (s *Notes) Take(refused int) string {
	if refused > 0 {
		s.Add(fmt.Sprintf("%d new windows were closed: one action may open at most %d, and the number of tabs is limited (--max-tabs of domtap serve)", refused, MaxWindows))
	}
	notes := s.notes
	if s.more > 0 {
		notes = append(notes, "and more")
	}
	s.Reset()
	if len(notes) == 0 {
		return ""
	}
	return "; " + strings.Join(notes, "; ")
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

// Progress records the progress of a download. It returns a note about it, or an empty one, and the note about the start of the download,
// which the new note replaces.
func (s *Downloads) Progress(d driver.Download) (began, note string) {
	name := truncate.Runes(d.Filename, text.Short)
	began = fmt.Sprintf("the download of %q began", name)
	s.record(d)
	switch {
	case d.State == driver.Fetched && d.Path != "":
		return began, fmt.Sprintf("the download of %q is complete: %s", name, d.Path)
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
