package sideeffects

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domtap/domtap/actor/driver"
	"github.com/domtap/domtap/actor/internal/text"
	"github.com/domtap/domtap/internal/truncate"
)

// maxNotes bounds how much of what the page does by itself the result of an action says.
const maxNotes = 4

// Notes are what the page did by itself since an action began, in words, for the action's result. The zero value has none.
type Notes struct {
	notes []string
	more  int
}

// Add adds a note; an empty one is none.
func (s *Notes) Add(note string) {
	switch {
	case note == "":
	case len(s.notes) >= maxNotes:
		s.more++
	default:
		s.notes = append(s.notes, note)
	}
}

// Replace drops a note, if there is such, and adds another.
func (s *Notes) Replace(old, note string) {
	if note != "" {
		s.notes = slices.DeleteFunc(s.notes, func(n string) bool { return n == old })
	}
	s.Add(note)
}

// Reset drops all.
func (s *Notes) Reset() { *s = Notes{} }

// Take takes all, with that of so many windows that were closed at once. It begins with what separates the notes from the
// words before.
func (s *Notes) Take(refused int) string {
	if refused > 0 {
		s.Add(fmt.Sprintf("%d windows were closed at once: a page may open %d by one action, and there may be only so many tabs", refused, MaxWindows))
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

// Downloads are the downloads of a page. The zero value has none.
type Downloads struct {
	// latest is the one that was reported last as under way.
	latest string
	// running are those under way.
	running map[string]bool
}

// Running reports whether a download is under way.
func (s *Downloads) Running() bool { return len(s.running) > 0 }

// Progress takes how a download goes, and returns a note of that, or nothing, with the note of its beginning, which the other replaces.
func (s *Downloads) Progress(d driver.Download) (began, note string) {
	name := truncate.Runes(d.Filename, text.Short)
	began = fmt.Sprintf("the download of %q began", name)
	s.note(d)
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

// note keeps account of what is under way.
func (s *Downloads) note(d driver.Download) {
	if d.State != driver.Fetching {
		delete(s.running, d.GUID)
		return
	}
	if s.running == nil {
		s.running = map[string]bool{}
	}
	s.running[d.GUID] = true
}
