package textcache

import (
	"testing"

	"github.com/domtap/domtap/internal/content/markdown"
)

// FuzzCursor parses any string. It must not panic, and formatting an accepted cursor returns the same string.
func FuzzCursor(f *testing.F) {
	for _, c := range []string{"r000000001.2", "r999999999.0.5", "r1.2", "r000000001.2.0", "r", "", "r000000001.99999999999999999999", "r000000001.-1", "c000000001"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		id, at, ok := parseCursor(cursor)
		if !ok {
			return
		}
		if formatCursor(id, at) != cursor || at.Block < 0 || at.Offset < 0 || !IsCursor(cursor) {
			t.Errorf("%q is read as %d %v", cursor, id, at)
		}
	})
}

func TestCursorsAreReadAsTheyAreWritten(t *testing.T) {
	for _, want := range []markdown.Position{{}, {Block: 7}, {Block: 0, Offset: 3}, {Block: 1_000_000, Offset: 10_000_000}} {
		id, at, ok := parseCursor(formatCursor(42, want))
		if !ok || id != 42 || at != want {
			t.Errorf("%v is read as %d %v %v", want, id, at, ok)
		}
	}
}
