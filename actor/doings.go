package actor

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// maxNotes bounds what an action tells of the page's own doings.
const maxNotes = 4

// maxWindows is how many windows a page may open by one action or navigation. What more it opens is closed at once.
const maxWindows = 10

// windows counts the windows that a page opens. The pool's goroutine counts, the tab's tells.
type windows struct {
	opened, refused atomic.Int32
}

// admits reports whether the page may open one more window.
func (w *windows) admits() bool { return w.opened.Add(1) <= maxWindows }

// reset begins to count anew.
func (w *windows) reset() {
	w.opened.Store(0)
	w.refused.Store(0)
}

// notes are the page's own doings since an action began, in words, for its result.
type notes struct {
	said []string
	more int
}

// note adds to them.
func (t *Tab) note(text string) {
	if len(t.said) >= maxNotes {
		t.more++
		return
	}
	t.said = append(t.said, text)
}

// noted takes them; it begins with what separates them from the words before.
func (t *Tab) noted() string {
	if n := t.windows.refused.Swap(0); n > 0 {
		t.note(fmt.Sprintf("%d windows were closed at once: a page may open %d by one action, and there may be only so many tabs", n, maxWindows))
	}
	said := t.said
	if t.more > 0 {
		said = append(said, "and more")
	}
	t.notes = notes{}
	if len(said) == 0 {
		return ""
	}
	return "; " + strings.Join(said, "; ")
}
